"""Descriptions of operations for other programs and for people: a JSON Schema, and a line of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from scrapy_dust.rules.captures import CLASS_NAMES
from scrapy_dust.rules.operation import Operation

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
