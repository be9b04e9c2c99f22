"""Runs that are killed, and go on: the same rule book, and no probe is paid for twice."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.interruptions import ALLOWED, interrupted, served, write_log
from benchmarks.messy import MessySite
from tests.crawl.site import Answer, Site, error, serving
from tests.crawl.site import page as linking
from tests.trials.running import html, prose
from tests.waiting import PATIENCE, wait_until

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are started by forking, to be killed in time"),
]

#: Requests of one site under way at a time, at most: what a kill can cost.
UNDER_WAY = 8
KILLS = 20
PAGES = 16


def web(path: str) -> Answer:
    """A session that says nothing; a view that is another page; a second name; every seventh page changes."""
    time.sleep(0.005)
    head, _, query = path.removesuffix("index.html").partition("?")
    values = dict(part.partition("=")[::2] for part in query.split("&"))
    number = values.get("id", "") or head.removeprefix("/n").strip("/")
    if head.rstrip("/0123456789") not in ("/p", "/q", "/n") or not number.isdecimal() or int(number) >= PAGES:
        return error(404)
    view = values.get("view", "") if head == "/q" else ""
    changes = f" {time.time()}" * 200 if head == "/q" and int(number) % 7 == 3 else ""
    return html(prose(f"{head[1]}{number}{view}") + changes)


PATHS = [
    *(f"/p?id={number}&sid={session}{number}x" for number in range(PAGES) for session in "ab"),
    *(f"/q?id={number}&view={view}" for number in range(PAGES) for view in ("full", "brief")),
    *(f"/n{number}/{name}" for number in range(PAGES) for name in ("", "index.html")),
]


class Runs:
    """`scrapy dustmine` on one log, again and again."""

    def __init__(self, folder: Path, log: Path, process: subprocess.Popen[str]) -> None:
        self.folder, self.log, self._process = folder, log, process
        self.book = folder / "rules.json"

    def start(self) -> int:
        options = [f"-sDUST_DIR={self.folder / 'dust'}", f"--rules={self.book}", "--json"]
        options += ["-sDUST_VALIDATION_COUNT=40", "-sDUST_SIMILAR=none"]
        options += ["-sTELNETCONSOLE_ENABLED=False", "-sREMOTE_CONTROL_ENABLED=False"]
        self._send(json.dumps(["dustmine", *options, str(self.log)]))
        return int(self._told())

    def kill(self, run: int, number: int) -> bool:
        """Whether it was still running."""
        try:
            os.kill(run, number)
        except ProcessLookupError:
            return False
        return True

    def wait_while(self, run: int, holds: Callable[[], bool]) -> None:
        """As long as it runs, too."""
        while holds() and self.kill(run, 0):
            time.sleep(0.002)

    def begin_anew(self) -> None:
        """Without what earlier runs left."""
        shutil.rmtree(self.folder / "dust", ignore_errors=True)
        self.book.unlink(missing_ok=True)

    def finish(self) -> tuple[int, dict[str, Any]]:
        """The exit status, and what the run printed."""
        lines = []
        while not (told := self._told()).lstrip("-").isdecimal():
            lines.append(told)
        return int(told), json.loads(lines[-1]) if lines else {}

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _told(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def rules(self) -> Any:
        return json.loads(self.book.read_text())["sites"] if self.book.exists() else None


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serving(web) as served:
        yield served


@pytest.fixture(scope="module")
def log(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.trials.running import log_of  # noqa: PLC0415

    path = tmp_path_factory.mktemp("log") / "crawl.jsonl"
    with path.open("w") as file:
        for visit in log_of(site, PATHS, web):
            # Nothing of the contents, so that the log decides nothing.
            file.write(json.dumps({"url": visit.url, "status": visit.status}) + "\n")
    return path


@pytest.fixture
def runs(tmp_path: Path, log: Path) -> Iterator[Runs]:
    with _runs(tmp_path, log) as started:
        yield started


class _runs:
    def __init__(self, folder: Path, log: Path) -> None:
        self._folder, self._log = folder, log

    def __enter__(self) -> Runs:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.trials.runs"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        return Runs(self._folder, self._log, self._process)

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="module")
def whole(site: Site, log: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Counter[str], float]:
    """The rule book of a run that nobody interrupts, what it asked for, and how long it took."""
    site.asked.clear()
    with _runs(tmp_path_factory.mktemp("whole"), log) as runs:
        began = time.monotonic()
        runs.start()
        status, told = runs.finish()
        seconds = time.monotonic() - began
        assert status == 0
        assert told["valid"] > 0
        return runs.rules(), site.times(), seconds


def test_killed_at_random_moments_the_rule_book_is_the_same_and_no_probe_is_paid_twice(site, runs, whole):
    book, asked, seconds = whole
    moments, kills = random.Random(20061118), 0
    while kills < KILLS:
        runs.begin_anew()
        site.asked.clear()
        killed, status = 0, -1
        while status != 0:
            run = runs.start()
            if kills + killed < KILLS:
                time.sleep(moments.uniform(0.0, 0.7) * seconds)
                killed += runs.kill(run, signal.SIGKILL)
            status, _ = runs.finish()
        kills += killed
        assert runs.rules() == book
        twice = site.times() - asked
        del twice["/robots.txt"]
        assert twice.total() <= UNDER_WAY * killed
    site.asked.clear()
    runs.start()
    assert runs.finish()[1]["fetches"] == 0
    assert site.asked == []


def test_ctrl_c_keeps_what_is_decided_and_a_run_of_tomorrow_pays_for_the_rest(site, runs, whole):
    book, asked, _ = whole
    site.asked.clear()
    for share in (0.5, 0.7):
        run = runs.start()
        # By what has been asked for, and not by the clock: a busy machine takes longer to begin.
        runs.wait_while(run, lambda share=share: len(site.asked) < share * asked.total())
        assert runs.kill(run, signal.SIGINT)
        assert runs.finish()[0] == 0
    runs.start()
    assert runs.finish()[0] == 0
    twice = site.times() - asked
    del twice["/robots.txt"]
    assert twice.total() <= 2 * UNDER_WAY
    (of_site,), (now,) = book.values(), runs.rules().values()
    assert [(rule["id"], rule["status"]) for rule in now["rules"]] == [
        (rule["id"], rule["status"]) for rule in of_site["rules"]
    ]


def test_whenever_it_is_interrupted_it_ends_within_two_seconds_and_what_it_leaves_can_be_read(tmp_path):
    messy, log = MessySite(1500), tmp_path / "log.jsonl"
    with served(messy, pause=0.1) as port:
        write_log(messy, port, log)
        # While it starts, mines, tries, and fetches.
        for after, number in (
            (1.0, signal.SIGTERM),
            (3.0, signal.SIGINT),
            (6.0, signal.SIGTERM),
            (9.0, signal.SIGINT),
        ):
            end = interrupted(tmp_path, log, after, number)
            # By the processor where the machine has other things to do.
            assert end.took < ALLOWED or end.cpu < ALLOWED, end
            assert after < 2 or "Traceback" not in end.said


SPIDER = """
from scrapy import Spider

class Dusty(Spider):
    name = "dusty"

    def parse(self, response):
        for link in response.css("a"):
            yield response.follow(link, self.parse)
"""


def test_ctrl_c_while_a_crawl_learns_at_its_end_keeps_what_was_paid_for(tmp_path):
    made_up: list[str] = []
    goes_on = threading.Event()

    def dusty(path: str) -> Answer:
        if path == "/":
            return linking(*(path for path in PATHS if path.startswith("/p?")))
        if "sid=" not in path and path != "/robots.txt":
            made_up.append(path)  # no link led there
        if len(made_up) > UNDER_WAY:
            goes_on.wait(PATIENCE)
        return web(path)

    options = [
        f"-sDUST_DIR={tmp_path / 'dust'}",
        f"-sDUST_RULES={tmp_path / 'rules.json'}",
        "-sDUST_LEARN=close",
    ]
    options += ["-sTELNETCONSOLE_ENABLED=False", "-sREMOTE_CONTROL_ENABLED=False", "-sDUST_CANARY_RATE=0"]
    with serving(dusty) as site:
        options.append(f"-sADDONS={json.dumps({'scrapy_dust.Addon': 900})}")
        (tmp_path / "spider.py").write_text(SPIDER + f"    start_urls = [{site.url('/')!r}]\n")
        crawl = subprocess.Popen(
            [sys.executable, "-m", "scrapy", "runspider", str(tmp_path / "spider.py"), *options],
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_until(lambda: len(made_up) > UNDER_WAY)
        probes = tmp_path / "dust" / "probes.jsonl"
        wait_until(lambda: probes.exists() and b"\n" in probes.read_bytes())
        crawl.send_signal(signal.SIGINT)
        _, said = crawl.communicate(timeout=PATIENCE)
        goes_on.set()
        assert crawl.returncode == 0, said
        assert "Traceback" not in said
        assert "Interrupted: the next time goes on from here." in said
        before = len(site.asked)
        with _runs(tmp_path, *(tmp_path / "dust").rglob("logs/*/*")) as runs:
            runs.start()
            status, told = runs.finish()
        assert status == 0
        assert told["fetches"] > 0
        twice = Counter(site.asked[before:]) & Counter(
            path for path in site.asked[:before] if "sid=" not in path
        )
        del twice["/robots.txt"]
        assert twice.total() <= UNDER_WAY
