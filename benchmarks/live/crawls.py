"""The crawls and commands of one site: what is started, with which settings, for how long at most, and what came of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from scrapy import Request
from scrapy.utils.request import fingerprint

ROOT = Path(__file__).resolve().parents[2]
SPIDER = Path(__file__).with_name("spider.py")
#: Seconds between the request to end and the end by force.
_GRACE = 20


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of one command."""

    out: str
    cpu: float  #: seconds, with those of its own processes
    seconds: float
    ended: bool  #: by itself, within its time
    code: int


@dataclass(frozen=True)
class Page:
    asked: str
    url: str
    units: Sequence[Sequence[str]]  #: kind, hash of the place, hash of the value


@dataclass(frozen=True)
class Crawl:
    """One crawl, by what its spider wrote."""

    folder: Path
    ran: Ran
    summary: Mapping[str, object] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        """Why it ended; the end by force, where it did not end by itself, may come after its spider's."""
        return str(self.summary.get("reason", "no summary")) if self.ran.ended else "did not end"

    @cached_property
    def asked(self) -> list[str]:
        return _lines(self.folder / "asked.txt")

    @cached_property
    def pages(self) -> list[Page]:
        try:
            text = (self.folder / "pages.jsonl").read_text("utf-8")
        except OSError:
            return []
        return [Page(**json.loads(line)) for line in text.splitlines() if line.endswith("}")]

    def suppressed(self, journaled: Iterable[str] = ()) -> list[str]:
        """Requests that were kept from being made, one for each of Scrapy's own fingerprints.

        These are requests that the scheduler refused each time, and the *journaled* ones; of a crawl that has fetched all it
        wanted, all others as well.
        """
        got = {plain_key(url) for url in self.asked} | {plain_key(page.url) for page in self.pages}
        wanted = _lines(self.folder / "wanted.txt") if self.reason == "finished" else []
        missed = {plain_key(url): url for url in (*wanted, *self._refused(), *journaled)}
        return [url for key, url in missed.items() if key not in got]

    def _refused(self) -> list[str]:
        accepted: Counter[bytes] = Counter()
        urls = {}
        for line in _lines(self.folder / "scheduled.txt"):
            count, refused, url = line.split("\t", 2)
            accepted[plain_key(url)] += int(count) - int(refused)
            urls[plain_key(url)] = url
        return [url for key, url in urls.items() if not accepted[key]]


#: What ``dustrules list`` calls rules that suppress requests.
IN_FORCE = {"valid", "in force"}
#: What the stats are called that count what a rule suppressed.
_FILTERED = "dust/filtered/"
#: What it says of a rule beside the rule.
_BESIDE = {"site", "id", "status", "evidence", "before", "after", "guard", "operations"}


def saying(rule: Mapping[str, object]) -> str:
    """A rule of ``dustrules list --json``, without its evidence."""
    if "reads" in rule:
        return str(rule["reads"])
    return ", ".join(f"{name} {value!r}" for name, value in rule.items() if name not in _BESIDE)


def plain_key(url: str) -> bytes:
    return fingerprint(Request(url))


def _lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text("utf-8").split("\n") if line]
    except OSError:
        return []


def run(command: Sequence[str], folder: Path, seconds: float, given: str = "") -> Ran:
    """Run a command for so many seconds at most; asked to end then, and ended a little later."""
    began = time.monotonic()
    out, err = folder / "out.txt", folder / "err.txt"
    (folder / "in.txt").write_text(given, "utf-8")
    variables = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    with out.open("wb") as told, err.open("ab") as warned, (folder / "in.txt").open("rb") as said:
        process = subprocess.Popen(
            command, cwd=folder, env=variables, stdin=said, stdout=told, stderr=warned, start_new_session=True
        )
        try:
            status, usage, ended = _wait(process.pid, began + seconds)
        except BaseException:
            _end_group(process.pid, signal.SIGKILL)
            process.wait()
            raise
    process.returncode = os.waitstatus_to_exitcode(status)
    cpu = usage.ru_utime + usage.ru_stime
    return Ran(out.read_text("utf-8", "replace"), cpu, time.monotonic() - began, ended, process.returncode)


def _wait(pid: int, until: float) -> tuple[int, object, bool]:
    steps = [(until, signal.SIGTERM), (until + _GRACE, signal.SIGKILL)]
    ended = True
    while True:
        found, status, usage = os.wait4(pid, os.WNOHANG)
        if found:
            if not ended:
                _end_group(pid, signal.SIGKILL)
            return status, usage, ended
        if steps and time.monotonic() > steps[0][0]:
            ended = False
            _end_group(pid, steps.pop(0)[1])
        time.sleep(0.05)


def _end_group(pid: int, how: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, how)


def scrapy(folder: Path, seconds: float, *command: str, given: str = "") -> Ran:
    return run([sys.executable, "-W", "ignore", "-m", "scrapy", *command], folder, seconds, given)


@dataclass(frozen=True, slots=True)
class Site:
    """How a site is crawled; each crawl has a folder of its own in *folder*."""

    start: str
    folder: Path
    budget: int
    seconds: int
    deny: str = ""

    def crawl(
        self,
        name: str,
        *,
        rules: str = "",
        learn: str = "off",
        traps: str = "last",
        addon: bool = True,
        after: str = "",
    ) -> Crawl:
        """Crawl with the rule book *rules*, a file in the site's folder, and with what is kept beside the logs of the
        crawl *after*; crawls have no other state in common.
        """
        folder = self.folder / name
        folder.mkdir()
        if after:
            logs = shutil.ignore_patterns("logs", "journal")
            shutil.copytree(self.folder / after / "dust", folder / "dust", ignore=logs)
        arguments = [
            f"-astart={self.start}",
            f"-afolder={folder}",
            f"-abudget={self.budget}",
            f"-adeny={self.deny}",
        ]
        chosen = [*_scrapys_settings(folder), f"-sCLOSESPIDER_TIMEOUT={self.seconds}"]
        if addon:
            chosen += [*self.settings(name, rules or f"{name}.rules.json"), f"-sDUST_LEARN={learn}"]
            chosen.append(f"-sDUST_TRAPS={traps}")
        # What is done when a crawl has ended, such as mining, has as much time again.
        ran = scrapy(folder, 3 * self.seconds, "runspider", str(SPIDER), *arguments, *chosen)
        try:
            summary = json.loads((folder / "summary.json").read_text())
        except OSError:
            summary = {}
        return Crawl(folder, ran, summary)

    def settings(self, name: str, rules: str) -> list[str]:
        return [
            '-sADDONS={"scrapy_dust.Addon": 900}',
            f"-sDUST_DIR={self.folder / name / 'dust'}",
            f"-sDUST_RULES={self.folder / rules}",
        ]

    def command(self, name: str, rules: str, *command: str, seconds: float = 300, given: str = "") -> Ran:
        return scrapy(self.folder / name, seconds, *command, *self.settings(name, rules), given=given)

    def keys(self, name: str, rules: str, urls: Iterable[str]) -> dict[str, str]:
        """URL → its key by the rules in force."""
        said = self.command(name, rules, "dustrules", "keys", "-", given="\n".join(dict.fromkeys(urls))).out
        pairs = [line.partition("\t") for line in said.splitlines() if "\t" in line]
        return {url: key for key, _, url in pairs}

    def rules(self, name: str, rules: str) -> list[dict[str, object]]:
        """What ``dustrules list`` says of each rule."""
        said = self.command(name, rules, "dustrules", "list", "--json").out
        return [json.loads(line) for line in said.splitlines() if line.startswith("{")]

    def journaled(self, crawl: Crawl, rules: str) -> list[str]:
        """What the journal of *crawl* says that rules suppressed; rules that held in it only are in its stats."""
        name = crawl.folder.name
        ids = [str(rule["id"]) for rule in self.rules(name, rules)]
        ids += [stat.removeprefix(_FILTERED) for stat in crawl.summary if stat.startswith(_FILTERED)]
        ids = sorted(set(ids) - {"others"})
        return self.command(name, rules, "dustrules", "requeue", *ids, "--dry-run").out.split() if ids else []

    def explained(self, name: str, rules: str, url: str) -> list[str]:
        """The rules that change *url*."""
        said = self.command(name, rules, "dustrules", "explain", url, "--json").out
        try:
            steps = json.loads(said)["steps"]
        except (ValueError, KeyError):
            return []
        return [f"{step.get('id')} {saying(step)}" for step in steps]


def _scrapys_settings(folder: Path) -> list[str]:
    return [
        "-sLOG_LEVEL=INFO",
        f"-sLOG_FILE={folder / 'crawl.log'}",
        "-sAUTOTHROTTLE_ENABLED=False",
        "-sDOWNLOAD_DELAY=0",
        "-sCONCURRENT_REQUESTS_PER_DOMAIN=8",
        "-sDEPTH_PRIORITY=1",
        "-sSCHEDULER_MEMORY_QUEUE=scrapy.squeues.FifoMemoryQueue",
        "-sTELNETCONSOLE_ENABLED=False",
        "-sREMOTE_CONTROL_ENABLED=False",
    ]
