"""Mining by size: ``python -m benchmarks.scale 100000 1000000 10000000 [--phase kept] [--memory-limit MB]``.

A log of so many URLs of 20 to 30 tokens: a fifth of them of one site, the others of many, the smaller the more.
``scrapy dustmine`` reads it in a process of its own, without fetches; its time per URL, of wall and of CPU, and the
peak memory of it with its helpers, and how the time per URL grows from the first size to the last. With ``--pages``
each record has a digest, that most copies share, so that edits are learned too.

With ``--contents clean`` or ``messy`` the log is of one site, whose pages are told in units (`benchmarks.shops`), with
``--contents many`` of many clean ones.

With ``--shards 4 16`` the log is mined in one go and then in so many shards, one after the other, and their parts are merged: what
all cost together, what the dearest of them does, and whether the rule books are the same. ``--only-shards`` leaves out the run in one
go, for a log that is too large for it.

With ``--again 0.01`` the log is mined, then as it is three times more (the first of these runs goes by the rules that the run before
has found), then after a crawl that found a new page on each of that share of the sites (at least one); and all of that with what
was mined removed before: what re-mining costs of what mining costs, and whether the rule books are the same after each run.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import shops
from benchmarks.kernel import site_urls

_LOGS = {"clean": shops.clean, "messy": shops.messy, "many": shops.many}


def records(count: int, *, pages: bool) -> Iterator[dict[str, object]]:
    """The giant's URLs stand between those of the others, as a broad crawl finds them."""
    chance = random.Random(11)
    giant = iter(site_urls(count // 5))
    made, site = count // 5, 0
    while made < count:
        size = min(count - made, int(20 * chance.paretovariate(1.1)), 20_000)
        for url in site_urls(size):
            yield _record(url.replace("site.test", f"s{site}.test"), pages=pages)
            for of_giant in (next(giant, None) for _ in range(chance.random() < 0.3)):
                if of_giant is not None:
                    yield _record(of_giant, pages=pages)
        made, site = made + size, site + 1
    for url in giant:
        yield _record(url, pages=pages)


def _record(url: str, *, pages: bool) -> dict[str, object]:
    record: dict[str, object] = {"url": url, "status": 200}
    if pages:
        bare = url.replace("//www.", "//").partition("sid=")[0].rstrip("?&")
        record["text_digest"] = bare.replace("?id=", "_").replace(".php", "")
    return record


def measure(count: int, options: argparse.Namespace, folder: Path) -> float:
    log = folder / f"{count}.jsonl"
    write(log, _found(count, options))
    cpu, wall, _ = mined(log, folder, options)
    print(f"{count} URLs: {_told(count, cpu, wall)}", flush=True)
    log.unlink()
    return cpu / count


def _found(count: int, options: argparse.Namespace) -> Iterator[dict[str, object]]:
    return _LOGS[options.contents](count) if options.contents else records(count, pages=options.pages)


def _told(count: int, cpu: float, wall: float) -> str:
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    return (
        f"{cpu:.1f} s of CPU, {cpu / count * 1e6:.1f} µs a URL; {wall:.1f} s, {wall / count * 1e6:.1f} µs a URL; "
        f"{peak} MB at the peak of the largest process so far"
    )


def in_shards(count: int, options: argparse.Namespace, folder: Path) -> None:
    """What mining in shards costs, one after the other, and whether it comes to the same."""
    log, books = folder / f"{count}.jsonl", dict[int, bytes]()
    write(log, _found(count, options))
    for shards in (*(() if options.only_shards else (1,)), *options.shards):
        at = folder / f"{shards} shards"
        at.mkdir()
        ran = [
            mined(log, at, options, ["--shard", f"{number}/{shards}"] if shards > 1 else [])
            for number in range(1, shards + 1)
        ]
        if shards > 1:
            command = [sys.executable, "-m", "scrapy", "dustrules", "merge", "--rules", "rules.json"]
            command += [str(part) for part in sorted(at.glob("rules.*-of-*.json"))]
            subprocess.run(command, check=True, capture_output=True, cwd=at)
        books[shards] = (at / "rules.json").read_bytes()
        cpu, wall = sum(one[0] for one in ran), sum(one[1] for one in ran)
        print(
            f"{count} URLs in {shards} shards, one after the other: {_told(count, cpu, wall)}; "
            f"the dearest {max(one[0] for one in ran):.1f} s of CPU",
            flush=True,
        )
    if len(books) > 1:
        print("the rule books are", "the same" if len(set(books.values())) == 1 else "NOT the same")


def again(count: int, options: argparse.Namespace, folder: Path) -> None:
    """What mining costs when a crawl has added little."""
    first = list(_found(count, options))
    by_site: dict[str, str] = {}
    for record in first:
        by_site.setdefault(_site(record["url"]), str(record["url"]))
    chosen = random.Random(12).sample(sorted(by_site), max(1, round(options.again * len(by_site))))
    new = [_record(f"{by_site[site]}&new=1", pages=False) for site in chosen]
    runs = {
        "the first time": first,
        "the same log again": first,
        "the same log a third time": first,
        "the same log a fourth time": first,
        f"with a new page on {len(chosen)} sites": [*first, *new],
    }
    books: dict[bool, list[bytes]] = {True: [], False: []}
    for remembering in (True, False):
        at = folder / f"remembering {remembering}"
        at.mkdir()
        once = 0.0
        for name, found in runs.items():
            write(at / f"{count}.jsonl", found)
            if not remembering:
                for kept in at.rglob("mined.sqlite*"):
                    kept.unlink()
            cpu, wall, summary = mined(at / f"{count}.jsonl", at, options)
            once = once or cpu
            print(
                f"{count} URLs of {summary['sites']} sites, {name}{'' if remembering else ', nothing remembered'}: {cpu:.1f} s of CPU, {wall:.1f} s, "
                f"{cpu / once:.3f} times the first; {summary['taken_over']} sites mined before; "
                f"{_phases(summary)}",
                flush=True,
            )
            books[remembering].append((at / "rules.json").read_bytes())
    print("the rule books are", "the same" if books[True] == books[False] else "NOT the same")


def _phases(summary: dict[str, Any]) -> str:
    """The phases that take most, with their seconds of CPU."""
    dearest = sorted(summary["phases"], key=lambda lap: -lap["cpu"])[:5]
    return ", ".join(f"{lap['phase']} {lap['cpu']:.2f}" for lap in dearest)


def _site(url: object) -> str:
    return str(url).split("/")[2].removeprefix("www.")


def write(log: Path, found: Iterable[dict[str, object]]) -> None:
    with log.open("w") as file:
        for record in found:
            file.write(json.dumps(record) + "\n")


def mined(
    log: Path, folder: Path, options: argparse.Namespace, more: Sequence[str] = ()
) -> tuple[float, float, dict[str, Any]]:
    """Seconds of CPU and of the wall, and what the command said."""
    command = [sys.executable, "-m", "scrapy", "dustmine", str(log), "--json"]
    command += ["--rules", str(folder / "rules.json")]
    command += ["--phase", options.phase] if options.phase else ["--no-validate"]
    command += ["-s", f"DUST_DIR={folder / 'dust'}", *more]
    command += ["--profile"] if options.profile else []
    if options.memory_limit:
        command += ["-s", f"DUST_MEMORY_LIMIT={options.memory_limit}"]
    before, begun = _cpu(), time.perf_counter()
    process = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
    wall, cpu = time.perf_counter() - begun, _cpu() - before
    if options.profile:
        # The command's own table stands behind all that it told of its progress.
        print("phase" + process.stderr.rpartition("\nphase")[2], end="", flush=True)
    return cpu, wall, json.loads(process.stdout.splitlines()[-1])


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__.splitlines()[0])
    parser.add_argument("urls", type=int, nargs="+")
    parser.add_argument("--phase", choices=("likely", "kept"))
    parser.add_argument("--pages", action="store_true")
    parser.add_argument("--contents", choices=_LOGS)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--again", type=float, metavar="SHARE")
    parser.add_argument("--memory-limit", metavar="MB")
    parser.add_argument("--shards", type=int, nargs="+", default=())
    parser.add_argument("--only-shards", action="store_true")
    options = parser.parse_args()
    if options.shards:
        for count in options.urls:
            with tempfile.TemporaryDirectory() as folder:
                in_shards(count, options, Path(folder))
        return
    if options.again is not None:
        for count in options.urls:
            with tempfile.TemporaryDirectory() as folder:
                again(count, options, Path(folder))
        return
    with tempfile.TemporaryDirectory() as folder:
        taken = [measure(count, options, Path(folder)) for count in options.urls]
    if len(taken) > 1:
        print(f"CPU time per URL grew {taken[-1] / taken[0]:.2f} times from the first size to the last")


if __name__ == "__main__":
    main()
