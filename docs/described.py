"""What the docs alone say of the code: the headings of settings, and each operation as a JSON Schema and as a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from scrapy_dust.rules.captures import CLASS_NAMES
from scrapy_dust.rules.operation import Operation
from scrapy_dust.settings import DustSettings

#: Fields of the settings that most users touch, in the order in which a new user meets them.
FIRST = (
    "mode",
    "learn",
    "rules",
    "traps",
    "known",
    "validation_budget",
    "ignore",
    "same",
    "content_dedup",
)

#: The heading of `FIRST`.
FIRST_HEADING = "The nine that users touch"
#: The heading of settings that no other heading claims.
_OTHERS = "Rules in a crawl"
#: Headings of the other settings, each with beginnings of the names of its fields.
_BY_BEGINNING = {
    "The crawl log and the journal": ("log_", "journal", "metrics_", "live_", "enabled"),
    "Trust in rules": ("max_loss", "max_risk", "max_age", "canary_"),
    _OTHERS: (),
    "Content seen under another URL": ("content_",),
    "Pages that earlier crawls have taken": ("known",),
    "Validation": ("validation_", "render_meta", "never_probe"),
    "Mining": ("learner", "network", "memory_", "similar", "sketch_"),
    "The papers' parameters": (),
    "Many workers over Redis": ("redis_",),
    "Components that scrapy-dust wraps": ("fallback_",),
}


def groups() -> dict[str, list[str]]:
    """The names of all fields of `DustSettings` under their headings; each field stands under one heading."""
    found: dict[str, list[str]] = {FIRST_HEADING: list(FIRST), **{heading: [] for heading in _BY_BEGINNING}}
    for spec in fields(DustSettings):
        if spec.name not in FIRST:
            found[_heading_of(spec.name, spec.metadata["symbol"])].append(spec.name)
    return found


def _heading_of(name: str, symbol: str | None) -> str:
    if symbol is not None:
        return "The papers' parameters"
    return next((heading for heading, all_of in _BY_BEGINNING.items() if name.startswith(all_of)), _OTHERS)


_FORM: Mapping[str, Any] = {"type": "array", "items": {"type": ["string", "integer"]}}
#: By the annotation of an operation's field.
_OF_TYPE: Mapping[str, Mapping[str, Any]] = {
    "str": {"type": "string"},
    "str | None": {"type": ["string", "null"]},
    "bool": {"type": "boolean"},
    "int": {"type": "integer", "not": {"const": 0}},
    "tuple[str, ...]": {"type": "array", "items": {"type": "string"}},
    "frozenset[str]": {"type": "array", "items": {"type": "string"}},
    "Form": _FORM,
}


def schema_of(kind: type[Operation]) -> dict[str, Any]:
    """The JSON Schema of operations of *kind*."""
    properties: dict[str, Any] = {"do": {"const": kind.do}}
    for spec in fields(cast("Any", kind)):
        found = dict(_OF_TYPE[str(spec.type)])
        if spec.name == "classes":
            found["items"] = {"enum": list(CLASS_NAMES)}
        elif spec.name not in kind.may_be_empty and found["type"] in ("string", "array"):
            found["minLength" if found["type"] == "string" else "minItems"] = 1
        properties[spec.name] = found
    return {
        "description": meaning(kind),
        "required": list(properties),
        "properties": properties,
        "additionalProperties": False,
    }


def meaning(kind: type[Operation]) -> str:
    """A sentence that says what operations of *kind* do."""
    return " ".join((kind.__doc__ or "").partition("\n\n")[0].split())
