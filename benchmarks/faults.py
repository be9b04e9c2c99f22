"""Disks and machines that fail: ``python -m benchmarks.faults kills [--kills 200]`` and ``… disks [--webs 40]``.

``kills``: a process that writes as fast as it can, and says what it was promised, is killed with SIGKILL at a random
moment, and what it left is opened and compared: crawl logs, rule books, what validation paid for, what a job's rules
suppressed, stores of signatures, and a whole ``dustmine``. (Whole crawls: ``python -m benchmarks.kills``.)
``disks``: random webs (`tests/webs/`) are crawled with everything on, while ``DUST_DIR`` is on a disk that is full, gets
full, is read-only, vanishes or is slow, or the clock jumps: no content may be lost, and no crawl may end otherwise.
Disks are made with ``mount`` in a namespace of our own, which takes root.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scrapy import Request, Spider

from scrapy_dust.crawl.class_store import LocalStore
from scrapy_dust.crawl.recorder import recorder
from scrapy_dust.crawl_log import new_log_path, read_visits
from scrapy_dust.crawl_log.recording import Body
from scrapy_dust.judge.answers import Fetched
from scrapy_dust.rule_book import Entry, RuleBook
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.signatures.copies import Kind
from scrapy_dust.signatures.sqlite_store import SqliteStore
from scrapy_dust.trials.journal import ProbeJournal

Tell = Callable[[int], None]  #: that what has this number is promised to be kept
_BOOKS = 30, 600


@dataclass(frozen=True)
class Part:
    """*work* writes in a folder until it is killed; *kept* is what is there afterwards, of what it told."""

    work: Callable[[Path, Tell], None]
    kept: Callable[[Path, set[int]], set[int]]
    seconds: float  #: at most, until it is killed
    age: float = 0.0  #: what is promised is promised after so many seconds


def record(folder: Path, tell: Tell) -> None:
    writer, flushed = recorder(new_log_path(folder, "s"), None, beside=False), time.monotonic()
    body = Body(b"<p>" + b"some words of a page " * 20, "text/html", None)
    for number in range(10**9):
        if time.monotonic() - flushed > 1:
            writer.flush()
            flushed = time.monotonic()
        writer.add({"url": f"http://a.test/{number}", "status": 200, "fetched_at": ""}, body)
        tell(number)


def recorded(folder: Path, told: set[int]) -> set[int]:
    logs = [log for log in folder.rglob("*.jsonl") if log.stat().st_size]
    return {int(visit.url.rpartition("/")[2]) for log in logs for visit in read_visits(log)}


def save_books(folder: Path, tell: Tell) -> None:
    small, large = (
        RuleBook().with_site("a.example", [Entry(Rule.of(DropParameter(f"p{n}"))) for n in range(count)])
        for count in _BOOKS
    )
    small.save(folder / "rules.json")
    for _ in range(10**9):
        tell(0)
        large.save(folder / "rules.json")
        small.save(folder / "rules.json")


def books(folder: Path, told: set[int]) -> set[int]:
    path = folder / "rules.json"
    if told:
        book = RuleBook.load([str(path)], missing_ok=False)
        assert len(book.entries("a.example")) in _BOOKS
        book.save(path)
    return told


def pay(folder: Path, tell: Tell) -> None:
    with ProbeJournal(folder / "probes.jsonl") as journal:
        for number in range(10**9):
            journal.add(Fetched(f"{number}", f"{number}", 200, "digest"))
            tell(number)


def paid(folder: Path, told: set[int]) -> set[int]:
    with ProbeJournal(folder / "probes.jsonl", writing=False) as journal:
        return {number for number in told if journal.take(f"{number}") is not None}


def suppress(folder: Path, tell: Tell) -> None:
    store, spider = LocalStore(str(folder), lambda: None), Spider("s")
    for number in range(10**9):
        request = Request(f"http://a.test/{number}")
        store.keep(spider.name.encode(), str(number).encode(), ("rule",), request, is_waiting=False)
        tell(number)


def suppressed(folder: Path, told: set[int]) -> set[int]:
    store = LocalStore(str(folder), lambda: None)
    store.open(goes_on=True)
    found = {int(request.url.rpartition("/")[2]) for _, request in store.take_of_rule("rule")}
    store.close()
    return found


def sign(folder: Path, tell: Tell) -> None:
    store = SqliteStore(folder / "pages.sqlite")
    for number in range(10**9):
        store.keep(f"http://a.test/{number}", (number.to_bytes(16, "big"),), Kind.CONTENT)
        if number % 100 == 99:
            store.flush()
            for one in range(number - 99, number + 1):
                tell(one)


def signed(folder: Path, told: set[int]) -> set[int]:
    store = SqliteStore(folder / "pages.sqlite")
    found = {number for number in told if store.find(number.to_bytes(16, "big")) is not None}
    store.close()
    return found


def mine(folder: Path, tell: Tell) -> None:
    from scrapy.cmdline import execute  # noqa: PLC0415

    _write_log(folder / "log.jsonl")
    os.chdir(folder)
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="ascii")  # noqa: PTH123, SIM115
    tell(0)
    execute(["scrapy", "dustmine", "log.jsonl", "--no-validate", "--rules", "rules.json"])


def mined(folder: Path, told: set[int]) -> set[int]:
    """The book is not there, or whole; and the next run makes it."""
    RuleBook.load([str(folder / "rules.json")])
    if told:
        _write_log(folder / "log.jsonl")
        command = [
            sys.executable,
            "-m",
            "scrapy",
            "dustmine",
            "log.jsonl",
            "--no-validate",
            "--rules",
            "rules.json",
        ]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        assert RuleBook.load([str(folder / "rules.json")], missing_ok=False).rules_by_site()
    return told


def _write_log(path: Path) -> None:
    lines = [
        json.dumps({"url": f"http://a.example/{page}{sid}", "status": 200, "size": 9, "digest": f"{page}", "text_digest": f"{page}"})
        for page in range(200)
        for sid in ("", "?sid=1")
    ]  # fmt: skip
    path.write_text("\n".join(lines) + "\n", "ascii")


PARTS: Mapping[str, Part] = {
    "recorder": Part(record, recorded, 2.5, age=1.0),
    "rule book": Part(save_books, books, 0.3),
    "validation": Part(pay, paid, 0.3),
    "suppressed": Part(suppress, suppressed, 0.3),
    "signatures": Part(sign, signed, 0.5),
    "miner": Part(mine, mined, 1.0),
}
#: Of a hundred kills: a run of the miner takes as long as forty of the others.
_SHARES = {"recorder": 20, "rule book": 25, "validation": 20, "suppressed": 20, "signatures": 10, "miner": 5}


def killed(part: Part, folder: Path, seconds: float) -> tuple[set[int], set[int]]:
    """What *part* had told when it was killed after *seconds*, and what of it was promised by then."""
    hear, told = os.pipe()
    child = os.fork()
    if not child:
        os.close(hear)
        try:
            part.work(folder, lambda number: _say(told, number))
        finally:
            os._exit(0)
    os.close(told)
    with os.fdopen(hear, "rb") as lines:
        heard = [lines.readline()]
        time.sleep(seconds)
        moment = time.monotonic()
        os.kill(child, signal.SIGKILL)
        heard += lines.readlines()
    os.waitpid(child, 0)
    said = [line.split() for line in heard if line.endswith(b"\n")]
    return (
        {int(number) for number, _ in said},
        {int(number) for number, at in said if moment - float(at) >= part.age},
    )


def _say(told: int, number: int) -> None:
    os.write(told, b"%d %f\n" % (number, time.monotonic()))


def kills(count: int, seed: int) -> int:
    chance, lost, done = random.Random(seed), 0, Counter[str]()
    for name, part in PARTS.items():
        promised_in_all = 0
        for _ in range(max(1, count * _SHARES[name] // 100)):
            with tempfile.TemporaryDirectory() as folder:
                told, promised = killed(part, Path(folder), chance.uniform(0, part.seconds))
                missing = promised - part.kept(Path(folder), told)
                promised_in_all, lost = promised_in_all + len(promised), lost + len(missing)
                done[name] += 1
        print(f"{name}: {done[name]} kills, all that was left opens, {promised_in_all} promised", flush=True)
    print(f"{done.total()} kills: {lost} of what was promised is lost.")
    return lost


@contextmanager
def _disk(folder: Path, size: str) -> Iterator[None]:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def whole(folder: Path) -> Iterator[None]:
    with _disk(folder, "16m"):
        yield


@contextmanager
def full(folder: Path) -> Iterator[None]:
    with _disk(folder, "64k"):
        _fill(folder)
        yield


@contextmanager
def nearly_full(folder: Path) -> Iterator[None]:
    """Room for the beginning of something."""
    with _disk(folder, "64k"):
        _fill(folder)
        with (folder / "fill").open("r+b") as file:
            file.truncate(24 * 1024)
        yield


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    with _disk(folder, "16m"):
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        yield


@contextmanager
def vanishing(folder: Path) -> Iterator[None]:
    """All that is in it is removed again and again."""
    with _disk(folder, "16m"):
        child = os.fork()
        if not child:
            while True:
                for inside in folder.iterdir():
                    shutil.rmtree(inside, ignore_errors=True)
                time.sleep(0.003)
        yield
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@contextmanager
def slow(folder: Path) -> Iterator[None]:
    sync = os.fsync
    with _disk(folder, "16m"):
        os.fsync = lambda descriptor: [time.sleep(0.2), sync(descriptor)][-1]
        yield
        os.fsync = sync


@contextmanager
def jumping_clock(folder: Path) -> Iterator[None]:
    """A day ahead and back, at every look."""
    clock, looks = time.time, iter(range(10**9))
    with _disk(folder, "16m"):
        time.time = lambda: clock() + (next(looks) % 3 - 1) * 86_400
        yield
        time.time = clock


FAULTS = (whole, full, nearly_full, read_only, vanishing, slow, jumping_clock)

_EVERYTHING = {
    "DUST_LOG_ENABLED": True,
    "DUST_LOG_PROCESS": False,
    "DUST_JOURNAL": True,
    "DUST_CONTENT_DEDUP": "mark",
}


def _fill(folder: Path) -> None:
    with (folder / "fill").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return


def disks(webs: int) -> int:
    from tests.webs.drawing import web  # noqa: PLC0415
    from tests.webs.law import finding  # noqa: PLC0415

    lost = 0
    for fault in FAULTS:
        broken, contents = [], 0
        for number in range(webs):
            with tempfile.TemporaryDirectory() as name, fault(Path(name)):
                found = finding(web(number), DUST_DIR=name, **_EVERYTHING)
            contents += len(found.required)
            broken += [number] * bool(found.lost)
        lost += len(broken)
        print(
            f"{fault.__name__.replace('_', ' ')}: {webs} webs, {contents} contents, lost on {broken}",
            flush=True,
        )
    return lost


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("kills", "disks"))
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--webs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.what == "kills":
        sys.exit(bool(kills(options.kills, options.seed)))
    if os.environ.get("_FAULTS") != "1":
        command = ["unshare", "-m", sys.executable, "-m", "benchmarks.faults", *sys.argv[1:]]
        sys.exit(subprocess.run(command, env={**os.environ, "_FAULTS": "1"}, check=False).returncode)
    sys.exit(bool(disks(options.webs)))


if __name__ == "__main__":
    main()
