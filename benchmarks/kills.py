"""What is missing in the logs of crawls that were killed: ``python -m benchmarks.kills [--kills 100] [--seed N]``.

A crawl of made-up pages, recorded, is killed with SIGKILL at a random moment, and another one begins beside its
log, as often as asked for. Every log must open, and have every page that was answered a second before the kill.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from queue import Queue

from benchmarks.recorder import serve
from scrapy_dust.crawl_log import read_visits
from scrapy_dust.crawl_log.locks import lock_of_log


class Answers:
    """When each page was answered first in the crawl that runs; it begins with page 0."""

    def __init__(self) -> None:
        self.port: Queue[int] = Queue()
        self.at: dict[int, float] = {}
        self.begun = threading.Event()

    def __call__(self, number: int) -> None:
        self.at.setdefault(number, time.monotonic())
        self.begun.set()


def killed(port: int, folder: str, answers: Answers, seconds: float) -> float:
    """Crawls, kills the crawl *seconds* after its first page, and gives the moment."""
    answers.at.clear()
    answers.begun.clear()
    command = [sys.executable, "-m", "benchmarks.recorder", "--crawl", str(port), "--pages", "100000"]
    with subprocess.Popen([*command, "--record", "--dir", folder], stdout=subprocess.DEVNULL) as process:
        answers.begun.wait()
        time.sleep(seconds)
        moment = time.monotonic()
        process.send_signal(signal.SIGKILL)
    return moment


def ended(log: Path) -> Path:
    """*log* when nobody writes it any more."""
    while True:
        with lock_of_log(log) as ours:
            if ours:
                return log
        time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--words", type=int, default=600, help="on a page")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance, answers = random.Random(options.seed), Answers()
    server = threading.Thread(
        target=lambda: asyncio.run(serve(options.words, answers.port.put, answers)), daemon=True
    )
    server.start()
    port = answers.port.get()
    recorded = late = oldest = unreadable = 0
    with tempfile.TemporaryDirectory() as folder:
        known: set[Path] = set()
        for number in range(options.kills):
            moment = killed(port, folder, answers, chance.uniform(0.05, 2))
            logs = set(Path(folder).rglob("*.jsonl")) - known
            known |= logs
            found: set[int] = set()
            for log in logs:
                if ended(log).stat().st_size:
                    reading = read_visits(log)
                    found |= {int(visit.url.rpartition("/")[2]) for visit in reading}
                    unreadable += reading.unreadable_count
            missing = [moment - at for page, at in answers.at.items() if page not in found and at < moment]
            recorded, late = recorded + len(found), late + len(missing)
            oldest = max([oldest, *missing])
            if sys.stderr.isatty():
                print(f"\r{number + 1} of {options.kills}", end="", file=sys.stderr, flush=True)
        whole = sum(1 for _ in read_visits(folder))
    print(
        f"{options.kills} kills: {len(known)} logs, all of which open, {unreadable} unreadable lines, {recorded} pages "
        f"recorded ({whole} records read from all logs at once). {late} answers are missing; the oldest of them came "
        f"{oldest:.3f} s before the kill."
    )
    sys.exit(oldest > 1)


if __name__ == "__main__":
    main()
