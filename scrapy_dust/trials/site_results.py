"""The result of a site's mining and trials as bytes, and back, so that `taking_over` finds it in a later run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any

from scrapy_dust.believe.admission import Bounds
from scrapy_dust.believe.decisions import Decision
from scrapy_dust.believe.unseen_loss import Witnesses
from scrapy_dust.believe.validation import Tally, Verdict
from scrapy_dust.engines.figures import Figures
from scrapy_dust.engines.results_as_bytes import UNREADABLE, packed, tuples, unpacked
from scrapy_dust.propose.edits import pooling
from scrapy_dust.propose.edits.pooling import Answers, Tallies
from scrapy_dust.rules.json_rules import content_of, rule_from
from scrapy_dust.trials.ended import Ended


@dataclass(frozen=True, slots=True)
class SiteResult:
    """The result of mining and trying one site, which a later run may take over."""

    figures: Figures
    tallies: Tallies  #: what it shows of edits, for other sites
    asked: Answers  #: what other sites were asked, and said
    names: Sequence[tuple[int, str | None]]  #: of the places of its pages
    changes: bool  #: its pages have places that change
    said: str | None  #: a digest of its log (`rest.said_by`); None: nobody looked
    ended: Ended | None  #: None: it had nothing to try, or it could be fetched


def result_to_bytes(found: SiteResult) -> bytes | None:
    """*found* as bytes; None if it would not come back unchanged. Without the URLs and the names of places of the
    trials' end.
    """
    ended = found.ended
    if ended is not None:
        ended = replace(ended, urls=(), names={})
    content = packed(
        {
            "figures": {**asdict(found.figures), "taken_over": []},
            "tallies": [[kind, astuple(tally)] for kind, tally in found.tallies.items()],
            "asked": list(found.asked.items()),
            "names": found.names,
            "changes": found.changes,
            "said": found.said,
            "ended": None if ended is None else _ended_row(ended),
        }
    )
    return content if result_from_bytes(content) == replace(found, ended=ended) else None


def result_from_bytes(content: bytes) -> SiteResult | None:
    """The result of which `result_to_bytes` made *content*; None if *content* is something else."""
    try:
        file = unpacked(content)
        return SiteResult(
            Figures(**file["figures"] | {"taken_over": frozenset()}),
            {kind: pooling.Tally(*counts) for kind, counts in file["tallies"]},
            {tuples(question): tuples(said) for question, said in file["asked"]},
            tuples(file["names"]),
            file["changes"],
            file["said"],
            None if file["ended"] is None else _ended_from_row(file["ended"]),
        )
    except UNREADABLE:
        return None


#: Fields of the trials' end that are written as they are.
_PLAIN = (
    *("site", "remaining", "redundant", "lost_at_most", "silent", "is_cut_short", "is_by_log", "is_settled"),
    *("standing", "given_up"),
)


def _ended_row(ended: Ended) -> dict[str, Any]:
    """The end of a site's trials as JSON has it."""
    return {name: getattr(ended, name) for name in _PLAIN} | {
        "decisions": [_decision_row(one) for one in ended.decisions]
    }


def _ended_from_row(row: Mapping[str, Any]) -> Ended:
    """The end of a site's trials in *row*."""
    plain = {name: tuples(row[name]) for name in _PLAIN}
    return Ended(**plain, decisions=tuple(_decision_from_row(one) for one in row["decisions"]))


def _decision_row(one: Decision) -> dict[str, Any]:
    """One decision as JSON has it."""
    return {
        "rule": content_of(one.rule),
        "verdict": str(one.verdict),
        "support": one.support,
        "tally": astuple(one.tally),
        "saves": one.saves,
        "examples": one.examples,
        "fetches": one.fetches,
        "bounds": None if one.bounds is None else astuple(one.bounds),
        "why": one.why,
        "witnesses": astuple(one.witnesses),
        "shown": one.shown,
    }


def _decision_from_row(row: Mapping[str, Any]) -> Decision:
    """The decision in *row*."""
    return Decision(
        rule=rule_from(row["rule"]),
        verdict=Verdict(row["verdict"]),
        support=row["support"],
        tally=Tally(*row["tally"]),
        saves=row["saves"],
        examples=tuples(row["examples"]),
        fetches=row["fetches"],
        bounds=None if row["bounds"] is None else Bounds(*row["bounds"]),
        why=row["why"],
        witnesses=Witnesses(*row["witnesses"]),
        shown=row["shown"],
    )
