"""Edits in a crawl: what is promised of rules is promised of these, whatever their keys look like."""

from __future__ import annotations

from itertools import count

import pytest
from scrapy import Request
from scrapy.utils.test import get_crawler

from scrapy_dust.rule_book import Entry, Evidence, RuleBook, Status, rule_id
from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.parameters import AnyValue, DropParameter
from scrapy_dust.rules.path_rewriting import Rewrite
from scrapy_dust.rules.paths import AnySegment
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.spellings import DropFragment
from tests.crawl.crawling import QUIET, crawl
from tests.crawl.site import error, page, serving

PRINTED = Rule((Rewrite(("/print.pl?sid=", 0), ("/newsvac/", 0, ".shtml"), ("numbers",)),))
GUARDED = Rule((DropParameter("sid"),), (Condition("path", "/p"), Condition("?all", holds=False)))
MARKED = Rule((AnyValue("sid"),))  #: its keys are no URLs of the site


def text(subject):
    return page(words=" ".join(f"{subject} {number}" for number in range(40)))


def test_one_of_a_class_is_fetched_and_what_the_guard_excludes_is_let_be(with_rules):
    with serving(text) as site:
        urls = [site.url(f"/p?id={n}&sid={sid}") for sid in "abc" for n in range(3)]
        others = [site.url(f"/p?id=1&all=1&sid={sid}") for sid in "abc"]
        result = crawl([*urls, *others], with_rules(site, GUARDED))
    # What has a parameter more comes after the others, in an order that is drawn.
    assert result.got[:3] == urls[:3]
    assert sorted(result.got[3:]) == others
    assert result.stats["dust/filtered"] == 6


def test_when_the_one_page_fails_its_other_place_is_asked(with_rules):
    def web(path):
        return error(404) if path.startswith("/print") else text(path)

    with serving(web) as site:
        urls = [site.url("/print.pl?sid=06/06/27/2"), site.url("/newsvac/06/06/27/2.shtml")]
        result = crawl(urls, with_rules(site, PRINTED))
    assert result.got == urls[1:]
    assert site.asked == ["/print.pl?sid=06/06/27/2", "/newsvac/06/06/27/2.shtml"]


@pytest.mark.parametrize("edit", [GUARDED, MARKED], ids=str)
def test_an_edit_made_false_in_mid_crawl_is_suspended_and_every_victim_comes(with_rules, edit):
    requests = count(1)

    def web(path):
        if "nonsense" in path or "?" not in path:
            return error(404)
        return text(path if next(requests) > 5 else path.partition("&")[0])

    with serving(web) as site:
        urls = [site.url(f"/p?id={n}&sid=s{alias}") for alias in range(12) for n in range(5)]
        settings = with_rules(site, edit) | {"DUST_CANARY_RATE": 0.3}
        result = crawl(urls, settings)
        [(_, entry)] = RuleBook.load(settings["DUST_RULES"]).find(rule_id(site.name, edit))
    assert sorted(result.got) == sorted(urls)
    assert result.stats["dust/suspended"] == 1
    assert (entry.rule, entry.status) == (edit, Status.REFUTED)
    assert "show different pages" in entry.reason


@pytest.mark.once
def test_only_the_edit_that_is_false_is_blamed(with_rules):
    """Of two rules at work on one URL, the plain one holds."""

    def web(path):
        return text(path.replace("ref=1", "").strip("&"))

    with serving(web) as site:
        urls = [site.url(f"/p?id={n}&sid=s{alias}&ref=1") for alias in range(8) for n in range(2)]
        urls += [site.url(f"/p?id={n}&sid=s0") for n in range(2)]
        settings = with_rules(site, Rule.of(DropParameter("ref")), GUARDED) | {"DUST_CANARY_RATE": 1}
        result = crawl(urls, settings)
        book = RuleBook.load(settings["DUST_RULES"])
    assert result.stats["dust/suspended"] == 1
    assert [entry.rule for entry in book.entries(site.name) if entry.status is Status.REFUTED] == [GUARDED]


def test_a_job_goes_on_with_its_edits_whatever_the_book_says_by_then(with_rules, tmp_path):
    with serving(text) as site:
        settings = with_rules(site, GUARDED) | {"JOBDIR": str(tmp_path / "job")}
        crawl([site.url("/p?id=1&sid=a")], settings)
        with_rules(site, GUARDED, PRINTED)
        result = crawl([site.url("/p?id=1&sid=b"), site.url("/p?id=2&sid=b")], settings)
    assert result.got == [site.url("/p?id=2&sid=b")]


@pytest.mark.parametrize(
    ("edit", "example", "is_rewritten"),
    [(GUARDED, "/p?id=2", True), (MARKED, "/p?id=2&sid=b", False)],
    ids=str,
)
def test_what_is_fetched_is_rewritten_only_to_what_can_be_asked_for(
    settings, tmp_path, edit, example, is_rewritten
):
    with serving(text) as site:
        evidence = Evidence(examples=((site.url("/p?id=2&sid=a"), site.url(example)),))
        RuleBook().with_site(site.name, [Entry(edit, evidence=evidence)]).save(tmp_path / "dust-rules.json")
        crawl([site.url("/p?id=1&sid=a")], settings | {"DUST_REWRITE": True})
    assert site.asked == (["/p?id=1"] if is_rewritten else ["/p?id=1&sid=a"])


def test_a_fragment_that_an_edit_leaves_out_is_left_out_for_browsers_too(with_rules):
    """Without it they are different pages of an application."""
    with serving(text) as site:

        def keys():
            fingerprinter = get_crawler(settings_dict={**QUIET, **settings}).request_fingerprinter
            requests = [Request(site.url(f"/#{n}"), meta={"playwright": True}) for n in range(2)]
            return {fingerprinter.fingerprint(one) for one in requests}

        settings = with_rules(site, MARKED)
        assert len(keys()) == 2
        settings = with_rules(site, Rule((DropFragment(),)), Rule((AnySegment(3),)))
        assert len(keys()) == 1
