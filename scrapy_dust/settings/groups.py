"""The groups in which the documentation lists the settings: the nine that users touch, then the others by their subject."""

from __future__ import annotations

from dataclasses import fields

from scrapy_dust.settings.table import DustSettings

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
