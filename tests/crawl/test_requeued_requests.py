"""From a rule that was wrong to its suppressed_by in the next crawl; and what a user is told of any URL."""

from __future__ import annotations

import json

import pytest
from scrapy import Request

from scrapy_dust.commands import changing, journals, reviewing
from scrapy_dust.commands.context import Context
from scrapy_dust.journal.journal_places import requeue_dir
from scrapy_dust.rule_book import rule_id
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import Visitor, crawl
from tests.crawl.site import page, serving

SID, REF = Rule.of(DropParameter("sid")), Rule.of(DropParameter("ref"))


@pytest.fixture
def context(settings):
    def of(as_json=False, **more):
        return Context(tuple(settings["DUST_RULES"]), 10, False, as_json, settings["DUST_DIR"], **more)

    return of


def requeue(context, *ids, spider=None, dry_run=False):
    journals.requeue(context, *ids, spider=spider, dry_run=dry_run)


class Second(Visitor):
    """A later version of the spider, with nothing to do by itself."""

    def other(self, response, mark):
        self.crawl.got.append(f"{mark}: {response.url}")
        yield {"mark": mark}


def test_victims_of_a_rule_that_was_switched_off_come_in_the_next_crawl_as_they_were(
    with_rules, context, capsys
):
    class First(Second):
        async def start(self):
            for request in self.requests:
                yield request.replace(callback=self.other)

    with serving(lambda path: page()) as site:
        identity = rule_id(site.name, SID)
        urls = [site.url(f"/p?id=1&sid={n}") for n in range(4)]
        settings = with_rules(site, SID)
        # The first one queued stands for all; what follows it is suppressed.
        requests = [Request(url, cb_kwargs={"mark": n}, priority=-n) for n, url in enumerate(urls)]
        assert crawl(requests, settings, spider=First).got == [f"0: {urls[0]}"]
        changing.disable(context(), identity)
        capsys.readouterr()
        requeue(context(), identity)
        assert capsys.readouterr().out.split() == urls[1:]
        again = crawl([], settings, spider=Second)
        assert sorted(again.got) == [f"{n}: {url}" for n, url in enumerate(urls)][1:]
        assert again.stats["dust/requeued"] == 3
        assert crawl([], settings, spider=Second).got == []
        requeue(context(), identity)
        assert capsys.readouterr().out == ""


def test_victims_of_a_rule_that_is_still_in_force_are_kept_from_it(with_rules, context):
    with serving(lambda path: page()) as site:
        urls = [site.url(f"/p?id=1&sid={n}") for n in range(4)]
        settings = with_rules(site, SID)
        crawl([*urls], settings)
        requeue(context(), rule_id(site.name, SID))
        again = crawl([], settings)
    assert sorted(again.got) == urls[1:]


def test_a_dry_run_leaves_nothing_to_fetch_and_other_spiders_get_nothing(with_rules, context, capsys):
    with serving(lambda path: page()) as site:
        identity = rule_id(site.name, SID)
        urls = [site.url(f"/p?id=1&sid={n}") for n in range(3)]
        settings = with_rules(site, SID)
        crawl(urls, settings)
        requeue(context(as_json=True), identity, dry_run=True)
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [(line["url"], line["spider"], line["rules"]) for line in lines] == [
            (url, "visitor", [identity]) for url in urls[1:]
        ]
        requeue(context(), identity, spider="another")
        assert capsys.readouterr().out == ""
        assert not requeue_dir(settings["DUST_DIR"]).exists()
        assert crawl([], settings).got == []


def test_a_crawl_that_is_stopped_leaves_the_list_to_the_next(with_rules, context):
    with serving(lambda path: page()) as site:
        urls = [site.url(f"/p?id=1&sid={n}") for n in range(6)]
        settings = with_rules(site, SID)
        crawl(urls, settings)
        requeue(context(), rule_id(site.name, SID))
        stopped = crawl([], settings | {"CLOSESPIDER_PAGECOUNT": 2})
        assert stopped.stats["finish_reason"] == "closespider_pagecount"
        assert sorted(crawl([], settings).got) == urls[1:]


def test_explain_tells_what_became_of_a_url(with_rules, context, capsys):
    with serving(lambda path: page()) as site:
        identity = rule_id(site.name, SID)
        urls = [site.url(f"/p?id=1&sid={n}") for n in range(2)]
        settings = with_rules(site, SID)
        crawl(urls, settings)
        reviewing.explain(context(), urls[1])
        said = capsys.readouterr().out.splitlines()
        assert said[-2] == "In crawls:"
        assert said[-1].endswith(f"  visitor  suppressed by {identity}; fetched instead: {urls[0]}")
        reviewing.explain(context(as_json=True), urls[1])
        (event,) = json.loads(capsys.readouterr().out)["history"]
        assert (event["what"], event["keeper"], event["spider"]) == ("suppressed", urls[0], "visitor")
        reviewing.explain(context(), urls[0])
        assert capsys.readouterr().out.splitlines()[-1] == "No journal says that a crawl suppressed this URL."


def test_a_hidden_url_is_found_by_its_own_name_and_cannot_be_requeued(with_rules, context, capsys):
    with serving(lambda path: page()) as site:
        urls = [site.url(f"/p?id=1&sid=secret{n}") for n in range(2)]
        settings = with_rules(site, SID) | {"DUST_LOG_HIDE": ["sid"]}
        crawl(urls, settings)
        reviewing.explain(context(hide=("sid",)), urls[1])
        assert "suppressed by" in capsys.readouterr().out
        requeue(context(hide=("sid",)), rule_id(site.name, SID))
        said = capsys.readouterr()
        assert "1 URLs cannot be asked for again" in said.err
        assert "secret" not in said.out


def test_a_request_that_opts_out_is_not_suppressed(with_rules):
    with serving(lambda path: page()) as site:
        urls = [site.url(f"/p?id=1&sid={n}") for n in range(3)]
        requests = [urls[0], Request(urls[1], meta={"dust": False}), urls[2]]
        result = crawl(requests, with_rules(site, SID))
    assert result.got == urls[:2]


def test_without_a_journal_nothing_is_written_and_all_else_is_the_same(with_rules, tmp_path):
    with serving(lambda path: page()) as site:
        urls = [site.url(f"/p?id=1&sid={n}") for n in range(3)]
        result = crawl(urls, with_rules(site, SID) | {"DUST_JOURNAL": False})
    assert result.stats["dust/filtered"] == 2
    assert not (tmp_path / "dust" / "journal").exists()


def test_a_journal_that_cannot_be_written_stops_no_crawl(with_rules, tmp_path):
    (tmp_path / "dust").mkdir()
    (tmp_path / "dust" / "journal").write_text("in the way")
    with serving(lambda path: page()) as site:
        urls = [site.url(f"/p?id=1&sid={n}") for n in range(3)]
        result = crawl(urls, with_rules(site, SID))
    assert result.got == urls[:1]
    assert result.stats["dust/journal_errors"] == 2
