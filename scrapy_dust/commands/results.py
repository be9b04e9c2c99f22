"""Prints the results of ``scrapy dustmine``: the rules, the decisions about them, and how long each phase took."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from scrapy_dust.believe.admission import Bounds
from scrapy_dust.believe.decisions import Decision
from scrapy_dust.believe.validation import Verdict
from scrapy_dust.commands.in_words import in_words
from scrapy_dust.commands.output import number, printable
from scrapy_dust.commands.tables import table
from scrapy_dust.engines.figures import Figures
from scrapy_dust.engines.laps import Lap, Laps, in_all
from scrapy_dust.engines.local import Mined
from scrapy_dust.propose.dustbuster.likely_rules import LikelyRule
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.rules.json_rules import content_of
from scrapy_dust.rules.substitution import anchored
from scrapy_dust.trials.ended import Ended, lost_at_most
from scrapy_dust.trials.spending import Spent

#: The number of refuted rules that the summary shows, each with the reason.
_REFUTED_SHOWN = 10


def phases_of(mined: Sequence[Mined] | Sequence[Figures], clock: Laps) -> dict[str, Lap]:
    """The time of each phase, in order. The phases of mining are summed over all sites; "hand over" is the rest of mining."""
    of_sites: dict[str, Lap] = {}
    for one in mined:
        of_sites = in_all(of_sites, one.laps)
    phases = dict(clock.laps)
    mining = phases.pop("mine")
    handing_over = mining - sum(of_sites.values(), Lap())
    before = {phase: phases.pop(phase) for phase in ("start", "read")}
    return {**before, **of_sites, "hand over": handing_over, **phases}


def print_rules(mined: Sequence[Mined], phase: str, *, as_json: bool) -> None:
    """Print the rules that phase 1 ("likely") or phase 2 ("kept") has found, strongest first."""
    rules = [
        (one.site, likely)
        for one in mined
        for likely in (one.likely if phase == "likely" else one.elimination.kept)
    ]
    rules.sort(key=lambda pair: (-pair[1].support, *anchored(pair[1].rule), pair[0]))
    if as_json:
        for site, likely in rules:
            print(json.dumps(_likely_json(likely) | ({"site": site} if len(mined) > 1 else {})))
    else:
        rows = [[str(likely.support), site, str(likely.rule)] for site, likely in rules]
        print(table(["support", "site", "rule"], rows, right={0}))


def _likely_json(likely: LikelyRule) -> dict[str, object]:
    rule = likely.rule
    return {
        "alpha": rule.alpha,
        "beta": rule.beta,
        "start": rule.start,
        "end": rule.end,
        "support": likely.support,
    }


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one run of ``dustmine``: what was mined, and what was decided about each rule."""

    sites: Sequence[Figures]
    trials: Sequence[Ended]
    spent: Spent
    book: str | None = None  #: where the rule book was written; None: nowhere

    @property
    def pages(self) -> int:
        """The number of pages in the logs."""
        return sum(one.pages for one in self.sites)

    @property
    def fetches(self) -> int:
        """The number of fetches."""
        return self.spent.fetches

    @property
    def decisions(self) -> list[tuple[str, Decision]]:
        """The decisions about all rules that were tried, each with the rule's site."""
        return [(site.site, decision) for site in self.trials for decision in site.decisions]

    def with_verdict(self, verdict: Verdict) -> list[tuple[str, Decision]]:
        """The rules whose trial ended with *verdict*, each with its site."""
        return [(site, one) for site, one in self.decisions if one.verdict is verdict]

    @property
    def unchanged_sites(self) -> list[Ended]:
        """The sites whose logs say nothing new, so that their rules stay as they are."""
        return [site for site in self.trials if site.standing]

    def counts(self) -> dict[str, int | str | None]:
        """The summary's numbers by name, as ``--json`` prints them."""
        return {
            "sites": len(self.sites),
            "taken_over": sum(one.is_taken_over for one in self.sites),
            "pages": self.pages,
            **self._proposed_counts(),
            **self._decided_counts(),
            "fetches": self.fetches,
            "lost_at_most": lost_at_most(self.trials),
            "rules": self.book,
        }

    def _proposed_counts(self) -> dict[str, int]:
        """The numbers of rules that each phase of mining has proposed."""
        return {
            "likely": sum(one.likely for one in self.sites),
            "kept": sum(one.kept for one in self.sites),
            "parameters": sum(one.parameters for one in self.sites),
            "edits": sum(one.edits for one in self.sites),
        }

    def _decided_counts(self) -> dict[str, int]:
        """The numbers of rules by the result of their trials."""
        return {
            "valid": len(self.with_verdict(Verdict.VALID)) + sum(site.standing for site in self.trials),
            "probation": len(self.with_verdict(Verdict.PROBATION)),
            "refuted": len(self.with_verdict(Verdict.REFUTED)),
            "undecided": len(self.with_verdict(Verdict.UNDECIDED))
            + sum(site.remaining for site in self.trials),
            "redundant": sum(site.redundant for site in self.trials),
        }


def print_as_json(result: Result, phases: Mapping[str, Lap]) -> None:
    """Print the whole result as one JSON object."""
    decisions = [_decision_json(site, decision) for site, decision in result.decisions]
    took = [{"phase": phase, **asdict(lap)} for phase, lap in phases.items()]
    print(json.dumps({**result.counts(), "decisions": decisions, "phases": took}, ensure_ascii=False))


def print_result(result: Result) -> None:
    """Print the tables of valid and of refuted rules, and the sentences that sum the run up."""
    _print_valid(result.with_verdict(Verdict.VALID))
    _print_refuted([(site, one) for site, one in result.decisions if one.why])
    for line in _sentences(result):
        print(printable(line))
    print(f"Rule book: {result.book}" if result.book else "Nothing written.")


#: Heads of the table of valid rules. `_LEGEND` explains those that are numbers.
_HEADS = ["id", "site", "rule", "requests saved", "pairs alike", "from log", "fetches", "may lose", "may err"]
_LEGEND = (
    "pairs alike: pairs of URLs that showed one page. from log: those of them that needed no fetch. may lose: pages of this "
    "log that the rule may hide, at most. may err: share of other URLs that the rule may take for the wrong page, at most. "
    "Both bounds hold at 95 %. In a rule, ^ is the beginning of a URL, $ its end, and * any value."
)


def _print_valid(valid: Sequence[tuple[str, Decision]]) -> None:
    """Print the table of the valid rules, if there are any."""
    if valid:
        rows = [_decision_row(site, decision) for site, decision in valid]
        print(table(_HEADS, rows, right=set(range(3, len(_HEADS))), spare=[6, 5, 4]))
        print(f"{_LEGEND}\n")


def _print_refuted(refuted: Sequence[tuple[str, Decision]]) -> None:
    """Print the table of the first refuted rules, if there are any."""
    if refuted:
        rows = [
            [rule_id(site, one.rule), site, str(one.rule), str(one.tally.contradictions), f"pages {one.why}"]
            for site, one in refuted[:_REFUTED_SHOWN]
        ]
        heads = ["id", "site", "refuted rule", "pairs that differ", "why"]
        print(f"{table(heads, rows, right={3}, spare=[3])}\n")


def _sentences(result: Result) -> Iterator[str]:
    """The sentences below the tables: what was proposed, what was decided, and what the rules may lose."""
    counts = result.counts()
    yield (
        f"{number(result.pages, 'page')} of {number(len(result.sites), 'site')}. Proposed: "
        "{likely} rules by the URLs ({kept} without redundant ones), {parameters} by parameters, {edits} by equal pages."
    ).format(**counts)
    yield (
        f"After {number(result.fetches, 'fetch', 'fetches')}: "
        "{valid} valid, {probation} on probation, {refuted} refuted, {undecided} undecided, "
        "{redundant} that would save nothing more."
    ).format(**counts)
    if result.with_verdict(Verdict.VALID) and counts["lost_at_most"] is not None:
        lost = counts["lost_at_most"]
        most = f"at most {lost}" if lost else "none"
        yield f"The rules hide {most} of these pages wrongly (95 %, site by site)."
    standing = result.unchanged_sites
    if len(standing) < max(1, len(result.trials)):
        yield from in_words([one for _, one in result.decisions], result.trials, result.pages)
    if standing:
        names = ", ".join(site.site for site in standing)
        yield f"The logs of {names} say nothing new, so the rules of these sites stay as they are."


def _decision_row(site: str, decision: Decision) -> list[str]:
    """The cells of a table's row about a rule."""
    tally = decision.tally
    return [
        rule_id(site, decision.rule),
        site,
        str(decision.rule),
        str(decision.saves),
        str(tally.positive),
        str(tally.from_log),
        str(decision.fetches),
        *_bounds_cells(decision.bounds),
    ]


def _bounds_cells(bounds: Bounds | None) -> list[str]:
    """The two cells about what a rule may lose; empty where that is not known."""
    return ["", ""] if bounds is None else [str(bounds.wrong), f"{bounds.unseen:.1%}"]


def _decision_json(site: str, decision: Decision) -> dict[str, object]:
    tally = decision.tally
    return {
        "id": rule_id(site, decision.rule),
        "site": site,
        "rule": content_of(decision.rule),
        "text": str(decision.rule),
        "verdict": str(decision.verdict),
        "support": decision.support,
        "saves": decision.saves,
        "positive": tally.positive,
        "negative": tally.negative,
        "contradictions": tally.contradictions,
        "unknown": tally.unknown,
        "from_log": tally.from_log,
        "contents": tally.contents,
        "bounds": None if decision.bounds is None else asdict(decision.bounds),
        "fetches": decision.fetches,
        "why": decision.why,
        "examples": decision.examples,
    }


def profile_table(took: Mapping[str, Lap]) -> str:
    """A table with the time that each phase took, and the memory in use at its end."""
    in_all_seconds = sum(lap.seconds for lap in took.values()) or 1.0
    rows = [
        [
            phase,
            f"{lap.seconds:.2f}",
            f"{lap.cpu:.2f}",
            f"{lap.seconds / in_all_seconds:.0%}",
            str(lap.peak or ""),
        ]
        for phase, lap in took.items()
    ]
    return table(["phase", "seconds", "of CPU", "share", "peak MB"], rows, right={1, 2, 3, 4})
