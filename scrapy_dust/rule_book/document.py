"""The JSON of a rule book: every value is checked on its way in; schema.json says the same to other programs.

What a rule does must be spelled out (``start`` and ``end`` too): a misspelt key must not make a rule wider.
Keys that are not ours are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.rules import ParameterRule, Rule, SubstringRule
from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book.blocks import Block, Damaged, dump_json, load_json
from scrapy_dust.rule_book.edits import edit_json, edit_of
from scrapy_dust.rule_book.entries import BOUNDS, COUNTS, Entry, Evidence, Examples, Status, rule_id

#: The newest that is read. What is written has the oldest one that can say it, so that programs that know no
#: edits go on reading books that have none.
FORMAT = 2
PLAIN_FORMAT = 1

_MEND = "Mend it there, put a good copy in its place, or delete the file to start anew."


@dataclass(frozen=True, slots=True)
class Document:
    """The content of one file."""

    sites: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    extra: Mapping[str, object] = field(default_factory=dict)  #: keys of the file that are not ours
    site_extra: Mapping[str, Mapping[str, object]] = field(default_factory=dict)  #: the same of each site


def parse(path: str, content: bytes) -> Document:
    """The book in *content*; *path* is for the sentence in which `RuleBookError` says what is wrong."""
    try:
        book = Block(load_json(content), "the file")
        _check_format(book)
        book.take("generator", None)
        sites: dict[str, tuple[Entry, ...]] = {}
        site_extra: dict[str, dict[str, object]] = {}
        for site, value in Block(book.take("sites"), "'sites'").rest().items():
            sites[site], unknown = _site(site, value)
            if unknown:
                site_extra[site] = unknown
        return Document(sites, book.rest(), site_extra)
    except _NewerFormat as newer:
        raise RuleBookError(
            path, f"has format {newer}; this version reads up to {FORMAT}. Upgrade scrapy-dust."
        ) from None
    except Damaged as damaged:
        raise RuleBookError(path, f"{damaged}. {_MEND}") from None


def render(document: Document, generator: str) -> bytes:
    """*document* as a file: sites sorted, rules in the order they are applied."""
    sites = {
        site: {"rules": [entry_json(site, entry) for entry in document.sites[site]]}
        | _unknown(document.site_extra.get(site, {}), {"rules"})
        for site in sorted(document.sites)
    }
    has_edits = any(isinstance(entry.rule, Edit) for of_site in document.sites.values() for entry in of_site)
    book = {"format": FORMAT if has_edits else PLAIN_FORMAT, "generator": generator, "sites": sites}
    return dump_json(book | _unknown(document.extra, book), indent=2)


def entry_json(site: str, entry: Entry) -> dict[str, Any]:
    """One rule as it stands in a rule book."""
    known: dict[str, Any] = {"id": rule_id(site, entry.rule)} | rule_json(entry.rule)
    known["status"] = str(entry.status)
    for key in ("reason", "comment"):
        if getattr(entry, key) is not None:
            known[key] = getattr(entry, key)
    known["evidence"] = _evidence_json(entry)
    return known | _unknown(entry.extra, known)


def rule_json(rule: Rule) -> dict[str, Any]:
    if isinstance(rule, Edit):
        return edit_json(rule)
    if isinstance(rule, ParameterRule):
        return {"kind": "parameter", "name": rule.name, "value": rule.value}
    return {"kind": "substring", "alpha": rule.alpha, "beta": rule.beta, "start": rule.start, "end": rule.end}


def _evidence_json(entry: Entry) -> dict[str, Any]:
    evidence = entry.evidence
    known: dict[str, Any] = {name: getattr(evidence, name) for name in COUNTS}
    known |= {name: getattr(evidence, name) for name in BOUNDS}
    known["first_validated"] = evidence.first_validated
    known["last_validated"] = evidence.last_validated
    known["logs"] = list(evidence.logs)
    known["examples"] = [list(pair) for pair in evidence.examples]
    return known | _unknown(entry.evidence_extra, known)


def _unknown(extra: Mapping[str, object], known: Mapping[str, object] | set[str]) -> dict[str, object]:
    return {key: value for key, value in extra.items() if key not in known}


class _NewerFormat(Exception):
    """Its format is none that this version knows."""


def _check_format(book: Block) -> None:
    found = book.count("format")
    if found > FORMAT:
        raise _NewerFormat(found)
    if found < 1:
        raise Damaged(f"'format' must be a number from 1 to {FORMAT}, got {found}")


def _site(site: str, value: object) -> tuple[tuple[Entry, ...], dict[str, object]]:
    where = f"site {site!r}"
    block = Block(value, where)
    entries: dict[Rule, Entry] = {}
    for number, one in enumerate(block.items("rules"), start=1):
        entry = _entry(site, Block(one, f"{where}, rule {number}"))
        if entry.rule in entries:
            raise Damaged(f"{where}, rule {number}: the same rule stands above; keep one of them")
        entries[entry.rule] = entry
    return tuple(entries.values()), block.rest()


def _entry(site: str, block: Block) -> Entry:
    given_id = block.maybe_text("id")
    rule = _rule(block)
    status = block.choice("status", tuple(Status))
    reason, comment = block.maybe_text("reason"), block.maybe_text("comment")
    inner = Block(block.take("evidence", {}), f"{block.where}, 'evidence'")
    try:
        evidence = _evidence(inner)
        entry = Entry(rule, Status(status), evidence, reason, comment, block.rest(), inner.rest())
    except Damaged:
        raise
    except ValueError as error:
        raise Damaged(f"{block.where}: {error}") from None
    if given_id is not None and given_id != rule_id(site, rule):
        # An entry edited into another rule would carry evidence that is not the new rule's.
        raise Damaged(
            f"{block.where}: 'id' {given_id!r} is another rule's; this one's would be {rule_id(site, rule)!r},"
            " and its evidence its own"
        )
    return entry


def _rule(block: Block) -> Rule:
    kind = block.choice("kind", ("substring", "parameter", "edit"))
    if kind == "edit":
        return edit_of(block)
    if kind == "parameter":
        return ParameterRule(block.text("name"), block.maybe_text("value", required=True))
    return SubstringRule(
        block.text("alpha"), block.text("beta"), start=block.switch("start"), end=block.switch("end")
    )


def _evidence(block: Block) -> Evidence:
    return Evidence(
        **{name: block.count(name, 0) for name in COUNTS},
        loss_bound=block.maybe_number("loss_bound"),
        unseen_bound=block.maybe_number("unseen_bound"),
        examples=_examples(block),
        first_validated=block.maybe_text("first_validated"),
        last_validated=block.maybe_text("last_validated"),
        logs=tuple(block.strings("logs", block.items("logs", []))),
    )


def _examples(block: Block) -> Examples:
    pairs: list[tuple[str, str]] = []
    for pair in block.items("examples", []):
        if not isinstance(pair, list) or len(pair) != 2:
            block.wrong("examples", "a list of pairs of URLs", pair)
        a, b = block.strings("examples", pair)
        pairs.append((a, b))
    return tuple(pairs)
