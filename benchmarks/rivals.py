"""The web of traps (`tests/crawl/trap_web.py`) under scrapy-dust and under what people use instead.

``python -m benchmarks.rivals [--rounds 3] [--output docs/comparison.md]`` crawls it with each, in processes of their
own, answers taking another time in each round, and counts at the server: requests, pages that were never sent, and
pages that were sent more than once. Who is not installed is named and left out; Redis is started where
``redis-server`` is found.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.crawl.trap_spider import settings_for
from tests.crawl.trap_web import TrapWeb, trapping, write_rules

ROOT = Path(__file__).resolve().parents[1]

MARKER = "<!-- measured: benchmarks/rivals.py -->\n"

#: Rule books ask which suffixes are public, and that list is on the network. Nothing here asks the network.
_OFFLINE = """
import runpy
with __import__("contextlib").suppress(ImportError):
    from tldextract import TLDExtract, tldextract
    tldextract.TLD_EXTRACTOR = TLDExtract(suffix_list_urls=(), cache_dir=None)
runpy.run_module("tests.crawl.trap_spider", run_name="__main__", alter_sys=True)
"""

Settings = dict[str, Any]


@dataclass(frozen=True)
class Rival:
    name: str
    packages: tuple[str, ...]  #: that must be installed
    settings: Callable[[TrapWeb, Path, int], Settings]  #: for this web, folder and port of Redis
    needs_redis: bool = False


@dataclass
class Result:
    name: str
    requests: list[int] = field(default_factory=list)  #: by round
    lost: list[int] = field(default_factory=list)
    twice: list[int] = field(default_factory=list)
    traps: Counter[str] = field(default_factory=Counter)  #: pages lost in the worst round, by trap


def plain(web: TrapWeb, folder: Path, redis: int) -> Settings:
    return {}


def dud(web: TrapWeb, folder: Path, redis: int) -> Settings:
    """The same knowledge, as far as its rules can say it."""
    here = {"include": [web.site]}
    rules = [
        {"order": 1, "processor": "queryRemoval", "args": ["sid", "b"], "urlPattern": here},
        {"order": 2, "processor": "normalizer", "urlPattern": here},
    ]
    path = folder / "dud.json"
    path.write_text(json.dumps(rules), "utf-8")
    return {"ADDONS": {"duplicate_url_discarder.Addon": 900}, "DUD_LOAD_RULE_PATHS": [str(path)]}


def scrapy_redis(web: TrapWeb, folder: Path, redis: int) -> Settings:
    return {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "REDIS_PORT": redis,
    }


def ours(web: TrapWeb, folder: Path, redis: int) -> Settings:
    return {
        "ADDONS": {"scrapy_dust.Addon": 900},
        "DUST_DIR": str(folder / "dust"),
        "DUST_RULES": [write_rules(folder / "rules.json", web)],
        "DUST_CANARY_RATE": 0,
    }


def ours_rewriting(web: TrapWeb, folder: Path, redis: int) -> Settings:
    return ours(web, folder, redis) | {"DUST_REWRITE": True}


def ours_over_redis(web: TrapWeb, folder: Path, redis: int) -> Settings:
    filtering = {"DUPEFILTER_CLASS": "scrapy_dust.redis.DustRedisDupeFilter"}
    return ours(web, folder, redis) | scrapy_redis(web, folder, redis) | filtering


RIVALS = (
    Rival("Scrapy", ("scrapy",), plain),
    Rival("duplicate-url-discarder", ("duplicate-url-discarder",), dud),
    Rival("scrapy-redis", ("scrapy-redis",), scrapy_redis, needs_redis=True),
    Rival("scrapy-dust", (), ours),
    Rival("scrapy-dust, `DUST_REWRITE`", (), ours_rewriting),
    Rival("scrapy-dust, over scrapy-redis", ("scrapy-redis",), ours_over_redis, needs_redis=True),
)


def crawled(rival: Rival, chance: random.Random, redis: int, concurrency: int) -> TrapWeb:
    """The web after *rival* has been through it."""
    with trapping(jitter=chance) as web, TemporaryDirectory() as name:
        settings = settings_for(name) | {"CONCURRENT_REQUESTS": concurrency, "LOG_LEVEL": "CRITICAL"}
        chosen = rival.settings(web, Path(name), redis)
        job = {"settings": settings | chosen, "arguments": {"home": web.home}}
        # No check: a rival that fails in the middle has fetched what it has fetched.
        ended = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _OFFLINE],
            input=json.dumps([job]),
            text=True,
            capture_output=True,
            cwd=ROOT,
            timeout=600,
            check=False,
        )
        if not ended.stdout.strip():
            raise RuntimeError(f"{rival.name} did not finish: {ended.stderr[-2000:]}")
        return web


def measured(rival: Rival, rounds: int, redis: int) -> Result:
    result = Result(rival.name)
    for number in range(rounds):
        web = crawled(rival, random.Random(number), redis, concurrency=(1, 8, 16)[number % 3])
        result.requests.append(web.requests)
        result.lost.append(len(web.lost))
        result.twice.append(web.twice)
        if len(web.lost) == max(result.lost):
            result.traps = Counter(name.partition("/")[0].partition(":")[0] for name in web.lost)
    return result


@contextmanager
def redis_server() -> Iterator[int | None]:
    """A port with a Redis of our own behind it, whose data is gone with it; None where there is none."""
    program = shutil.which("redis-server")
    if program is None:
        yield None
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    server = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    try:
        _wait_for(port)
        yield port
    finally:
        server.terminate()
        server.wait(10)


def _wait_for(port: int) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise RuntimeError(f"redis-server does not answer on port {port}")


def table(results: list[Result], pages: int, rounds: int) -> str:
    lines = [
        f"{pages} pages, {rounds} rounds; where the rounds differ, the least and the most.",
        "",
        "| | requests | pages lost | sent more than once | where pages are lost |",
        "|---|---|---|---|---|",
    ]
    for one in results:
        traps = ", ".join(f"{name} {count}" for name, count in sorted(one.traps.items())) or "–"
        numbers = " | ".join(_range(counts) for counts in (one.requests, one.lost, one.twice))
        lines.append(f"| {one.name} | {numbers} | {traps} |")
    return "\n".join(lines) + "\n"


def _range(counts: list[int]) -> str:
    least, most = min(counts), max(counts)
    return str(least) if least == most else f"{least}–{most}"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _missing(rival: Rival, redis: int | None) -> str | None:
    for package in rival.packages:
        if _version(package) is None:
            return f"{package} is not installed"
    return "there is no redis-server" if rival.needs_redis and redis is None else None


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rivals", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, help="a Markdown page; the table goes below its marker")
    options = parser.parse_args()
    results = []
    with redis_server() as redis:
        for rival in RIVALS:
            missing = _missing(rival, redis)
            if missing:
                print(f"{rival.name}: left out, {missing}.", file=sys.stderr)
                continue
            results.append(measured(rival, options.rounds, redis or 0))
            print(f"{rival.name}: {results[-1]}", file=sys.stderr)
    with trapping() as web:
        text = table(results, len(web.contents), options.rounds)
    names = ("scrapy", "duplicate-url-discarder", "scrapy-redis")
    found = ", ".join(f"{name} {_version(name)}" for name in names if _version(name))
    text = f"{text}\n{found}; Python {platform.python_version()}.\n"
    print(text)
    if options.output:
        page = options.output.read_text("utf-8").partition(MARKER)[0]
        options.output.write_text(page + MARKER + "\n" + text, "utf-8")


if __name__ == "__main__":
    main()
