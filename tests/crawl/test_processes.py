"""As users start it: the `scrapy` command, with and without a Twisted reactor."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import write_rules
from tests.crawl.site import error, page, redirect, serving
from tests.waiting import PATIENCE

SPIDER = """
import json, scrapy

class Spider(scrapy.Spider):
    name = "spider"

    async def start(self):
        for url in json.loads(self.urls):
            yield scrapy.Request(url, errback=self.failed)

    def failed(self, failure):
        pass

    def parse(self, response):
        print("GOT", response.url)
        yield {"url": response.url}
"""

REACTORS = {
    "asyncio": [],
    "no reactor": ["-s", "TWISTED_REACTOR_ENABLED=False"],
    "the old process": ["-s", "FORCE_CRAWLER_PROCESS=True"],
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = settings\n")
    (tmp_path / "settings.py").write_text(
        'ADDONS = {"scrapy_dust.Addon": 900}\nTELNETCONSOLE_ENABLED = False\nREMOTE_CONTROL_ENABLED = False\n'
        "DUST_CANARY_RATE = 0\nRETRY_TIMES = 1\n"
    )
    (tmp_path / "spider.py").write_text(SPIDER)
    return tmp_path


def scrapy(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def run_spider(project: Path, urls: Sequence[str], *options: str) -> tuple[list[str], Any]:
    ran = scrapy(project, "runspider", "spider.py", "-a", f"urls={json.dumps(urls)}", *options)
    assert ran.returncode == 0, ran.stderr
    return re.findall("^GOT (.*)$", ran.stdout, re.MULTILINE), ran


@pytest.mark.parametrize("reactor", REACTORS)
def test_redirects_and_failures_inside_a_class_lose_nothing_whatever_runs_the_crawl(project, reactor):
    def web(path):
        if path.startswith("/q") and "sid" not in path:
            return redirect(f"{path}?sid=7")
        return error(404) if "bad" in path else page(words=path.partition("?")[0])

    with serving(web) as site:
        write_rules(project / "dust-rules.json", {site.name: [Rule.of(DropParameter("sid"))]})
        urls = [site.url(f"/q/{n}") for n in range(5)]
        urls += [site.url(f"/p/{n}?sid={sid}") for n in range(5) for sid in ("bad", "good", "late")]
        got, ran = run_spider(project, urls, *REACTORS[reactor])
    assert len(got) == 10
    assert "'dust/kept_alive': 5" in ran.stderr
    assert "Deprecat" not in ran.stderr
    assert list((project / ".scrapy/dust/logs/spider").glob("*.jsonl"))


@pytest.mark.once
@pytest.mark.parametrize("reactor", ["asyncio", "no reactor"])
def test_the_shell_fetches_a_url_twice(project, reactor):
    with serving(lambda path: page()) as site:
        write_rules(project / "dust-rules.json", {site.name: [Rule.of(DropParameter("sid"))]})
        url = site.url("/?sid=1")
        code = f"(fetch({url!r}), fetch({url!r}), response.status)[-1]"
        ran = scrapy(project, "shell", url, "-c", code, *REACTORS[reactor])
    assert "200" in ran.stdout, ran.stderr
    assert site.asked.count("/?sid=1") == 3


@pytest.mark.once
def test_a_wrong_setting_is_the_last_thing_said_and_the_exit_status_tells(project):
    ran = scrapy(project, "runspider", "spider.py", "-a", "urls=[]", "-s", "DUST_MODE=enforced")
    assert ran.returncode == 1
    said = ran.stderr.strip().splitlines()[-1]
    assert said == "scrapy-dust: DUST_MODE must be one of 'enforce', 'shadow', 'off', got 'enforced'."
