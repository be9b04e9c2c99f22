"""Mining by size: ``python -m benchmarks.scale 100000 1000000 10000000 [--phase kept] [--memory-limit MB]``.

A log of so many URLs of 20 to 30 tokens: a fifth of them of one site, the others of many, the smaller the more.
``scrapy dustmine`` reads it in a process of its own, without fetches; its time per URL, of wall and of CPU, and the
peak memory of it with its helpers, and how the time per URL grows from the first size to the last. With ``--pages``
each record has a digest, that most copies share, so that edits are learned too.
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
from collections.abc import Iterator
from pathlib import Path

from benchmarks.kernel import site_urls


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
    with log.open("w") as file:
        for record in records(count, pages=options.pages):
            file.write(json.dumps(record) + "\n")
    command = [
        sys.executable,
        "-m",
        "scrapy",
        "dustmine",
        str(log),
        "--json",
        "--rules",
        str(folder / "rules.json"),
    ]
    command += ["--phase", options.phase] if options.phase else ["--no-validate"]
    command += ["-s", f"DUST_DIR={folder / 'dust'}"]
    if options.memory_limit:
        command += ["-s", f"DUST_MEMORY_LIMIT={options.memory_limit}"]
    before, begun = _cpu(), time.perf_counter()
    process = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder
    )
    wall, cpu = time.perf_counter() - begun, _cpu() - before
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(
        f"{count} URLs: {cpu:.1f} s of CPU, {cpu / count * 1e6:.1f} µs a URL; {wall:.1f} s, {wall / count * 1e6:.1f} µs a URL; "
        f"{peak} MB at the peak of the largest process",
        flush=True,
    )
    if options.profile:
        summary = json.loads(process.stdout.splitlines()[-1])
        for phase in summary.get("phases", ()):
            print("  " + ", ".join(f"{name} {value}" for name, value in phase.items()), flush=True)
    log.unlink()
    return cpu / count


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__.splitlines()[0])
    parser.add_argument("urls", type=int, nargs="+")
    parser.add_argument("--phase", choices=("likely", "kept"))
    parser.add_argument("--pages", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--memory-limit", metavar="MB")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        taken = [measure(count, options, Path(folder)) for count in options.urls]
    if len(taken) > 1:
        print(f"CPU time per URL grew {taken[-1] / taken[0]:.2f} times from the first size to the last")


if __name__ == "__main__":
    main()
