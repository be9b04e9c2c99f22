"""A site of which nothing is new is neither mined nor tried again, and the rule book is as if it had been."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import shops
from scrapy_dust.crawl_log.visit_fields import visit_of
from scrapy_dust.engines.input_digests import READ_BY_MINING
from scrapy_dust.engines.kept_results import FILE
from scrapy_dust.page.places import Kind, place_of
from scrapy_dust.page.units import pack, units_of
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.entries import Status
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.concluding import conclude
from scrapy_dust.trials.ended import Ended, ended
from scrapy_dust.trials.learning import decided_from_log, mine, prepare
from scrapy_dust.trials.reading import Reporter
from scrapy_dust.trials.rest import settings_of_trials
from scrapy_dust.trials.taking_over import taking_over
from scrapy_dust.visits.pages import Visit
from tests.trials.test_site_trials import run as answered
from tests.trials.test_site_trials import shop

pytestmark = pytest.mark.once

Log = Mapping[str, Sequence[Visit]]


@dataclass(frozen=True)
class Ran:
    """One run: the ends of all sites, and which of them were taken over."""

    ends: list[Ended]
    taken: list[str]
    asked: Sequence[str] = ()


def run(folder: Path, log: Log, *, by_log: bool = True, forgetting: bool = False, **options: Any) -> Ran:
    own = DustSettings(rules=(str(folder / "rules.json"),), **options)
    if forgetting:
        (folder / FILE).unlink(missing_ok=True)
    book, verdicts = RuleBook.load(list(own.rules)), Verdicts.load(folder / "verdicts.json")
    taking = taking_over(folder, own, book, verdicts, {}, by_log=by_log, saves=True)
    assert taking is not None
    mined = mine(log, own, Reporter(), state=folder, keep=True, taking=taking)
    asked: list[str] = []
    if by_log:
        decided = list(decided_from_log(mined, book, verdicts, own, taking=taking))
    else:
        trials = list(prepare(mined, book, verdicts, own, taking=taking))
        for one in trials:
            asked += answered(one, shop)
        decided = [ended(one) for one in trials]
    ends = taking.in_turn(decided)
    conclude(ends, own, ["log"], folder / "verdicts.json")
    return Ran(ends, [one.site for one in taking.figures], asked)


def state_of(folder: Path) -> dict[str, bytes]:
    """All that later runs and crawls go by, but what is only kept to spare work."""
    return {one.name: one.read_bytes() for one in folder.glob("*.json")}


def shop_of(name: str, pages: int) -> list[Visit]:
    """Pages in units."""
    return [visit_of(record) for record in shops.clean(pages, name)]


def changing(name: str, pages: int) -> list[Visit]:
    """The same, where each answer has a unit of its own; some URLs were asked for twice."""
    chance, place = random.Random(name), place_of(Kind.TEXT, "footer p")
    found = []
    for url, page in (
        (f"http://{name}/p/{n // 3}{end}", n // 3) for n in range(pages) for end in ("", "?sid=1")
    ):
        for _ in range(1 + (page % 3 == 0)):
            own = [place_of(Kind.TEXT, "main p") << 32 | page * 100 + k for k in range(8)]
            units = pack(units_of([*own, place << 32 | chance.getrandbits(20)]))
            found.append(Visit(url, 200, units=units))
    return found


def told(name: str, pages: int) -> list[Visit]:
    """Pages with digests."""
    ends = ("", "/index.html", "?sid=1", "?sid=2&a=1", "?a=1&sid=3", "/print")
    return [
        Visit(f"http://{name}/{page}{end}", 200, text_digest=f"{page}{end == '/print'}")
        for page in range(pages)
        for end in ends
    ]


KINDS = (shop_of, changing, told)


@settings(max_examples=6, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.integers(1, 24)), min_size=1, max_size=3),
    st.lists(st.integers(0, 2), min_size=2, max_size=3),
    st.sampled_from(
        ({}, {"learner": "dust"}, {"learner": "dustbuster"}, {"validation_test": "paper"}, {"same": "items"})
    ),
)
def test_run_after_run_the_book_and_the_state_are_those_of_runs_that_remember_nothing(sites, steps, options):
    """Run after run, of one site or of none there is a page more."""
    log = {f"s{n}.example": kind(f"s{n}.example", pages) for n, (kind, pages) in enumerate(sites)}
    with TemporaryDirectory() as with_memory, TemporaryDirectory() as without:
        for number, step in enumerate([9, 9, *steps]):
            site = f"s{step}.example"
            if site in log:
                log[site] = [*log[site], Visit(f"http://{site}/new{number}?sid=1", 200, text_digest="new")]
            ran = run(Path(with_memory), log, **options)
            anew = run(Path(without), log, forgetting=True, **options)
            assert not anew.taken
            plain = {"volatile": None, "names": {}, "urls": (), "rest": None}
            assert [replace(one, **plain) for one in ran.ends] == [replace(one, **plain) for one in anew.ends]
            assert state_of(Path(with_memory)) == state_of(Path(without))


def many() -> dict[str, list[Visit]]:
    return {f"s{n}.example": kind(f"s{n}.example", 40) for n, kind in enumerate(KINDS)}


def settled(folder: Path) -> dict[str, list[Visit]]:
    """A log that was mined until a run had nothing new to decide."""
    log = many()
    while len(run(folder, log).taken) < len(log):
        pass
    return log


def test_all_sites_are_taken_over_once_a_run_has_decided_nothing_new(tmp_path: Path):
    log = settled(tmp_path)
    book = (tmp_path / "rules.json").read_bytes()
    assert run(tmp_path, log).taken == sorted(log, key=lambda site: (-len(log[site]), site))
    assert (tmp_path / "rules.json").read_bytes() == book
    assert b'"valid"' in book


def test_a_site_with_a_new_page_is_tried_again_and_no_other(tmp_path: Path):
    log = settled(tmp_path)
    log["s2.example"].append(Visit("http://s2.example/1/print?sid=9", 200, text_digest="1True"))
    assert set(run(tmp_path, log).taken) == {"s0.example", "s1.example"}


@pytest.mark.parametrize(
    "option",
    [{"max_loss": 0.5}, {"max_risk": 0.5}, {"validation_count": 7}, {"passes": 9}, {"min_support": 4}],
)
def test_with_other_settings_all_sites_are_tried_again(tmp_path: Path, option):
    log = settled(tmp_path)
    assert run(tmp_path, log, **option).taken == []


class Told:
    """Settings that note which of them are read."""

    def __init__(self) -> None:
        self.names = set[str]()

    def __getattr__(self, name: str) -> object:
        self.names.add(name)
        return getattr(DustSettings(), name)


@pytest.mark.parametrize("test", ["plus", "paper"])
def test_every_setting_that_trials_by_the_log_read_is_part_of_what_they_depend_on(test):
    read, known = Told(), Told()
    read.validation_test = test  # type: ignore[attr-defined]
    mined = mine(many(), DustSettings(), Reporter())
    assert list(decided_from_log(mined, RuleBook(), Verdicts(), read))  # type: ignore[arg-type]
    settings_of_trials(known)  # type: ignore[arg-type]
    assert read.names <= known.names | {*READ_BY_MINING, "validation_test"}


def test_a_book_that_changes_while_a_run_takes_a_site_over_is_tried_by_the_next_run(tmp_path: Path):
    log, path = {"shop.example": SID}, str(tmp_path / "rules.json")
    run(tmp_path, log, by_log=False)
    own = DustSettings(rules=(path,))
    (end,) = run(tmp_path, log, by_log=False).ends
    RuleBook.load([path]).with_status("shop.example", Rule.of(DropParameter("sid")), Status.DISABLED).save(
        path
    )
    conclude([end], own, ["log"], tmp_path / "verdicts.json")
    assert not run(tmp_path, log, by_log=False).taken


def test_a_site_whose_rule_was_switched_off_is_tried_again(tmp_path: Path):
    log, path = settled(tmp_path), str(tmp_path / "rules.json")
    book = RuleBook.load([path])
    rule = next(one.rule for one in book.entries("s2.example") if one.status is Status.VALID)
    book.with_status("s2.example", rule, Status.DISABLED).save(path)
    assert set(run(tmp_path, log).taken) == {"s0.example", "s1.example"}


def test_what_a_person_switched_off_comes_back_under_no_other_name(tmp_path: Path):
    log, path = settled(tmp_path), str(tmp_path / "rules.json")
    book = RuleBook.load([path])
    before = [one.rule for one in book.entries("s2.example") if one.status is Status.VALID]
    assert before
    for rule in before:
        book = book.with_status("s2.example", rule, Status.DISABLED)
    book.save(path)
    for _ in range(2):
        run(tmp_path, log)
    valid = [one.rule for one in RuleBook.load([path]).entries("s2.example") if one.status is Status.VALID]
    urls = [visit.url for visit in log["s2.example"]]
    for rule in valid:
        changed = [(url, rule.apply(url)) for url in urls if rule.apply(url) != url]
        assert not [1 for url, target in changed for one in before if one.apply(url) == one.apply(target)]


def test_a_site_of_which_it_is_forgotten_what_changes_is_read_again(tmp_path: Path):
    log = settled(tmp_path)
    (tmp_path / "volatile.json").unlink()
    assert "s1.example" not in run(tmp_path, log).taken


def test_where_it_is_damaged_the_site_is_tried_again(tmp_path: Path):
    log = settled(tmp_path)
    (tmp_path / FILE).write_bytes(b"not a database" * 99)
    assert run(tmp_path, log).taken == []
    assert len(run(tmp_path, log).taken) == len(log)


SID = [
    Visit(f"http://shop.example/p?id={number}&sid={session}{number}x", 200)
    for number in range(40)
    for session in "ab"
]


def test_with_fetches_a_site_at_rest_is_not_mined_by_the_second_run(tmp_path: Path):
    log = {"shop.example": SID, "small.example": [Visit("http://small.example/", 200)]}
    first = run(tmp_path, log, by_log=False)
    assert first.asked
    assert not first.taken
    before = state_of(tmp_path)
    second = run(tmp_path, log, by_log=False)
    assert set(second.taken) == set(log)
    assert not second.asked
    assert [one.standing for one in second.ends] == [1]
    assert state_of(tmp_path) == before
    forgetful = run(tmp_path, log, by_log=False, forgetting=True)
    assert not forgetful.taken
    assert [one.standing for one in forgetful.ends] == [1]
    assert state_of(tmp_path) == before


def test_with_fetches_a_site_with_a_new_page_or_another_book_is_tried_again(tmp_path: Path):
    log, path = {"shop.example": SID}, str(tmp_path / "rules.json")
    run(tmp_path, log, by_log=False)
    assert run(tmp_path, log, by_log=False).taken
    book = RuleBook.load([path])
    book.with_status("shop.example", Rule.of(DropParameter("sid")), Status.DISABLED).save(path)
    assert not run(tmp_path, log, by_log=False).taken
    book.save(path)
    more = [*SID, Visit("http://shop.example/p?id=41&sid=1", 200)]
    assert not run(tmp_path, {"shop.example": more}, by_log=False).taken


def test_what_was_taken_over_by_the_log_alone_says_nothing_where_pages_can_be_fetched(tmp_path: Path):
    log = {"shop.example": SID}
    for _ in range(3):
        run(tmp_path, log)
    assert run(tmp_path, log, by_log=False).asked
