"""What ``scrapy dustmine`` prints at its end: rules, what was decided about them, and what took how long."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from scrapy_dust.commands.tables import table
from scrapy_dust.dust.admission import Bounds
from scrapy_dust.dust.campaign import Decision
from scrapy_dust.dust.rules import LikelyRule, anchored
from scrapy_dust.dust.validation import Verdict
from scrapy_dust.engines.laps import Lap, Laps, in_all
from scrapy_dust.engines.local import Mined
from scrapy_dust.rule_book.entries import rule_content, rule_id
from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.site_trials import SiteTrials


def phases_of(mined: Sequence[Mined], clock: Laps) -> dict[str, Lap]:
    """In their order; those of mining over all sites."""
    phases = {"read": clock.laps["read"]}
    for one in mined:
        phases = in_all(phases, one.laps)
    return phases | {phase: clock.laps[phase] for phase in ("validate", "write") if phase in clock.laps}


def print_rules(mined: Sequence[Mined], phase: str, *, as_json: bool) -> None:
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


def print_result(
    mined: Sequence[Mined],
    trials: Sequence[SiteTrials],
    fetches: int,
    settings: DustSettings,
    phases: Mapping[str, Lap],
    *,
    written: bool,
    as_json: bool,
) -> None:
    decisions = [(site.site, decision) for site in trials for decision in site.campaign.decisions]
    valid = [(site, one) for site, one in decisions if one.verdict is Verdict.VALID]
    summary = {
        "sites": len(mined),
        "taken_over": sum(one.is_taken_over for one in mined),
        "pages": sum(len(one.log.pages) for one in mined),
        "likely": sum(len(one.likely) for one in mined),
        "kept": sum(len(one.elimination.kept) for one in mined),
        "parameters": sum(len(one.parameters) for one in mined),
        "edits": sum(len(one.edits) for one in mined),
        "valid": len(valid) + sum(site.standing for site in trials),
        "refuted": sum(one.verdict is Verdict.REFUTED for _, one in decisions),
        "undecided": sum(one.verdict is Verdict.UNDECIDED for _, one in decisions)
        + sum(site.campaign.remaining for site in trials),
        "redundant": sum(len(site.campaign.redundant) for site in trials),
        "fetches": fetches,
        "lost_at_most": sum(site.campaign.lost_at_most for site in trials),
        "rules": settings.rules[0] if written else None,
    }
    if as_json:
        told = [_decision_json(site, decision) for site, decision in decisions]
        took = [{"phase": phase, **asdict(lap)} for phase, lap in phases.items()]
        print(json.dumps({**summary, "decisions": told, "phases": took}, ensure_ascii=False))
        return
    if valid:
        rows = [_decision_row(site, decision) for site, decision in valid]
        heads = ["id", "site", "rule", "saves", "same", "from log", "fetches", "wrong ≤", "unseen ≤"]
        print(table(heads, rows, right=set(range(3, len(heads))), spare=[6, 5, 4]))
        print()
    print(
        "{pages} pages of {sites} sites: {likely} likely rules, {kept} kept, {parameters} parameters, "
        "{edits} edits; {valid} valid, {refuted} refuted, {undecided} undecided, {redundant} redundant; {fetches} fetches.".format(
            **summary
        )
    )
    if valid:
        print(
            "Of these pages at most {lost_at_most} are suppressed wrongly (95 %, site by site).".format(
                **summary
            )
        )
    standing = [site for site in trials if site.standing]
    if standing:
        names = ", ".join(site.site for site in standing)
        print(f"Nothing is new since they were mined, so their rules stay as they are: {names}.")
    print(f"Rule book: {settings.rules[0]}" if written else "Nothing written.")


def _decision_row(site: str, decision: Decision) -> list[str]:
    tally = decision.tally
    return [
        rule_id(site, decision.rule),
        site,
        str(decision.rule),
        str(decision.saves),
        str(tally.positive),
        str(tally.from_log),
        str(decision.fetches),
        *_bounds_row(decision.bounds),
    ]


def _bounds_row(bounds: Bounds | None) -> list[str]:
    return ["", ""] if bounds is None else [str(bounds.wrong), f"{bounds.unseen:.1%}"]


def _decision_json(site: str, decision: Decision) -> dict[str, object]:
    tally = decision.tally
    return {
        "id": rule_id(site, decision.rule),
        "site": site,
        "rule": rule_content(decision.rule),
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
        "examples": decision.examples,
    }


def profile_table(took: Mapping[str, Lap]) -> str:
    """How long each phase took, and what memory there was at its end."""
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
