"""What sites have shown, kept for others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.propose.edits.edit_learning import EditParams, learn_edits
from scrapy_dust.propose.edits.edit_weighing import Beliefs, Record
from scrapy_dust.propose.edits.pooling import Pool, Tally, kinds_of
from scrapy_dust.rule_book import priors
from scrapy_dust.rules.parameters import DropParameter

LAW = {"parameter": Tally(laws=1, held=9), "parameter sid": Tally(laws=1, held=9)}
ACCIDENT = {
    "parameter": Tally(accidents=1, shares=0.1, held=1, failed=9),
    "parameter sid": Tally(accidents=1, shares=0.1, held=1, failed=9),
}
SID = [kinds_of(DropParameter("sid"))]


def risk(**sites):
    return Beliefs(pool=Pool(sites)).risk(SID, Record(2))


def test_what_comes_with_the_package_says_where_it_is_from():
    sites = json.loads(Path(priors.__file__).with_name(priors.FILE).read_bytes())["sites"]
    assert priors.priors_of_package().sites.keys() == sites.keys()
    assert len(sites) > 5
    assert all(site["from"]["lists"] and site["from"]["urls"] for site in sites.values())


def test_what_a_site_has_shown_is_kept_in_the_place_of_what_it_had_before(tmp_path):
    priors.save_priors(tmp_path, {"a.example": ACCIDENT})
    priors.save_priors(tmp_path, {"b.example": LAW})
    priors.save_priors(tmp_path, {"a.example": LAW})
    assert priors.priors_of_project(tmp_path) == Pool({"b.example": LAW, "a.example": LAW})
    assert priors.all_priors(tmp_path).sites.keys() == priors.priors_of_package().sites.keys() | {
        "a.example",
        "b.example",
    }


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b'{"format": 2, "sites": {}}', b"[1]"])
def test_a_damaged_file_is_begun_anew(tmp_path, content):
    (tmp_path / priors.FILE).write_bytes(content)
    assert priors.priors_of_project(tmp_path) == Pool({})
    priors.save_priors(tmp_path, {"a.example": LAW})
    assert priors.priors_of_project(tmp_path) == Pool({"a.example": LAW})


def test_a_name_that_was_a_law_on_other_sites_is_believed_sooner_and_one_that_was_none_later():
    assert risk(a=LAW, b=LAW, c=LAW) < risk() < risk(a=ACCIDENT, b=ACCIDENT, c=ACCIDENT)


def test_more_sites_that_agree_say_more():
    laws = [risk(**{f"s{n}": LAW for n in range(count)}) for count in range(6)]
    assert laws == sorted(laws, reverse=True)
    assert laws[0] > laws[-1]


def test_what_a_site_has_shown_is_no_prior_belief_about_itself():
    pool = Pool({"a.example": LAW, "b.example": ACCIDENT})
    assert pool.without("a.example") == Pool({"b.example": ACCIDENT})


SORTED = "parameters → sorted with their values"
ORDER = {"order": Tally(laws=1, held=40, saved=0.02), SORTED: Tally(laws=1, held=40, saved=0.02)}
SOME = {f"http://s.example/i?a={n}&b=2": n for n in range(300)}


def key_of(log, **sites):
    return learn_edits(log, EditParams(), pool=Pool(sites)).function.key


def test_what_every_site_does_is_believed_where_nothing_is_known_but_only_if_enough_sites_do_it():
    pair = "http://s.example/i?a=x&b=y", "http://s.example/i?b=y&a=x"
    for sites, same in ((2, False), (4, True)):
        key = key_of(SOME, **{f"s{n}": ORDER for n in range(sites)})
        assert (key(pair[0]) == key(pair[1])) is same


def test_what_every_site_does_does_not_undo_what_this_one_has_shown():
    """Guards are about URLs as the site writes them: here, about a path with a slash at its end."""
    said = "last slash → (left out)"
    slash = {"slash": Tally(laws=1, held=40, saved=0.001), said: Tally(laws=1, held=40, saved=0.001)}
    log = {f"http://s.example/login/?next={n}": "login" for n in range(99)}
    log |= {f"http://s.example/p/?next={n}": n for n in range(99)}
    key = key_of(log, **{f"s{n}": slash for n in range(9)})
    assert key("http://s.example/login/?next=a") == key("http://s.example/login/?next=b")


def test_what_every_site_does_is_not_believed_against_what_this_one_shows():
    against = {"http://s.example/i?a=x&b=y": "x", "http://s.example/i?b=y&a=x": "y"}
    key = key_of({**SOME, **against}, **{f"s{n}": ORDER for n in range(9)})
    assert len(set(map(key, against))) == 2


@given(names=st.lists(st.sampled_from(["sid", "page", "sort"]), max_size=3))
def test_no_name_is_believed_without_evidence_of_the_site(names):
    sites = {
        f"s{n}": {"parameter": Tally(laws=9, held=99), f"parameter {name}": Tally(laws=9, held=99)}
        for n in range(9)
        for name in names
    }
    log = {f"http://s.example/i?{name}=1": name for name in names}
    assert not learn_edits(log, EditParams(), pool=Pool(sites)).learned
