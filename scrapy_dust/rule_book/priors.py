"""Prior beliefs about edits: how often edits of each kind proved right, site by site.

The beliefs in the package were counted on crawls of real web applications by ``python -m benchmarks.priors``; the
file lists these. A project's own sites add to a file of state beside its logs, which counts before the package's. The
file has names of parameters and counts, no URLs. A damaged file is no error: it is begun anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from functools import cache
from importlib.resources import files as resources
from os import PathLike, fspath
from pathlib import Path

from scrapy_dust.errors import RuleBookError
from scrapy_dust.propose.edits.pooling import Pool, Tallies, Tally
from scrapy_dust.rule_book import files
from scrapy_dust.rule_book.shards import Shard
from scrapy_dust.rules.blocks import Block, Damaged, dump_json, load_json

FORMAT = 1
FILE = "priors.json"

#: Sites that are kept, the newest, of kinds the most telling: some 2 MB.
_SITES, _KINDS = 500, 100


@cache
def shipped() -> Pool:
    """The prior beliefs about edits that come with the package."""
    return _parse((resources("scrapy_dust.rule_book") / FILE).read_bytes())


def own(state: str | PathLike[str]) -> Pool:
    """Read the project's own prior beliefs: how often edits proved right on its sites. Empty where the file is missing
    or damaged.
    """
    return _read(_path(state))


def _read(path: Path) -> Pool:
    try:
        content = files.read(fspath(path))
        return Pool({}) if content is None else _parse(content)
    except (Damaged, RuleBookError):
        return Pool({})


def known(state: str | PathLike[str] | None = None) -> Pool:
    """All prior beliefs about edits: those that come with the package, and those of the project's own sites. *state*:
    the folder of the project's state.
    """
    return shipped() if state is None else shipped() | own(state)


def remember(state: str | PathLike[str], site: str, tallies: Tallies, *, shard: Shard | None = None) -> None:
    """Save the evidence about edits that *site* gave, in the place of its earlier evidence. Raises `RuleBookError`.

    A *shard* saves it in a file of its own until `take_in`: a shard that begins later must not know more than the
    others.
    """
    path = _path(state, shard)
    files.make_folder(path.parent)
    with files.lock(fspath(path)) as file:
        _add(file, {site: tallies})


def take_in(state: str | PathLike[str], shard: Shard) -> None:
    """Add the evidence that *shard* has saved apart to the project's file of prior beliefs. Raises `RuleBookError`."""
    path = _path(state, shard)
    found = _read(path).sites
    if found:
        with files.lock(fspath(_path(state))) as file:
            _add(file, found)
        path.unlink(missing_ok=True)


def _path(state: str | PathLike[str], shard: Shard | None = None) -> Path:
    path = Path(state) / FILE
    return path if shard is None else Path(shard.of_path(path))


def _add(file: Path, found: Mapping[str, Tallies]) -> None:
    before = {name: kinds for name, kinds in _read(file).sites.items() if name not in found}
    newest = dict([*before.items(), *found.items()][-_SITES:])
    files.replace(file, content_of(newest))


def content_of(sites: Mapping[str, Tallies], sources: Mapping[str, object] | None = None) -> bytes:
    """The bytes of a file with the evidence of these sites. *sources*: the crawl that each site was
    counted on.
    """
    rows: dict[str, object] = {}
    for site, tallies in sites.items():
        kinds = {kind: _row(tallies[kind]) for kind in sorted(_telling(tallies))}
        rows[site] = {"from": (sources or {}).get(site), "kinds": kinds}
    return dump_json({"format": FORMAT, "sites": rows}, indent=1 if sources else None)


def _telling(tallies: Tallies) -> list[str]:
    found = [kind for kind, tally in tallies.items() if tally.laws or tally.accidents or "→" in kind]
    return sorted(found, key=lambda kind: (-tallies[kind].held - tallies[kind].failed, kind))[:_KINDS]


def _row(tally: Tally) -> list[float]:
    return [round(value, 4) for value in astuple(tally)]


def _parse(content: bytes) -> Pool:
    file = Block(load_json(content), "the file")
    found = file.count("format")
    if found != FORMAT:
        raise Damaged(f"it has format {found}; this version reads {FORMAT}")
    sites = Block(file.take("sites"), "'sites'")
    return Pool({site: _of_site(Block(sites.take(site), repr(site))) for site in list(sites.rest())})


def _of_site(block: Block) -> Tallies:
    kinds = Block(block.take("kinds"), "'kinds'")
    return {kind: _tally(kinds.items(kind)) for kind in list(kinds.rest())}


def _tally(row: list[object]) -> Tally:
    match row:
        case [
            int(laws),
            int(accidents),
            int() | float() as shares,
            int(held),
            int(failed),
            int() | float() as saved,
        ]:
            return Tally(laws, accidents, shares, held, failed, saved)
        case _:
            raise Damaged("one of its rows has no counts")
