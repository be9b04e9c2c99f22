"""The evidence that crawls have found about rules on probation, in a file of state, so that the next crawl goes on."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from os import PathLike

from scrapy_dust.believe.probation_proof import Proof
from scrapy_dust.rule_book.state_files import StateFile
from scrapy_dust.rules.strict_json import Block

#: The evidence of one site by rule id.
Proofs = Mapping[str, Proof]

#: Rules that are kept, the newest.
_RULES = 5000
_HASH = re.compile(r"[0-9a-f]{16}")


def known_proofs(state: str | PathLike[str]) -> dict[str, dict[str, Proof]]:
    """The evidence by site and rule id, as far as it can be read. *state*: the folder of the project's state."""
    return _FILE.read_values(state)[0]


def save_proofs(
    state: str | PathLike[str], proofs: Mapping[str, Proofs], decided: Collection[tuple[str, str]] = ()
) -> None:
    """Add *proofs* to the evidence of other crawls, and remove that of *decided* rules. Raises `RuleBookError`."""

    def added(known: dict[str, dict[str, Proof]]) -> dict[str, dict[str, Proof]]:
        """The evidence *known* with the new one added, of the newest rules that are not decided."""
        rows = {(site, name): one for site, of in known.items() for name, one in of.items()}
        for site, of_site in proofs.items():
            for name, proof in of_site.items():
                before = rows.pop((site, name), None)
                rows[site, name] = proof if before is None else joined_proof(before, proof)
        sites: dict[str, dict[str, Proof]] = {}
        for (site, name), proof in [(key, one) for key, one in rows.items() if key not in decided][-_RULES:]:
            sites.setdefault(site, {})[name] = proof
        return sites

    _FILE.change(state, added)


def joined_proof(one: Proof, other: Proof) -> Proof:
    """The evidence of two crawls together. The later crawl may have begun with the evidence of the earlier one."""
    where = dict(one.where)
    for aspect, contents in other.where.items():
        where[aspect] = _larger_counts(where.get(aspect, {}), contents)
    return Proof(
        _larger_counts(one.contents, other.contents),
        _larger_counts(one.together, other.together),
        where,
        max(one.wrong, other.wrong),
        max(one.silent, other.silent),
        max(one.unsure, other.unsure),
    )


def _larger_counts(one: Mapping[int, int], other: Mapping[int, int]) -> dict[int, int]:
    """The larger of two counts for each content."""
    return {content: max(one.get(content, 0), other.get(content, 0)) for content in (*one, *other)}


def _proof_json(proof: Proof) -> dict[str, object]:
    return {
        "contents": _contents_json(proof.contents),
        "together": _contents_json(proof.together),
        "where": {aspect: _contents_json(contents) for aspect, contents in proof.where.items()},
        "wrong": proof.wrong,
        "silent": proof.silent,
        "unsure": proof.unsure + proof.shared.total(),
    }


def _contents_json(contents: Mapping[int, int]) -> list[list[object]]:
    """A row for each content: its hash in hexadecimal digits, and its number of pairs."""
    return [[f"{content:016x}", pairs] for content, pairs in contents.items()]


def _parse_site(block: Block) -> dict[str, Proof]:
    return {name: _parse_proof(Block(block.take(name), repr(name))) for name in list(block.rest())}


def _parse_proof(block: Block) -> Proof:
    inner = Block(block.take("where"), f"{block.where}, 'where'")
    return Proof(
        _parse_contents(block, "contents"),
        _parse_contents(block, "together"),
        {aspect: _parse_contents(inner, aspect) for aspect in list(inner.rest())},
        max(0, block.count("wrong")),
        max(0, block.count("silent")),
        max(0, block.count("unsure")),
    )


def _parse_contents(block: Block, key: str) -> dict[int, int]:
    contents: dict[int, int] = {}
    for row in block.items(key):
        match row:
            case [str(content), int(pairs)] if pairs > 0 and _HASH.fullmatch(content):
                contents[int(content, 16)] = pairs
            case _:
                block.refuse(key, "hashes with counts", row)
    return contents


_FILE = StateFile(
    "probation.json",
    1,
    _parse_site,
    lambda of_site: {name: _proof_json(one) for name, one in of_site.items()},
    _RULES,
)
