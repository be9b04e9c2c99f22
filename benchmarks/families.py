"""Generated sites of every family of pages that must be told apart, or be seen to be one: what is lost, and what is saved.

    python -m benchmarks.families [NAME …] [--seeds 1] [--first 0] [--json] [--list]

Each site is crawled plainly (the oracle), recorded, mined by ``scrapy dustmine``, and crawled in each mode: *rules* with what was
mined, *online* with ``DUST_LEARN = "online"``, *again* with what *online* has learned, *drop* with ``DUST_CONTENT_DEDUP = "drop"``.
In each mode a cell has the items lost, which must be 0, and the requests. *joined* are URLs beyond one of each page that the rules
take for the page they show, of those there are; *wrongly* are pages that the rules take for another page, whether or not the
crawl lost them. A site whose page must be seen to be one should have all of them joined, after 60 fetches at most.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from tests.families.apart import APART
from tests.families.one import ONE
from tests.families.running import FAMILIES, MODES, Result, result_of

#: Validation fetches after which the rules of a site should be known.
FETCHES = 60
#: Share of the further URLs of its pages that they should then join.
JOINED = 0.9
_TITLES = [
    "family",
    "seed",
    "pages",
    "plain",
    *MODES,
    "fetches",
    "joined",
    "online j",
    "wrongly",
    "online w",
    "",
]


def fails(result: Result) -> list[str]:
    """What is wrong with a result, in words."""
    said = [f"{mode} loses {lost}" for mode, lost in result.lost.items() if lost]
    # Pages of one text for two callbacks have one key; the crawl tells them apart by the callback.
    if result.family != "callbacks":
        said += [f"{mode} merges {wrong} wrongly" for mode, wrong in result.wrongly.items() if wrong]
    if not result.told_apart:
        said.append("the plain crawl does not get what the site has: the generator is wrong")
    if result.family in ONE and result.joined["rules"] < JOINED * result.aliases:
        said.append("not all seen to be one")
    if result.family in ONE and result.fetches > FETCHES:
        said.append(f"{result.fetches} fetches")
    return said


def cells(result: Result) -> list[str]:
    crawls = [f"{result.lost[mode]} · {result.requests[mode]}" for mode in MODES]
    joined = [f"{result.joined[mode]}/{result.aliases}" for mode in ("rules", "online")]
    wrongly = [str(result.wrongly[mode]) for mode in ("rules", "online")]
    numbers = [str(result.seed), str(result.pages), str(result.requests["plain"])]
    first = [result.family, *numbers, *crawls, str(result.fetches)]
    return [*first, joined[0], joined[1], wrongly[0], wrongly[1], "; ".join(fails(result)) or "ok"]


def row(values: Sequence[str]) -> str:
    widths = [18, 4, 5, 5, 9, 9, 9, 9, 7, 7, 8, 7, 8]
    first, *others = values
    padded = [first.ljust(widths[0]), *(cell.rjust(n) for cell, n in zip(others, widths[1:], strict=False))]
    return f"| {' | '.join([*padded, *others[len(widths) - 1 :]])} |"


def results(names: Sequence[str], seeds: range) -> Iterator[Result | str]:
    """The result of each site, or why there is none."""
    for name in names:
        for seed in seeds:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    yield result_of(name, seed, Path(folder))
                except (RuntimeError, OSError, ValueError, subprocess.TimeoutExpired) as failed:
                    yield f"{name} {seed}: {failed}"


def summary(found: Sequence[Result], errors: int, seconds: float) -> str:
    lines = []
    for title, names in (("told apart", APART), ("seen to be one", ONE)):
        of_kind = [result for result in found if result.family in names]
        bad = sorted({result.family for result in of_kind if fails(result)})
        lost = {mode: sum(result.lost[mode] for result in of_kind) for mode in MODES}
        items = sum(result.items for result in of_kind)
        lines.append(
            f"{title}: {len(of_kind) - sum(map(bool, map(fails, of_kind)))} of {len(of_kind)} sites right; of {items} items lost: "
            f"{', '.join(f'{mode} {number}' for mode, number in lost.items())}; wrong in {', '.join(bad) or 'none'}"
        )
    return "\n".join([*lines, f"{errors} could not be measured; {seconds:.0f} s"])


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.families",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="families (default: all), or apart, one")
    parser.add_argument("--seeds", type=int, default=1, help="sites of each family")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first")
    parser.add_argument("--json", action="store_true", help="an object a site instead of a table")
    parser.add_argument("--list", action="store_true", help="print the names of all families")
    options = parser.parse_args()
    if options.list:
        print("\n".join(FAMILIES))
        return
    groups = {"apart": list(APART), "one": list(ONE)}
    names = [name for given in options.names or groups for name in groups.get(given, [given])]
    if unknown := [name for name in names if name not in FAMILIES]:
        parser.error(f"no such family: {', '.join(unknown)}. --list names them.")
    began, found, errors = time.monotonic(), [], 0
    if not options.json:
        print(row(_TITLES), row(["-" * 18] + ["-:"] * (len(_TITLES) - 1)), sep="\n", flush=True)
    for result in results(names, range(options.first, options.first + options.seeds)):
        if isinstance(result, str):
            errors += 1
            print(result, file=sys.stderr, flush=True)
            continue
        found.append(result)
        print(json.dumps(asdict(result)) if options.json else row(cells(result)), flush=True)
    if not options.json:
        print(summary(found, errors, time.monotonic() - began))


if __name__ == "__main__":
    main()
