"""Remembers refuted and undecided rules, so that no run tries them again.

A file of state beside the logs, not for people: losing it costs fetches and nothing else. So a damaged file is no
error; `Verdicts.load` begins anew and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field, fields
from os import PathLike, fspath
from pathlib import Path

from scrapy_dust.believe.validation import Tally, Verdict
from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book import safe_files
from scrapy_dust.rule_book.entries import check_date
from scrapy_dust.rules.json_rules import content_of, rule_from
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.strict_json import Block, Damaged, dump_json, load_json

FORMAT = 2

#: So many of one site are kept, the newest: some 3 MB.
KEPT = 20_000


@dataclass(frozen=True, slots=True)
class PastVerdict:
    """The verdict of a trial that is over."""

    rule: Rule
    verdict: Verdict  #: refuted or undecided
    tally: Tally
    date: str  #: ISO date

    def __post_init__(self) -> None:
        check_date("date", self.date)
        if self.verdict is Verdict.VALID:
            raise ValueError("a valid rule belongs into a rule book")
        if min(astuple(self.tally)) < 0:
            raise ValueError("counts must not be negative")


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All trials that are over, by site."""

    sites: Mapping[str, Mapping[Rule, PastVerdict]] = field(default_factory=dict)
    warning: str | None = None  #: why this is a new beginning, in one sentence
    rests: Mapping[str, str] = field(default_factory=dict)  #: sites with nothing to try → when that is so

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Verdicts:
        """Read the verdicts at *path*. They are empty where the file is missing or unreadable, as `warning` says."""
        try:
            content = safe_files.read(fspath(path))
            if content is None:
                return cls()
            sites, rests = _parse_file(content)
            return cls(sites, rests=rests)
        except (Damaged, RuleBookError) as error:
            said = str(error) if isinstance(error, RuleBookError) else f"{fspath(path)}: {error}."
            return cls(warning=f"{said} What it had decided is tried again.")

    def of_site(self, site: str) -> Mapping[Rule, PastVerdict]:
        """The verdicts of trials on *site* that are over, by rule, the oldest first."""
        return self.sites.get(site, {})

    def with_verdicts(self, site: str, verdicts: Iterable[PastVerdict]) -> Verdicts:
        """A copy with the trials of this run, each in the place of an older one. The newest `KEPT` trials stay."""
        together = dict(self.of_site(site))
        for one in verdicts:
            together.pop(one.rule, None)
            together[one.rule] = one
        newest = sorted(together.values(), key=lambda one: one.date)[-KEPT:]
        return Verdicts({**self.sites, site: {one.rule: one for one in newest}}, self.warning, self.rests)

    def without(self, site: str, rules: Iterable[Rule]) -> Verdicts:
        """A copy without the trials of *rules*, so that these rules are tried again."""
        gone = set(rules)
        left = {rule: one for rule, one in self.of_site(site).items() if rule not in gone}
        return Verdicts({**self.sites, site: left}, self.warning, self.rests)

    def with_rest(self, site: str, rest: str | None) -> Verdicts:
        """A copy that remembers *rest*, a digest of everything that was tried on *site*, so that the next run can skip
        the site; None: something is left to try.
        """
        rests = {other: one for other, one in self.rests.items() if other != site}
        return Verdicts(self.sites, self.warning, rests if rest is None else {**rests, site: rest})

    def rendered(self) -> bytes:
        """All verdicts as the bytes of their file."""
        sites = {
            site: [_verdict_json(one) for one in self.sites[site].values()] for site in sorted(self.sites)
        }
        known = {site: rows for site, rows in sites.items() if rows}
        return dump_json({"format": FORMAT, "sites": known, "rests": dict(sorted(self.rests.items()))})


def update(
    path: str | PathLike[str],
    change: Callable[[Verdicts], Verdicts],
    *,
    patience: float = safe_files.PATIENCE,
) -> None:
    """Replace the verdicts at *path* by the result of *change*, while no other process can write them.

    The folder is made if need be. Raises `RuleBookError`.
    """
    safe_files.make_folder(Path(path).parent)
    with safe_files.lock(fspath(path), patience) as file:
        safe_files.replace(file, change(Verdicts.load(file)).rendered())


def _verdict_json(one: PastVerdict) -> list[object]:
    return [*content_of(one.rule), str(one.verdict), *astuple(one.tally), one.date]


def _parse_file(content: bytes) -> tuple[dict[str, dict[Rule, PastVerdict]], dict[str, str]]:
    """The verdicts by site, and by site the digest that `Verdicts.with_rest` remembered."""
    file = Block(load_json(content), "the file")
    found = file.count("format")
    if found != FORMAT:
        raise Damaged(f"it has format {found}; this version reads {FORMAT}")
    sites = Block(file.take("sites"), "'sites'")
    rests = Block(file.take("rests", {}), "'rests'")
    resting = {site: rests.text(site) for site in list(rests.rest())}
    return {site: _parse_site(sites.items(site)) for site in list(sites.rest())}, resting


def _parse_site(rows: list[object]) -> dict[Rule, PastVerdict]:
    past = [_parse_verdict(row) for row in rows]
    return {one.rule: one for one in past}


def _parse_verdict(row: object) -> PastVerdict:
    rule: Rule
    match row:
        case [list(operations), list(guard), str(verdict), *counts, str(day)]:
            rule = rule_from([operations, guard])
        case _:
            raise Damaged("one of its rows is no verdict")
    numbers = [count for count in counts if isinstance(count, int)]
    if len(numbers) != len(counts) or len(numbers) != len(fields(Tally)):
        raise Damaged("one of its rows has no counts")
    try:
        return PastVerdict(rule, Verdict(verdict), Tally(*numbers), day)
    except ValueError as error:
        raise Damaged(str(error)) from None
