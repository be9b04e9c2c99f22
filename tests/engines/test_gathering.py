from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.engines.gathering import Shelved, gather
from scrapy_dust.engines.sampling import instances_needed, is_in
from scrapy_dust.visits.pages import Visit, merge_visits

visits = st.lists(
    st.builds(
        Visit,
        url=st.builds("http://{}.test/{}".format, st.sampled_from("abcde"), st.integers(0, 9)),
        status=st.sampled_from((200, 404, None)),
        size=st.none() | st.just((3, 4)),
        sketch=st.none() | st.just((1, 2, 3, 4)),
        text_digest=st.sampled_from((None, "x", "y")),
        redirect_to=st.none(),
        title=st.none() | st.text(max_size=3),
    ),
    max_size=30,
)


@given(visits, st.integers(0, 60_000))
def test_what_waits_on_disk_is_what_was_in_memory(log, most):
    in_memory = gather(iter(log), None)
    on_disk = gather(iter(log), most)
    try:
        assert set(on_disk) == set(in_memory)
        for site in on_disk:
            if not isinstance(on_disk, Shelved) or on_disk.share(site) == 1:
                assert merge_visits(on_disk[site]) == merge_visits(in_memory[site])
    finally:
        if isinstance(on_disk, Shelved):
            on_disk.close()


def of_one_site(count: int) -> list[Visit]:
    """Five URLs of each content, one of which says something else the second time."""
    shown = [Visit(f"http://a.test/{n % 7}/{n}", 200, text_digest=f"content {n // 5}") for n in range(count)]
    return shown + [replace(visit, text_digest=f"else {visit.url}") for visit in shown[::5]]


def test_of_a_site_that_takes_too_much_a_content_stays_together_and_so_do_the_visits_of_a_url():
    log = of_one_site(2000)
    shelved = gather(iter(log), 1_000_000)
    assert isinstance(shelved, Shelved)
    given_ = shelved["a.test"]
    shelved.close()
    share = shelved.share("a.test")
    assert 0.1 < share < 0.3
    assert 0.5 * share < len(given_) / len(log) < 2 * share
    urls = {visit.url for visit in given_}
    assert [visit for visit in log if visit.url in urls] == list(given_)
    by_content: dict[str | None, set[str]] = {}
    for visit in log[:2000]:
        by_content.setdefault(visit.text_digest, set()).add(visit.url)
    assert all(of_one <= urls or len(of_one & urls) < 2 for of_one in by_content.values())


def test_without_contents_the_urls_of_a_folder_stay_together_whatever_their_host():
    here, there = Visit("http://a.test/x/y/1?b"), Visit("http://www.a.test/x/y/index.html")
    assert all(is_in(here, share / 20) == is_in(there, share / 20) for share in range(21))


def test_nothing_stays_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    shelved = gather(iter(of_one_site(100)), 1000)
    assert isinstance(shelved, Shelved)
    assert list(tmp_path.iterdir())
    shelved.close()
    assert not list(Path(tmp_path).iterdir())


@pytest.mark.parametrize(("share", "needed"), [(1.0, 3), (0.5, 11), (0.1, 61)])
def test_how_often_a_rule_must_show_itself_to_be_found_in_a_part(share, needed):
    assert instances_needed(share, 3) == needed
