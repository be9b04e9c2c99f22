"""A site of which all is settled is not asked again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.concluding import conclude
from scrapy_dust.trials.ended import ended
from scrapy_dust.trials.learning import mine, prepare
from scrapy_dust.trials.reading import Reporter
from scrapy_dust.trials.site_trials import SiteTrials
from scrapy_dust.visits.pages import Visit
from tests.trials.test_site_trials import SITE, URLS, run, shop

SID = [f"{SITE}/p?id={number}&sid={session}{number}x" for number in range(40) for session in "ab"]


@pytest.fixture
def settings(tmp_path: Path) -> DustSettings:
    return DustSettings(rules=(str(tmp_path / "rules.json"),))


def trials_of(urls: Sequence[str], settings: DustSettings, folder: Path) -> SiteTrials:
    mined = mine({"shop.example": [Visit(url, 200) for url in urls]}, settings, Reporter())
    book, verdicts = RuleBook.load(list(settings.rules)), Verdicts.load(folder / "verdicts.json")
    (trials,) = prepare(mined, book, verdicts, settings)
    return trials


def conduct(urls: Sequence[str], settings: DustSettings, folder: Path, most: int = 10**6) -> list[str]:
    """A run, without what earlier ones were answered. Gives what was asked for."""
    trials = trials_of(urls, settings, folder)
    asked = run(trials, shop, most=most)
    conclude([ended(trials)], settings, ["log"], folder / "verdicts.json")
    return asked


def test_a_second_run_on_the_same_log_asks_for_nothing_and_changes_nothing(settings, tmp_path):
    assert conduct(SID, settings, tmp_path)
    book = Path(settings.rules[0]).read_bytes()
    assert trials_of(SID, settings, tmp_path).standing == 1
    assert conduct(SID, settings, tmp_path) == []
    assert conduct(SID, settings, tmp_path) == []
    assert Path(settings.rules[0]).read_bytes() == book


def test_what_was_cut_short_goes_on(settings, tmp_path):
    conduct(SID, settings, tmp_path, most=9)
    assert trials_of(SID, settings, tmp_path).standing == 0
    assert conduct(SID, settings, tmp_path)


def test_a_longer_log_another_book_and_other_parameters_are_looked_at_anew(settings, tmp_path):
    conduct(SID, settings, tmp_path)
    assert trials_of([*SID, *URLS], settings, tmp_path).standing == 0
    other = DustSettings(rules=settings.rules, max_loss=0.5)
    assert trials_of(SID, other, tmp_path).standing == 0
    Path(settings.rules[0]).unlink()
    assert conduct(SID, settings, tmp_path)
