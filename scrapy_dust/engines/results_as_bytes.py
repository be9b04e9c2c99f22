"""Writes the results of mining to bytes and reads them back. A result that would not come back unchanged is not written."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

from scrapy_dust.propose.dustbuster.elimination import Dropped, Elimination
from scrapy_dust.propose.dustbuster.likely_rules import LikelyParameter, LikelyRule
from scrapy_dust.propose.edits.edit_detection import Detected, LikelyEdit
from scrapy_dust.propose.edits.pooling import Tally
from scrapy_dust.rules.json_rules import content_of, rule_from
from scrapy_dust.rules.strict_json import Damaged
from scrapy_dust.rules.substitution import Substitute

#: Reasons for which bytes are no result.
UNREADABLE = (Damaged, KeyError, IndexError, TypeError, ValueError, zlib.error)


@dataclass(frozen=True, slots=True)
class Ruled:
    """The results of phases 1 to 3."""

    likely: Sequence[LikelyRule] = ()
    elimination: Elimination = field(default_factory=lambda: Elimination((), ()))
    parameters: Sequence[LikelyParameter] = ()


def rules_written(found: Ruled) -> bytes | None:
    """The results of phases 1 to 3 as bytes; None if they would not come back unchanged."""
    number = {one: i for i, one in enumerate(found.likely)}
    kept, dropped = found.elimination.kept, found.elimination.dropped
    if len(number) != len(found.likely) or not number.keys() >= {*kept, *(one.rule for one in dropped)}:
        return None
    content = packed(
        {
            "likely": [[*astuple(one.rule), one.support, one.wide_support] for one in found.likely],
            "kept": [number[one] for one in kept],
            "dropped": [[number[one.rule], number[one.because]] for one in dropped],
            "parameters": [
                [[content_of(rule) for rule in one.rules], one.support] for one in found.parameters
            ],
        }
    )
    as_read = Ruled(list(found.likely), found.elimination, list(found.parameters))
    return content if rules_read(content) == as_read else None


def rules_read(content: bytes) -> Ruled | None:
    """The results of phases 1 to 3 from *content*; None if `rules_written` has not written it."""
    try:
        file = unpacked(content)
        likely = [
            LikelyRule(Substitute(alpha, beta, start, end), support, wide)
            for alpha, beta, start, end, support, wide in file["likely"]
        ]
        elimination = Elimination(
            tuple(likely[i] for i in file["kept"]),
            tuple(Dropped(likely[i], likely[j]) for i, j in file["dropped"]),
        )
        parameters = [
            LikelyParameter(tuple(map(rule_from, rules)), support) for rules, support in file["parameters"]
        ]
    except UNREADABLE:
        return None
    return Ruled(likely, elimination, parameters)


def edits_written(found: Detected) -> bytes | None:
    """The results of learning edits as bytes; None if they would not come back unchanged."""
    content = packed(
        {
            "edits": [[content_of(one.rule), one.support, one.saves, one.weighed] for one in found.edits],
            "tallies": [[kind, astuple(tally)] for kind, tally in found.tallies.items()],
            "asked": [[question, said] for question, said in found.asked.items()],
        }
    )
    as_read = Detected(list(found.edits), found.tallies, found.asked)
    return content if edits_read(content) == as_read else None


def edits_read(content: bytes) -> Detected | None:
    """The edits in *content*; None if `edits_written` has not written it."""
    try:
        file = unpacked(content)
        return Detected(
            [LikelyEdit(rule_from(rule), *counts) for rule, *counts in file["edits"]],
            {kind: Tally(*counts) for kind, counts in file["tallies"]},
            {tuples(question): tuples(said) for question, said in file["asked"]},
        )
    except UNREADABLE:
        return None


def tuples(value: Any) -> Any:
    """*value* with a tuple in the place of each list, inside lists too."""
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def packed(value: object) -> bytes:
    """*value* as compressed JSON."""
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode("ascii"), 1)


def unpacked(content: bytes) -> dict[str, Any]:
    """The value that `packed` was given. Raises one of `UNREADABLE`."""
    value = json.loads(zlib.decompress(content))
    if not isinstance(value, dict):
        raise TypeError("no object")
    return value
