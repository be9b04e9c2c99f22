"""The whole loop on the example: crawl, mine, crawl again. Counted at the server, in subprocesses, as a user would."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[2] / "example_project"
sys.path.insert(0, str(PROJECT))

from dusty_web.compare import Comparison, Crawl, crawl_of
from dusty_web.running import RunningWeb, running_web
from dusty_web.traps import merged_traps, wrong_merges
from dusty_web.web import DustyWeb

from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.sites import site_of
from tests.waiting import PATIENCE

pytestmark = pytest.mark.e2e

#: Another web than the one that the demo shows.
SEED = 20060522


@dataclass(frozen=True)
class Loop:
    """What came of crawl, mine, crawl."""

    web: DustyWeb
    comparison: Comparison
    validation: Crawl
    again: Crawl  #: the same command, once more
    is_book_unchanged: bool  #: by that
    mined: dict[str, Any]
    book: RuleBook


def scrapy(project: Path, web: RunningWeb, *command: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *command],
        cwd=project,
        env={**os.environ, "EXAMPLE_WEB": web.proxy, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("example") / "project"
    ignored = shutil.ignore_patterns(".scrapy", "dust-rules.json", "__pycache__")
    shutil.copytree(PROJECT, copy, ignore=ignored)
    return copy


@pytest.fixture(scope="module")
def served() -> Iterator[RunningWeb]:
    with running_web(SEED) as web:
        yield web


@pytest.fixture(scope="module")
def loop(project: Path, served: RunningWeb) -> Loop:
    served.reset()
    scrapy(project, served, "crawl", "pages", "-s", "LOG_LEVEL=ERROR")
    before = crawl_of(served.counts())
    served.reset()
    mined = json.loads(scrapy(project, served, "dustmine", "--json"))
    validation = crawl_of(served.counts())
    served.reset()
    path = project / "dust-rules.json"
    first = path.read_bytes()
    scrapy(project, served, "dustmine", "--json")
    again, is_unchanged = crawl_of(served.counts()), path.read_bytes() == first
    served.reset()
    scrapy(project, served, "crawl", "pages", "-s", "LOG_LEVEL=ERROR")
    after = crawl_of(served.counts())
    book = RuleBook.load([str(path)], missing_ok=False)
    return Loop(DustyWeb(SEED), Comparison(before, after), validation, again, is_unchanged, mined, book)


def test_the_second_crawl_saves_what_an_oracle_would_save(loop: Loop) -> None:
    # Rules seen on few pages are on probation, and URLs of parts where a rule was hardly seen are fetched until it has
    # shown itself there. Which URLs are canaries is chance: 0.88 to 0.92 in runs of a day.
    assert loop.comparison.share_of_saving >= 0.8, loop.comparison.as_dict()


def test_every_page_found_before_is_found_after(loop: Loop) -> None:
    assert not loop.comparison.missing


def test_no_trap_is_fallen_into(loop: Loop) -> None:
    canonize = Canonizer(loop.book.rules_by_site(), site_of).canonize
    assert merged_traps(loop.web, canonize) == ()
    assert wrong_merges(loop.web, canonize) == {}


def test_nothing_is_asked_for_that_must_not_be(loop: Loop) -> None:
    crawls = (loop.comparison.before, loop.validation, loop.comparison.after)
    assert [crawl.trespasses for crawl in crawls] == [0, 0, 0]


def test_the_command_says_what_it_fetched_and_stays_within_the_budget(loop: Loop) -> None:
    assert 0 < loop.mined["fetches"] <= 1000
    # A fetch that is redirected or retried is several requests.
    assert loop.validation.requests >= loop.mined["fetches"]


def test_what_is_settled_is_not_paid_for_again(loop: Loop) -> None:
    assert loop.again.requests == 0
    assert loop.is_book_unchanged


def test_each_rule_has_its_evidence(loop: Loop) -> None:
    entries = [entry for site in loop.book.sites for entry in loop.book.entries(site)]
    assert entries
    for entry in entries:
        assert entry.evidence.positive + entry.evidence.log_same > 0
        assert entry.evidence.examples
        assert entry.evidence.last_validated
        assert entry.evidence.logs


def test_a_crawl_that_learns_when_it_ends_leaves_rules_behind(
    served: RunningWeb, tmp_path: Path, project: Path
) -> None:
    book = tmp_path / "learned.json"
    state = ["-s", f"DUST_DIR={tmp_path / 'dust'}", "-s", f"DUST_RULES={book}", "-s", "LOG_LEVEL=ERROR"]
    # A part of the sites is enough to learn something of them.
    part = ["-s", "CLOSESPIDER_PAGECOUNT=400"]
    scrapy(project, served, "crawl", "pages", "-s", "DUST_LEARN=close", *part, *state)
    assert RuleBook.load([str(book)], missing_ok=False).rules_by_site()


def test_shadow_mode_filters_nothing_and_looks_again_at_few_pages(
    loop: Loop, served: RunningWeb, project: Path
) -> None:
    served.reset()
    scrapy(project, served, "crawl", "pages", "-s", "DUST_MODE=shadow", "-s", "LOG_LEVEL=ERROR")
    shadowed = crawl_of(served.counts())
    assert shadowed.contents == loop.comparison.before.contents
    before = loop.comparison.before.requests
    # What reads differently is asked for once more, to see what would be lost.
    assert before <= shadowed.requests <= 1.05 * before


def test_a_mistyped_setting_stops_the_crawl_with_one_sentence(served: RunningWeb, project: Path) -> None:
    served.reset()
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", "pages", "-s", "DUST_MODEE=off"],
        cwd=project,
        env={**os.environ, "EXAMPLE_WEB": served.proxy},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "DUST_MODEE is not a setting of scrapy-dust. Did you mean DUST_MODE?" in done.stderr
    assert crawl_of(served.counts()).requests == 0
