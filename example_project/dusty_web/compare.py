"""What two crawls cost and found, from the server's counts: ``python -m dusty_web.compare before.json after.json``.

The files are what ``/__counts__`` gave after each crawl. Exit status 1 where the second crawl missed a content that
the first one found, or asked for what must not be asked for.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from dusty_web.truth import Kind, least_requests, truth_of
from dusty_web.web import DustyWeb


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawl:
    """One crawl, as the server saw it. robots.txt is not among the requests."""

    requests: int  #: redirects, failures and retries among them
    contents: frozenset[str]  #: ids of the contents delivered
    oracle: int  #: requests that an oracle would have needed for the same classes of URLs
    bytes: int
    disallowed: int  #: requests for what robots.txt excludes; must be none
    actions: int  #: requests for URLs that no page links and that change something; must be none
    foreign: int  #: requests that were on their way out of the example; must be none

    @property
    def redundant(self) -> int:
        return self.requests - self.oracle

    @property
    def trespasses(self) -> int:
        return self.disallowed + self.actions + self.foreign


@dataclass(frozen=True, slots=True)
class Comparison:
    before: Crawl
    after: Crawl

    @property
    def missing(self) -> frozenset[str]:
        return self.before.contents - self.after.contents

    @property
    def gained(self) -> frozenset[str]:
        return self.after.contents - self.before.contents

    @property
    def share_of_saving(self) -> float:
        """How much of what the oracle would save in the first crawl the second one saved; 1 if that is nothing."""
        if not self.before.redundant:
            return 1.0
        return (self.before.requests - self.after.requests) / self.before.redundant

    @property
    def is_good(self) -> bool:
        return not self.missing and not self.after.trespasses

    def as_dict(self) -> dict[str, Any]:
        crawls = {name: asdict(crawl) for name, crawl in (("before", self.before), ("after", self.after))}
        for crawl in crawls.values():
            crawl["contents"] = len(crawl["contents"])
        lists = {"missing": sorted(self.missing), "gained": sorted(self.gained)}
        return {**crawls, **lists, "share_of_saving": round(self.share_of_saving, 4)}


def crawl_of(counts: Mapping[str, Any]) -> Crawl:
    """The figures of one crawl from what ``/__counts__`` gave."""
    web = _web(counts["seed"])
    rows = [row for row in counts["rows"] if not row["url"].endswith("/robots.txt")]
    foreign = [row for row in rows if row["status"] in (405, 502)]
    disallowed = [row for row in rows if web.is_disallowed(row["url"])]
    actions = [row for row in rows if truth_of(web, row["url"]).kind is Kind.ACTION]
    return Crawl(
        requests=_requests(rows),
        contents=frozenset(row["content"] for row in rows if row["content"]),
        oracle=least_requests(web, (row["url"] for row in rows if row not in foreign)),
        bytes=sum(row["bytes"] for row in rows),
        disallowed=_requests(disallowed),
        actions=_requests(actions),
        foreign=_requests(foreign),
    )


def compare(before_counts: Mapping[str, Any], after_counts: Mapping[str, Any]) -> Comparison:
    return Comparison(crawl_of(before_counts), crawl_of(after_counts))


def _requests(rows: list[dict[str, Any]]) -> int:
    return sum(row["requests"] for row in rows)


@lru_cache(maxsize=2)
def _web(seed: int) -> DustyWeb:
    return DustyWeb(seed)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m dusty_web.compare", description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    options = parser.parse_args()
    comparison = compare(*(json.loads(path.read_text()) for path in (options.before, options.after)))
    print(json.dumps(comparison.as_dict(), indent=2))
    return 0 if comparison.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
