"""A site that changes in mid-crawl: what its rule suppressed all comes, in the crawl or, if asked for, in the next."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from statistics import mean

import pytest

from benchmarks.drift import expected_suppressed, measure
from scrapy_dust.rule_book import rule_id
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import write_rules
from tests.crawl.site import serving
from tests.crawl.test_suspension import IN_ORDER, Changing, one_by_one

pytestmark = pytest.mark.e2e

SPIDER = """
import scrapy

class Links(scrapy.Spider):
    name = "links"

    async def start(self):
        if self.begin:
            yield scrapy.Request(self.begin)

    def parse(self, response):
        print("GOT", response.url)
        # Where a callback that yields something elsewhere yields nothing, one more alias of the page is tried.
        yield {"url": response.url}
        for link in response.css("a"):
            yield response.follow(link, callback=self.parse)
"""


def test_what_is_suppressed_until_it_is_noticed_is_what_was_predicted_and_none_of_it_is_lost():
    rate, sites = 0.2, 8
    seen = measure(rate, 1.0, sites, seed=1)
    assert sum(one.lost for one in seen) == 0
    predicted = expected_suppressed(rate)
    # Geometric: its deviation is about its mean. Six of the mean's deviations, and it is no chance any more.
    assert abs(mean(one.before for one in seen) - predicted) < 6 * (predicted + 1) / sites**0.5


@pytest.fixture
def scrapy(tmp_path):
    settings = {
        "TELNETCONSOLE_ENABLED": "False",
        "REMOTE_CONTROL_ENABLED": "False",
        "LOG_LEVEL": "INFO",
        **IN_ORDER,
    }
    settings["ADDONS"] = json.dumps({"scrapy_dust.Addon": 900})
    (tmp_path / "spider.py").write_text(SPIDER)

    def run(command, *arguments, **more):
        chosen = settings | more if command == "runspider" else more
        given = [part for name, value in chosen.items() for part in ("-s", f"{name}={value}")]
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "scrapy", command, *arguments, *given],
            cwd=tmp_path,
            env={**os.environ, "PYTHONUTF8": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout, done.stderr

    return run


def got(out: str) -> list[str]:
    return sorted(line.removeprefix("GOT ") for line in out.splitlines() if "/p?" in line)


def test_a_user_sees_what_happened_and_gets_back_what_a_rule_took(scrapy, tmp_path):
    paths = [f"/p?id={n % 4}&sid=s{n}" for n in range(40)]
    with serving(one_by_one(Changing(after=8), *paths)) as site:
        write_rules(tmp_path / "dust-rules.json", {site.name: [Rule.of(DropParameter("sid"))]})
        identity, begin = rule_id(site.name, Rule.of(DropParameter("sid"))), f"begin={site.url('/index/0')}"
        urls = sorted(map(site.url, paths))

        out, err = scrapy("runspider", "spider.py", "-a", begin, DUST_CANARY_RATE="0.3")
        assert got(out) == urls
        assert "1 rule suspended as no longer true" in err
        assert "refuted" in scrapy("dustrules", "list")[0]

        # Somebody switches it on again, without canaries: what it takes can be had back.
        scrapy("dustrules", "enable", identity)
        out, err = scrapy("runspider", "spider.py", "-a", begin, DUST_CANARY_RATE="0")
        first = got(out)
        assert len(first) == 4
        assert "`scrapy dustrules explain URL` says why" in err
        missing = sorted(set(urls) - set(first))
        assert f"suppressed by {identity}" in scrapy("dustrules", "explain", missing[0])[0]
        scrapy("dustrules", "disable", identity)
        assert sorted(scrapy("dustrules", "requeue", identity)[0].split()) == missing
        assert got(scrapy("runspider", "spider.py", "-a", "begin=")[0]) == missing
