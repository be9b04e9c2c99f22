"""Describes several rules together if they say one thing: "the parameters sid, utm_source" for two rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from scrapy_dust.rules.guards import guard_in_words as said_of
from scrapy_dust.rules.rule import Rule

_LEFT_OUT = " → (left out)"


class Kind(StrEnum):
    """A way in which a rule makes URLs equal, as a heading over the rules that do so."""

    PARAMETERS = "the parameters"
    VALUES = "the values of"
    PARTS = "left out"
    OTHERS = "taken for one"


def kind_of(rule: Rule) -> Kind:
    """The heading in a report under which *rule* belongs, such as "parameters"."""
    if all(_drops_a_parameter(rule, place) for place in range(len(rule.operations))):
        return Kind.PARAMETERS
    if all((one.slot or "").startswith("?") for one in rule.operations):
        return Kind.VALUES
    return Kind.PARTS if str(rule.unguarded).endswith(_LEFT_OUT) else Kind.OTHERS


def _drops_a_parameter(rule: Rule, place: int) -> bool:
    """Whether the operation of *rule* at *place* leaves out a parameter, whatever its value."""
    one = rule.operations[place]
    return Rule.of(one).dropped_parameter is not None


def name_of(rule: Rule) -> str:
    """*rule* in short, for a reader who knows its heading: "sid", "last slash", ".php3? → ?"."""
    if kind_of(rule) in (Kind.PARAMETERS, Kind.VALUES):
        text = ", ".join(dict.fromkeys(one.parameter or one.detail for one in rule.operations))
    else:
        text = str(rule.unguarded).removesuffix(_LEFT_OUT)
    return f"{text}, where {said_of(rule.guard)}" if rule.guard else text


def grouped_rules(rules: Iterable[Rule]) -> dict[Kind, list[Rule]]:
    """*rules* in groups by what they do, such as parameters left out, in a fixed order and none of them empty."""
    found: dict[Kind, list[Rule]] = {kind: [] for kind in Kind}
    for rule in rules:
        found[kind_of(rule)].append(rule)
    return {kind: of_kind for kind, of_kind in found.items() if of_kind}


def phrases_of(rules: Sequence[Rule], most: int) -> list[str]:
    """*rules* as phrases: parameters named in one phrase, *most* names in each, and every other rule as it is written,
    as are rules for one part of a site.
    """
    phrases = []
    for kind, of_kind in grouped_rules(rules).items():
        names = list(dict.fromkeys(name_of(rule) for rule in of_kind if not rule.guard))
        if kind not in (Kind.PARAMETERS, Kind.VALUES):
            phrases += [str(rule) for rule in of_kind]
            continue
        if names:
            more = f" and {len(names) - most} more" if len(names) > most else ""
            said = kind.removesuffix("s") if kind is Kind.PARAMETERS and len(names) == 1 else kind
            phrases.append(f"{said} {', '.join(names[:most])}{more}")
        phrases += [str(rule) for rule in of_kind if rule.guard]
    return phrases
