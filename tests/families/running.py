"""Crawl a generated site as a user would, in each mode, and tell what of its truth the crawls have got.

A crawl without scrapy-dust is the oracle. All else is what settings, commands and items show; nothing here looks into the code.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.crawl.site import Answer, Site, error, serving
from tests.families.apart import APART
from tests.families.attacked import ATTACKED
from tests.families.drafting import Draft, Fetch, Item, Web
from tests.families.moving import MOVING
from tests.families.one import ONE
from tests.waiting import PATIENCE

SPIDER = Path(__file__).with_name("spider.py")
FAMILIES = {**APART, **ONE, **ATTACKED, **MOVING}
#: Modes of a crawl, and what they set. *rules* has what ``dustmine`` found, *again* what *online* learned.
MODES: Mapping[str, Mapping[str, str]] = {
    "rules": {"DUST_RULES": "mined.json"},
    # Slowly, so that there is still something to suppress when rules are known.
    "online": {
        "DUST_RULES": "online.json",
        "DUST_LEARN": "online",
        "DOWNLOAD_DELAY": "0.1",
        "RANDOMIZE_DOWNLOAD_DELAY": "False",
    },
    "again": {"DUST_RULES": "online.json"},
    "drop": {"DUST_RULES": "none.json", "DUST_CONTENT_DEDUP": "drop"},
}
_QUIET = {
    "LOG_LEVEL": "INFO",
    "AUTOTHROTTLE_ENABLED": "False",
    "DOWNLOAD_DELAY": "0",
    "TELNETCONSOLE_ENABLED": "False",
    "REMOTE_CONTROL_ENABLED": "False",
}


#: What ``dustrules list`` calls rules that suppress requests.
IN_FORCE = {"valid", "in force"}


class Serving:
    """A generated site, as it is asked for: a page may know how often it was asked for since the last `forget`."""

    def __init__(self, web: Web, seed: str) -> None:
        self.web, self.chance, self.lock = web, random.Random(f"{seed} volatile"), threading.Lock()
        self.times: Counter[str] = Counter()

    def __call__(self, path: str) -> Answer:
        page = self.web.pages.get(path)
        if page is None:
            return error(404)
        with self.lock:
            fetch = Fetch(random.Random(self.chance.getrandbits(64)), self.times[path])
            self.times[path] += 1
        return page.show(fetch)

    def forget(self) -> None:
        self.times.clear()


@dataclass(frozen=True)
class Got:
    """What one crawl brought."""

    items: set[Item]
    requests: int
    reason: str


@dataclass(frozen=True)
class Result:
    """One family, one seed."""

    family: str
    seed: int
    pages: int
    items: int
    told_apart: bool  #: whether the oracle got exactly what the truth says
    lost: Mapping[str, int]  #: items, by mode
    requests: Mapping[str, int]
    fetches: int  #: of the validation
    aliases: int  #: URLs beyond one of each page
    joined: Mapping[str, int]  #: of these, how many the rules of a mode take for the page they are
    wrongly: Mapping[str, int]  #: URLs that the rules of a mode take for another page
    rules: Mapping[str, Sequence[str]]


class Running:
    """The crawls of one site, in a folder of their own."""

    def __init__(self, web: Web, site: Site, server: Serving, folder: Path) -> None:
        self.web, self.site, self.server, self.folder = web, site, server, folder
        self.ours = {**_ADDON, "DUST_IGNORE": web.ignore}
        told = {"takes": [asdict(take) for take in web.takes], "wall": web.wall}
        (folder / f"{site.port}.told.json").write_text(json.dumps(told))

    def crawl(self, mode: str, settings: Mapping[str, str] | None) -> Got:
        """A crawl with these settings of ours; with None, one without scrapy-dust."""
        self.server.forget()
        got = self.folder / f"{mode}.got.json"
        ours = {} if settings is None else {"DUST_DIR": f"{mode}.dust", **self.ours, **settings}
        arguments = [
            f"-abegin={self.site.url('/')}",
            f"-atold={self.folder / f'{self.site.port}.told.json'}",
            f"-agot={got}",
        ]
        self.scrapy("runspider", str(SPIDER), *arguments, **{**_QUIET, "LOG_FILE": f"{mode}.log", **ours})
        said = json.loads(got.read_text())
        return Got({tuple(item) for item in said["items"]}, said["requests"], said["reason"])

    def scrapy(self, *command: str, given: str = "", **settings: str) -> str:
        chosen = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "scrapy", *command, *chosen],
            cwd=self.folder,
            env={**os.environ, "PYTHONUTF8": "1"},
            input=given,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"scrapy {command[0]}: {done.stderr[-2000:]}")
        return done.stdout

    def mine(self) -> int:
        """Validation fetches of ``dustmine`` on the log of the recorded crawl."""
        self.server.forget()
        said = self.scrapy(
            "dustmine", "--json", **self.ours, DUST_DIR="recorded.dust", DUST_RULES="mined.json"
        )
        return int(json.loads(said)["fetches"])

    def keys(self, book: str) -> dict[str, str]:
        """Path → key by the rules in force; nothing where there is no book."""
        if not (self.folder / book).exists():
            return {}
        urls = "\n".join(map(self.site.url, self.web.pages))
        said = self.scrapy("dustrules", "keys", "-", given=urls, **_ADDON, DUST_RULES=book)
        lines = (line.partition("\t") for line in said.splitlines() if "\t" in line)
        return {url.partition(self.site.name)[2]: key for key, _, url in lines}

    def rules(self, book: str) -> list[str]:
        if not (self.folder / book).exists():
            return []
        said = self.scrapy("dustrules", "list", "--json", **_ADDON, DUST_RULES=book)
        rules = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
        return [saying(rule) for rule in rules if rule["status"] in IN_FORCE]


def saying(rule: Mapping[str, object]) -> str:
    """A rule of ``dustrules list --json``, without its evidence."""
    if "reads" in rule:
        return str(rule["reads"])
    said = (
        f"{name} {value!r}"
        for name, value in rule.items()
        if name not in {"site", "id", "status", "evidence"}
    )
    return ", ".join(said)


_ADDON = {"ADDONS": '{"scrapy_dust.Addon": 900}'}


@contextmanager
def running(family: str, seed: int, folder: Path) -> Iterator[Running]:
    """The site that *family* draws from *seed*, served."""
    name = f"{family} {seed}"
    web = FAMILIES[family](Draft(name))
    server = Serving(web, name)
    with serving(server) as site:
        yield Running(web, site, server, folder)


@dataclass(frozen=True)
class Way:
    """What was done at one copy of the site, one thing after the other."""

    got: Mapping[str, Got]
    keys: Mapping[str, str]
    rules: Sequence[str]
    fetches: int = 0


def _mined(crawls: Running) -> Way:
    got = {"plain": crawls.crawl("plain", None)}
    crawls.crawl("recorded", {"DUST_RULES": "none.json"})
    fetches = crawls.mine()
    got |= {mode: crawls.crawl(mode, MODES[mode]) for mode in ("rules", "drop")}
    return Way(got, crawls.keys("mined.json"), crawls.rules("mined.json"), fetches)


def _learned(crawls: Running) -> Way:
    got = {"online": crawls.crawl("online", MODES["online"])}
    keys, rules = crawls.keys("online.json"), crawls.rules("online.json")
    got["again"] = crawls.crawl("again", MODES["again"])
    return Way(got, keys, rules)


def result_of(family: str, seed: int, folder: Path) -> Result:
    """What each mode gets of the site that *family* draws from *seed*; what is slow goes on beside the others."""
    with (
        running(family, seed, folder) as one,
        running(family, seed, folder) as other,
        ThreadPoolExecutor(1) as beside,
    ):
        learned = beside.submit(_learned, other)
        ways = {"rules": _mined(one), "online": learned.result()}
    got = {**ways["rules"].got, **ways["online"].got}
    oracle, aliases = got["plain"], one.web.aliases()
    return Result(
        family,
        seed,
        len(one.web.pages),
        len(oracle.items),
        oracle.items == one.web.items(),
        {mode: len(oracle.items - got[mode].items) for mode in MODES},
        {mode: crawl.requests for mode, crawl in got.items()},
        ways["rules"].fetches,
        sum(len(paths) - 1 for paths in aliases),
        {mode: joined(way.keys, aliases) for mode, way in ways.items()},
        {mode: wrongly(way.keys, one.web) for mode, way in ways.items()},
        {mode: way.rules for mode, way in ways.items()},
    )


def joined(keys: Mapping[str, str], aliases: Iterable[Sequence[str]]) -> int:
    """URLs that share their key with another of their page, beyond one for each key."""
    return sum(len(paths) - len({keys.get(path, path) for path in paths}) for paths in aliases)


def wrongly(keys: Mapping[str, str], web: Web) -> int:
    """Pages that share their key with another page, beyond one for each key."""
    pages: dict[str, set[str]] = {}
    for path, page in web.pages.items():
        pages.setdefault(keys.get(path, path), set()).add(page.name)
    return sum(len(names) - 1 for names in pages.values())
