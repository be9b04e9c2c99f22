"""Sums up a run of dustmine in a few sentences: the rules in force, the requests they save, the rules still open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scrapy_dust.believe.decisions import Decision
from scrapy_dust.believe.validation import Verdict
from scrapy_dust.commands.output import number
from scrapy_dust.rules.grouping import phrases_of
from scrapy_dust.trials.ended import Ended

#: The number of rules, or of parts of sites, that one sentence names.
_NAMED = 5
#: A rule seen on fewer pages than these has little evidence.
_LITTLE = 10


def in_words(decisions: Sequence[Decision], trials: Sequence[Ended], pages: int) -> Iterator[str]:
    """Sentences about *decisions*, and about pages that fetches could not judge. *pages*: their number in the logs."""
    of = {verdict: [one for one in decisions if one.verdict is verdict] for verdict in Verdict}
    valid, probation = (
        sorted(of[verdict], key=lambda one: -one.saves) for verdict in (Verdict.VALID, Verdict.PROBATION)
    )
    if valid:
        spared = sum(one.saves for one in valid)
        yield f"URLs that differ only in this are one page now: {_list_names(phrases_of([one.rule for one in valid], _NAMED))}."
        yield f"The rules save {spared} of the {pages} URLs of these logs ({spared / max(1, pages):.0%})."
    if probation:
        best = probation[0]
        seen = best.witnesses.contents
        little = ": little evidence" if seen < _LITTLE else ""
        yield (
            f"Not applied until a crawl proves them: {number(len(probation), 'rule')} on probation, seen on too few pages, "
            f"such as {best.rule} (seen on {number(seen, 'page')}{little})."
        )
    is_by_log = any(site.is_by_log for site in trials)
    if is_by_log and of[Verdict.UNDECIDED]:
        open_ones = sorted(of[Verdict.UNDECIDED], key=lambda one: -one.saves)
        yield (
            f"The log alone does not tell whether {number(len(open_ones), 'more rule' if valid else 'rule')} "
            f"would merge different pages, such as {open_ones[0].rule}. Fetches would: see --no-validate and --budget."
        )
    left = sum(site.remaining for site in trials)
    if any(site.is_cut_short for site in trials) and (left or of[Verdict.UNDECIDED]):
        left += len(of[Verdict.UNDECIDED])
        yield f"{number(left, 'rule')} undecided when the fetches ended: the same command goes on from there."
    elif not valid and not left:
        yield from _why_nothing(decisions, probation, is_by_log=is_by_log)
    yield from _unjudged_pages(trials)


def _why_nothing(
    decisions: Sequence[Decision], probation: Sequence[Decision], *, is_by_log: bool
) -> Iterator[str]:
    """A sentence that says why no rule is in force; none if some may still be proved by a crawl."""
    if not decisions:
        yield "No rule was found: these logs have no two URLs that show the same page and differ in a regular way."
    elif not probation:
        refuted = sum(one.verdict is Verdict.REFUTED for one in decisions)
        others = len(decisions) - refuted
        said = (
            [f"{refuted} of {number(len(decisions), 'rule')} tried merged different pages"] if refuted else []
        )
        if others and not is_by_log:
            said.append(
                f"{f'the other {others}' if refuted else number(others, 'rule')} seen on too few pages"
            )
        more = " A longer log says more." if others and not is_by_log else ""
        yield f"No rule is in force{': ' if said else ''}{', '.join(said)}.{more}"


def _unjudged_pages(trials: Sequence[Ended]) -> Iterator[str]:
    """A sentence on the pages that fetches could not judge."""
    silent = [template for site in trials for template in site.silent]
    if silent:
        yield (
            f"Fetching could not judge {_list_names(silent)}: these pages change at each fetch, or stand behind a login or a "
            "check. The log alone judges rules about them."
        )


def _list_names(names: Sequence[str]) -> str:
    """The first few of *names*, and the number of the others."""
    more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return " · ".join(names[:_NAMED]) + more
