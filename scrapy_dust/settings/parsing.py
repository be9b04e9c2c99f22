"""Reads a project's ``DUST_…`` settings.

An unknown name or an impossible value stops the crawl with a sentence; a typo must not silently switch a feature off.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import Field
from typing import Any

from scrapy_dust.settings.parsers import WrongValue

PREFIX = "DUST_"


def setting_name(field_name: str) -> str:
    """The name of the setting for a field of `DustSettings`."""
    return PREFIX + field_name.upper()


def parsed_values(table: Iterable[Field[Any]], given: Mapping[str, object]) -> dict[str, Any]:
    """The values of the settings that are *given* by name, parsed by *table*, the fields of `DustSettings`; by field
    name. Raises `ValueError` with one sentence for a wrong name or value.
    """
    specs = tuple(table)
    known = {setting_name(spec.name): spec for spec in specs}
    symbols = {PREFIX + spec.metadata["symbol"]: spec for spec in specs if spec.metadata["symbol"]}
    values: dict[str, Any] = {}
    for name, value in given.items():
        spec = known.get(name) or symbols.get(name)
        if spec is None:
            raise ValueError(_message_for_unknown(name, known))
        if spec.name in values:
            said = f"{setting_name(spec.name)} is given twice, also as {PREFIX}{spec.metadata['symbol']}."
            raise ValueError(f"{said} Keep one of the two.")
        if value is None and spec.default is None:
            continue
        try:
            values[spec.name] = spec.metadata["parse"](value)
        except WrongValue as wrong:
            raise ValueError(f"{name} must be {wrong}, got {value!r}.") from None
    return values


def _message_for_unknown(name: str, known: Mapping[str, object]) -> str:
    """The error message for *name*, which is no setting, with the *known* name that is most like it."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    return f"{name} is not a setting of scrapy-dust. Did you mean {near[0]}? docs/settings.md lists them all."
