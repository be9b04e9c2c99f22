"""The evidence that crawls have found about rules on probation, in a file of state, so that the next crawl goes on."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from os import PathLike

from scrapy_dust.believe.probation_proof import Proof
from scrapy_dust.rule_book.state_files import StateFile
from scrapy_dust.rules.strict_json import Block

#: Of one site, by the ids of the rules.
Proofs = Mapping[str, Proof]

#: Rules that are kept, the newest.
_RULES = 5000
_HASH = re.compile(r"[0-9a-f]{16}")


def known(state: str | PathLike[str]) -> dict[str, dict[str, Proof]]:
    """The results by site, as far as the file can be read. *state*: the folder of the project's state."""
    return _FILE.known(state)[0]


def remember(
    state: str | PathLike[str], proofs: Mapping[str, Proofs], decided: Collection[tuple[str, str]] = ()
) -> None:
    """Add *proofs* to the results of other crawls, and remove those of *decided* rules. Raises `RuleBookError`."""

    def added(known: dict[str, dict[str, Proof]]) -> dict[str, dict[str, Proof]]:
        rows = {(site, name): one for site, of in known.items() for name, one in of.items()}
        for site, of_site in proofs.items():
            for name, proof in of_site.items():
                before = rows.pop((site, name), None)
                rows[site, name] = proof if before is None else joined(before, proof)
        sites: dict[str, dict[str, Proof]] = {}
        for (site, name), proof in [(key, one) for key, one in rows.items() if key not in decided][-_RULES:]:
            sites.setdefault(site, {})[name] = proof
        return sites

    _FILE.change(state, added)


def joined(one: Proof, other: Proof) -> Proof:
    """The results of two crawls together. The later crawl may have begun with the results of the earlier one."""
    where = dict(one.where)
    for aspect, contents in other.where.items():
        where[aspect] = _most(where.get(aspect, {}), contents)
    return Proof(
        _most(one.contents, other.contents),
        _most(one.together, other.together),
        where,
        max(one.wrong, other.wrong),
        max(one.silent, other.silent),
        max(one.unsure, other.unsure),
    )


def _most(one: Mapping[int, int], other: Mapping[int, int]) -> dict[int, int]:
    return {content: max(one.get(content, 0), other.get(content, 0)) for content in (*one, *other)}


def _row(proof: Proof) -> dict[str, object]:
    return {
        "contents": _counted(proof.contents),
        "together": _counted(proof.together),
        "where": {aspect: _counted(contents) for aspect, contents in proof.where.items()},
        "wrong": proof.wrong,
        "silent": proof.silent,
        "unsure": proof.unsure + proof.shared.total(),
    }


def _counted(contents: Mapping[int, int]) -> list[list[object]]:
    return [[f"{content:016x}", pairs] for content, pairs in contents.items()]


def _of_site(block: Block) -> dict[str, Proof]:
    return {name: _proof(Block(block.take(name), repr(name))) for name in list(block.rest())}


def _proof(block: Block) -> Proof:
    inner = Block(block.take("where"), f"{block.where}, 'where'")
    return Proof(
        _contents(block, "contents"),
        _contents(block, "together"),
        {aspect: _contents(inner, aspect) for aspect in list(inner.rest())},
        max(0, block.count("wrong")),
        max(0, block.count("silent")),
        max(0, block.count("unsure")),
    )


def _contents(block: Block, key: str) -> dict[int, int]:
    contents: dict[int, int] = {}
    for row in block.items(key):
        match row:
            case [str(content), int(pairs)] if pairs > 0 and _HASH.fullmatch(content):
                contents[int(content, 16)] = pairs
            case _:
                block.refuse(key, "hashes with counts", row)
    return contents


_FILE = StateFile(
    "probation.json", 1, _of_site, lambda of_site: {name: _row(one) for name, one in of_site.items()}, _RULES
)
