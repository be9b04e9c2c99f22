"""The web of traps in each way that a project may crawl: URLs keyed or rewritten, in one go or paused at random
moments, with the HTTP cache or without. Whatever the way, no page is lost.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

from tests.crawl.trap_spider import DELIVERED, settings_for
from tests.crawl.trap_web import TrapWeb, trapping, write_rules
from tests.waiting import PATIENCE

HERE = Path(__file__).resolve()

#: What a pause or a cache that remembers redirects takes from any crawl: being logged in.
LOGINS = frozenset({"private", "members"})


#: Nothing waits long for what is slow; and a link and a form have different errbacks.
MAY_COME_TWICE = frozenset({"flaky", "private", "members", "search", "slow"})


@dataclass
class Way:
    """One way to crawl, and what came of it."""

    name: str
    web: TrapWeb
    jobs: list[dict[str, Any]]
    delivered: Counter[str] = field(default_factory=Counter)

    def hear(self, stats: dict[str, Any]) -> None:
        for name, count in stats.items():
            if name.startswith(DELIVERED):
                self.delivered[name.removeprefix(DELIVERED)] += count

    def check(self) -> None:
        images = {name for name in self.web.contents if name.startswith("image/")}
        media = images | {name for name in self.web.contents if name.startswith("file/")}
        assert self.web.lost == (set() if find_spec("PIL") else images), self.name
        assert self.web.contents - media == self.delivered.keys(), self.name
        twice = {name.partition("/")[0] for name, count in self.delivered.items() if count > 1}
        assert twice <= MAY_COME_TWICE, self.name


def walk(ways: list[Way]) -> None:
    jobs = [job for way in ways for job in way.jobs]
    ended = subprocess.run(
        [sys.executable, "-m", "tests.crawl.trap_spider"],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        cwd=HERE.parents[2],
        timeout=PATIENCE,
        check=False,
    )
    lines = ended.stdout.splitlines()
    assert len(lines) == len(jobs), ended.stderr[-3000:]
    heard = iter(lines)
    for way in ways:
        for _ in way.jobs:
            way.hear(json.loads(next(heard)))


def way(
    name: str,
    web: TrapWeb,
    folder: Path,
    chance: random.Random,
    *,
    rewrite: bool,
    paused: bool,
    **chosen: Any,
) -> Way:
    folder.mkdir()
    settings = settings_for(str(folder)) | {
        "ADDONS": {"scrapy_dust.Addon": 900},
        "DUST_DIR": str(folder / "dust"),
        "DUST_RULES": [write_rules(folder / "rules.json", web)],
        "DUST_CANARY_RATE": 0,
        "DUST_LOG_PROCESS": False,
        "DUST_REWRITE": rewrite,
        "CONCURRENT_REQUESTS": chance.choice([1, 4, 16]),
        **chosen,
    }
    if not paused:
        return Way(name, web, [{"settings": settings, "arguments": {"home": web.home}}])
    settings |= {"JOBDIR": str(folder / "job")}
    moments = [chance.randrange(1, 40) for _ in range(2)]
    jobs = [
        {"settings": settings, "arguments": {"home": web.home, "pause_after": moment}}
        for moment in (*moments, None)
    ]
    return Way(f"{name}, paused after {moments}", web, jobs)


def all_ways(folder: Path, chance: random.Random, stack: ExitStack, **chosen: Any) -> list[Way]:
    """Keyed and rewritten, in one go and paused; two of them with the cache."""
    ways: list[Way] = []
    for rewrite, paused in product([False, True], repeat=2):
        cache = rewrite is paused
        web = stack.enter_context(trapping(LOGINS if paused or cache else frozenset(), jitter=chance))
        own = folder / str(len(ways))
        settings = {
            "HTTPCACHE_ENABLED": cache,
            "HTTPCACHE_DIR": str(own / "cache"),
            # A retry would be answered from the cache, with or without us.
            "HTTPCACHE_IGNORE_HTTP_CODES": [500, 503],
        }
        name = f"rewrite={rewrite}, cache={cache}"
        ways.append(way(name, web, own, chance, rewrite=rewrite, paused=paused, **settings, **chosen))
    return ways
