from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dust.judge.answers import Fetched
from scrapy_dust.page.compare import Answer
from scrapy_dust.page.sketch import describe
from scrapy_dust.trials.journal import KEPT_DAYS, ProbeJournal

DAY = 86_400.0

texts = st.text(max_size=20)


def shown(url: str, canonical: str | None, text: str) -> Answer:
    page = describe(
        f"<p>{text}<a href=/x>y</a>".encode("utf-8", "replace"), "text/html", "utf-8", "http://a.example/"
    )
    assert page.units is not None
    return Answer(url, page.units, page.names, canonical, links=page.links)


answers = st.builds(
    Fetched,
    url=texts,
    final_url=texts,
    status=st.none() | st.integers(100, 599),
    text_digest=texts,
    shown=st.none() | st.builds(shown, texts, st.none() | texts, st.text(min_size=1, max_size=20)),
    sketch=st.none() | st.tuples(*[st.integers(0, 2**63 - 1)] * 4),
    marks=st.frozensets(st.sampled_from(["password", "captcha"])),
    at=st.integers(0, 10**6).map(float),
)


def page(url: str, digest: str = "", at: float = 0.0) -> Fetched:
    return Fetched(url, url, 200, text_digest=digest, at=at)


def same(one: Fetched, other: Fetched) -> bool:
    if one != other or one.shown is None or other.shown is None:
        return one == other
    units = [(shown.units.places.tolist(), shown.units.values.tolist()) for shown in (one.shown, other.shown)]
    return units[0] == units[1]


@settings(max_examples=25)
@given(st.lists(st.tuples(answers, st.sampled_from([None, "splash"])), max_size=5))
def test_what_is_kept_comes_back_once_and_in_its_order(tmp_path_factory, kept):
    path = tmp_path_factory.mktemp("journal") / "state" / "probes.jsonl"
    with ProbeJournal(path) as journal:
        for answer, renderer in kept:
            journal.add(answer, renderer)
    later = ProbeJournal(path)
    for answer, renderer in kept:
        again = later.take(answer.url, renderer)
        assert again is not None
        assert same(again, answer)
    assert all(later.take(answer.url, renderer) is None for answer, renderer in kept)


def test_a_control_is_no_older_than_what_it_controls(tmp_path: Path):
    with ProbeJournal(tmp_path / "probes.jsonl") as journal:
        for at in (1.0, 5.0):
            journal.add(page("u", f"at {at}", at))
    later = ProbeJournal(tmp_path / "probes.jsonl")
    again = later.take("u", since=3.0)
    assert again is not None
    assert again.at == 5.0


@pytest.mark.parametrize(
    "damage", [b'{"half', b"[1, 2]\n", b"\xff\n", b'[[1, 0], "u"]\n', b"[" * 100_000 + b"\n"]
)
def test_damage_costs_the_line_and_nothing_else(tmp_path: Path, damage: bytes):
    path = tmp_path / "probes.jsonl"
    with ProbeJournal(path) as journal:
        journal.add(page("before"))
    with path.open("ab") as file:
        file.write(damage)
    with ProbeJournal(path) as journal:
        journal.add(page("after"))
    later = ProbeJournal(path)
    assert later.take("before") is not None
    assert later.take("after") is not None


def test_answers_of_last_week_are_forgotten(tmp_path: Path):
    path, now = tmp_path / "probes.jsonl", 100 * DAY
    with ProbeJournal(path, now=now) as journal:
        for number in range(5):
            journal.add(page(f"old{number}", at=now - (KEPT_DAYS + 1) * DAY))
        journal.add(page("new", at=now - DAY))
    with ProbeJournal(path, now=now) as journal:
        assert journal.take("old0") is None
        journal.add(page("newer", at=now))
    assert len(path.read_bytes().splitlines()) == 2
    later = ProbeJournal(path, now=now)
    assert later.take("new") is not None
    assert later.take("newer") is not None


def test_only_one_run_writes(tmp_path: Path):
    path = tmp_path / "probes.jsonl"
    with ProbeJournal(path) as first, ProbeJournal(path) as second:
        first.add(page("u"))
        second.add(page("v"))
        first.add(page("w"))
    assert ProbeJournal(path).take("v") is None
    assert ProbeJournal(path).take("w") is not None


def test_a_dry_run_reads_and_does_not_write(tmp_path: Path):
    path = tmp_path / "probes.jsonl"
    with ProbeJournal(path) as journal:
        journal.add(page("u"))
    with ProbeJournal(path, writing=False) as dry:
        assert dry.take("u") is not None
        dry.add(page("v"))
    assert ProbeJournal(path).take("v") is None


def test_where_nothing_can_be_written_the_run_goes_on(tmp_path: Path):
    (tmp_path / "file").write_text("no folder")
    with ProbeJournal(tmp_path / "file" / "probes.jsonl") as journal:
        journal.add(page("u"))
        journal.add(page("v"))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_only_its_owner_may_read_it(tmp_path: Path):
    with ProbeJournal(tmp_path / "probes.jsonl") as journal:
        journal.add(page("u"))
    assert (tmp_path / "probes.jsonl").stat().st_mode & 0o077 == 0
