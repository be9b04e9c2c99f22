"""Items that are lost on random webs, which must be none: ``python -m benchmarks.webs [--webs 20000] [--jobs 2]``.

Web *n* is the same for ever: a site whose URLs show pages, fail, redirect to each other, to a login or elsewhere,
under rules right and wrong, crawled by a spider and in a manner of its own (`tests/webs/`). It is crawled with us, by
Scrapy's engine over answers from memory, and where anything may be missing, and of each tenth web, by plain Scrapy too.
``--bug "heirs off"`` takes one of our guards out first, to see that the law finds that. A web that breaks the law is
shown as small as it can be made.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import partial
from pprint import pformat

from tests.webs.drawing import web
from tests.webs.law import breaks, finding
from tests.webs.planted import BUGS, planted
from tests.webs.shrinking import shrunk

_AT_A_TIME = 100


def looked_at(numbers: range, bug: str | None) -> tuple[Counter[str], list[int]]:
    """What came of the webs *numbers*, and which of them break the law."""
    counts: Counter[str] = Counter()
    broken = []
    with planted(bug) if bug else nullcontext():
        for number in numbers:
            drawn, both = web(number), number % 10 == 0
            found = finding(drawn, both=both)
            counts["webs"] += 1
            counts["items"] += len(found.required)
            counts["rules refuted"] += len(found.with_us.refuted)
            counts["with us"] += found.with_us.asked.total()
            if both and found.without is not None:
                counts["compared with"] += found.with_us.asked.total()
                counts["compared without"] += found.without.asked.total()
                counts["stated loss"] += len(found.stated_loss)
            counts["looked at"] += found.without is not None
            if found.is_broken:
                counts["lost"] += len(found.lost)
                counts["faults"] += len(found.with_us.faults)
                broken.append(number)
    return counts, broken


def smallest(number: int, bug: str | None) -> str:
    with planted(bug) if bug else nullcontext():
        return pformat(shrunk(web(number), breaks), width=110)


def _pieces(first: int, webs: int) -> Iterator[range]:
    for begin in range(first, first + webs, _AT_A_TIME):
        yield range(begin, min(begin + _AT_A_TIME, first + webs))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.webs", description=__doc__.splitlines()[0])
    parser.add_argument("--webs", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first web")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--bug", choices=BUGS)
    parser.add_argument(
        "--shrink", type=int, default=1, help="so many of those that break the law are made small"
    )
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    broken: list[int] = []
    began = time.monotonic()
    with ProcessPoolExecutor(options.jobs) as pool:
        pieces = list(_pieces(options.first, options.webs))
        for some, found in pool.map(partial(looked_at, bug=options.bug), pieces):
            counts += some
            broken += found
            if found or sys.stderr.isatty() or counts["webs"] % 1000 == 0:
                print(f"{counts['webs']} webs, broken so far: {broken[:20]}", file=sys.stderr, flush=True)
    compared = f"{counts['compared with']} requests with us for {counts['compared without']} without"
    print(
        f"{counts['webs']} webs in {time.monotonic() - began:.0f} s: {counts['items']} items required, "
        f"{counts['lost']} lost and {counts['faults']} exceptions of ours on {len(broken)} webs. {counts['with us']} "
        f"requests; on each tenth web {compared}, and {counts['stated loss']} items within the stated loss. "
        f"{counts['rules refuted']} rules refuted. {counts['looked at']} webs were crawled by plain Scrapy too."
    )
    for number in broken[: options.shrink]:
        print(f"Web {number} breaks the law; the least of it that does:\n{smallest(number, options.bug)}")
    sys.exit(bool(broken) and not options.bug)


if __name__ == "__main__":
    main()
