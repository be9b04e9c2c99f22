"""Follows pages of these docs: runs what they show, as they show it, in the Python environment that runs this.

    python docs/follow.py [PAGE ...]

Each page has a folder of its own, with what its `<!-- follow: … -->` comments ask for. `tox -e demo` follows all of
them in a fresh virtual environment with the wheel that is built. Nothing but pip leaves this machine: the shop that pages
crawl is a proxy here. What is lacking is named, and costs the rest of its page only.

In a page: a `console` block is run line by line, and the lines shown below a command must be among what it prints, but for numbers; a
`python` block that begins with `# settings.py` is added to the project's settings, one with another path is that file; any block
after `<!-- follow: file NAME -->` is that file.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import shop

DOCS = Path(__file__).resolve().parent
PAGES = (
    "symptoms/same-page.md",
    "symptoms/never-ends.md",
    "symptoms/facets-and-calendars.md",
    "symptoms/session-ids.md",
    "symptoms/only-new.md",
    "symptoms/memory.md",
    "symptoms/many-workers.md",
    "symptoms/scrapyd.md",
    "symptoms/log-files.md",
    "symptoms/why-not-fetched.md",
    "symptoms/no-rules.md",
    "howto/existing-project.md",
    "howto/access-log.md",
    "howto/review.md",
    "howto/redis.md",
    "howto/scrapyd.md",
    "howto/shards.md",
    "howto/hosted.md",
    "howto/playwright.md",
    "tutorial.md",
    "report.md",
    "other-logs.md",
    "travelling.md",
    "rule-book.md",
    "content.md",
    "staying-true.md",
    "evaluation.md",
    "commands.md",
)

_BLOCK = re.compile(
    r"^<!-- follow: (?P<told>.*?) -->$|^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


#: What pages call the store that is a folder here.
_STORE = "s3://our-crawls"

#: Of one environment, two must not install into it at a time.
_INSTALLING = threading.Lock()


class Absent(Exception):
    """What a page needs and this machine has not."""


class Unlike(Exception):
    """A page shows what does not happen."""


@dataclass(slots=True)
class Walk:
    """One page being followed."""

    folder: Path
    proxy: int  #: port of the shop
    ran: int = 0
    file: str | None = None  #: what the next block is
    left_out: str | None = None  #: why the next block is
    redis: int = 0  #: port of its own Redis
    told: list[str] = field(default_factory=list)
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def step(self, told: str | None, kind: str, text: str) -> None:
        if told is not None:
            word, _, rest = told.partition(" ")
            _TOLD[word](self, rest)
            return
        if self.left_out is not None:
            self.left_out = None
        elif self.file is not None:
            self._write(self.file, text)
            self.file = None
        elif kind == "console":
            self._session(text)
        elif kind == "python" and text.startswith("# ") and text.partition("\n")[0].endswith(".py"):
            name, _, code = text[2:].partition("\n")
            self.add(code) if name == "settings.py" else self._write(name, code)

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def add(self, code: str) -> None:
        path = self.folder / "shop" / "settings.py"
        known = path.read_text("utf-8") if path.exists() else ""
        path.write_text(known + "\n" + self._here(code), "utf-8")

    def _here(self, text: str) -> str:
        store = self.folder / "store"
        store.mkdir(exist_ok=True)
        text = re.sub(r"aws s3 (cp .*)", lambda copy: copy[1].replace(_STORE, str(store)), text)
        return text.replace("127.0.0.1:6379", f"127.0.0.1:{self.redis}").replace(_STORE, store.as_uri())

    def _session(self, text: str) -> None:
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            self.run(command, [line for line in shown.splitlines() if line.strip(" …")])

    def run(self, command: str, shown: list[str]) -> None:
        begun = time.monotonic()
        with _INSTALLING if " pip " in command else nullcontext():
            done = self._done(command)
        said = done.stdout + done.stderr
        if done.returncode and " pip install " in command:
            raise Absent(f"what `{command}` installs")
        if done.returncode:
            raise Unlike(f"`{command}` ended with {done.returncode}:\n{said}")
        printed = {_shape(line) for line in said.splitlines()}
        for line in shown:
            if _shape(line) not in printed:
                raise Unlike(f"`{command}` does not print {line!r}. It prints:\n{said}")
        self.ran += 1
        self.told.append(f"  {time.monotonic() - begun:5.1f} s  {command}")

    def _done(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", self._here(command)],
            cwd=self.folder,
            env=self.environment(command),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=600,
            check=False,
        )

    def environment(self, command: str) -> dict[str, str]:
        bin_folder = str(Path(sys.executable).parent)
        own = {
            **os.environ,
            "PATH": f"{bin_folder}{os.pathsep}{os.environ.get('PATH', '')}",
            "PYTHONUTF8": "1",
            "COLUMNS": "120",
            "PIP_NO_COMPILE": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_QUIET": "1",
        }
        own.pop("NO_COLOR", None)
        if " pip " in command:
            return own
        proxies = {"http_proxy": f"http://127.0.0.1:{self.proxy}", "no_proxy": "127.0.0.1,localhost"}
        return {**own, **proxies, "HOME": str(self.folder)}

    def stop(self) -> None:
        for process in self.started:
            process.terminate()
            process.wait(20)


def _shape(line: str) -> str:
    """*line* without what differs from run to run: numbers, ids, times and the width of columns."""
    line = re.sub(r"\b[0-9a-f]{8}\b", "ID", line)
    line = re.sub(r"\d[\d.,:T-]*Z?", "N", re.sub(r"-{2,}", "--", line))
    return re.sub(r"\s+", " ", line).strip()


def _project(walk: Walk, _: str) -> None:
    shop.write_project(walk.folder)


_MINING = threading.Lock()
_BOOK: list[bytes] = []


def _rules(walk: Walk, _: str) -> None:
    """A rule book as `dustmine` has it from the shop; made once for all pages."""
    with _MINING:
        if not _BOOK:
            (walk.folder / "log.jsonl.gz").write_bytes(shop.crawl_log())
            walk.run("scrapy dustmine log.jsonl.gz --no-validate", [])
            _BOOK.append((walk.folder / "dust-rules.json").read_bytes())
    (walk.folder / "dust-rules.json").write_bytes(_BOOK[0])


def _logged(walk: Walk, _: str) -> None:
    """A project that has crawled."""
    shop.write_project(walk.folder)
    walk.add('ADDONS = {"scrapy_dust.Addon": 900}')
    log = walk.folder / ".scrapy" / "dust" / "logs" / "shop" / "20261118T100000.000000Z-1-aae9e0a7.jsonl.gz"
    log.parent.mkdir(parents=True)
    log.write_bytes(shop.crawl_log())


def _pages(walk: Walk, _: str) -> None:
    """The project has a store of contents, and somebody else's beside it."""
    walk.add('DUST_CONTENT_STORE = "pages.sqlite"')
    walk.run("scrapy crawl shop", [])
    shutil.copy(walk.folder / ".scrapy" / "dust" / "pages.sqlite", walk.folder / "other.sqlite")


_MADE: dict[str, Callable[[], bytes]] = {
    "access.log": lambda: shop.access_log().encode(),
    "access.log.1.gz": lambda: gzip.compress(shop.access_log().encode()),
    "apache.log": lambda: shop.access_log_with_hosts(_APACHE).encode(),
    "nginx.log": lambda: shop.access_log_with_hosts(_NGINX).encode(),
    "archives/crawl.warc.gz": shop.web_archive,
    "cdx-00000.gz": shop.index_of_archive,
    "my-crawl.jsonl.gz": lambda: shop.crawl_log(200),
    "robots.txt": lambda: b"# site: shop.example\nUser-agent: Yandex\nClean-param: ref&src /\n",
    "expected.csv": lambda: (
        b"http://shop.example/p/1/?sid=1, http://shop.example/p/1/, same\n"
        b"http://shop.example/p/1/, http://shop.example/p/2/, different\n"
    ),
}
_TIME = "[18/Nov/2026:10:00:00 +0000]"
_APACHE = f'{{host}} 192.0.2.7 {_TIME} "GET {{target}} HTTP/1.1" 200 700 12'
_NGINX = f'{{host}} {_TIME} "GET {{target}} HTTP/1.1" 200 700'


def _make(walk: Walk, names: str) -> None:
    for name in names.split():
        path = walk.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(_MADE[name]())


def _needs(walk: Walk, names: str) -> None:
    for name in names.split():
        if shutil.which(name) is None:
            raise Absent(name)


def _chromium(walk: Walk, _: str) -> None:
    """A browser that is there, and goes through the proxy."""
    browser = os.environ.get("DUST_CHROMIUM") or shutil.which("chromium")
    if browser is None or not Path(browser).exists():
        raise Absent("chromium")
    arguments = [
        "--no-sandbox",
        f"--proxy-server=http://127.0.0.1:{walk.proxy}",
        "--proxy-bypass-list=<-loopback>",
    ]
    walk.add(f"PLAYWRIGHT_LAUNCH_OPTIONS = {{'executable_path': {browser!r}, 'args': {arguments!r}}}\n")


def _redis(walk: Walk, _: str) -> None:
    """A Redis of its own, on a port of its own."""
    server = shutil.which(os.environ.get("DUST_REDIS_SERVER", "redis-server"))
    if server is None:
        raise Absent("redis-server")
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        walk.redis = one.getsockname()[1]
    options = ["--bind", "127.0.0.1", "--port", str(walk.redis), "--save", "", "--dir", str(walk.folder)]
    walk.started.append(subprocess.Popen([server, *options], stdout=subprocess.DEVNULL))
    _await(walk.redis, "a Redis that answers")


def _scrapyd(walk: Walk, _: str) -> None:
    """The page's own Scrapyd, on the port that it has by default."""
    server = Path(sys.executable).with_name("scrapyd")
    if not server.exists():
        raise Absent("scrapyd")
    with (walk.folder / "scrapyd.log").open("wb") as log:
        walk.started.append(
            subprocess.Popen(
                [server], cwd=walk.folder, env=walk.environment("scrapyd"), stdout=log, stderr=log
            )
        )
    _await(6800, "a Scrapyd that answers")


def _await(port: int, what: str) -> None:
    for _ in range(200):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise Absent(what)


def _file(walk: Walk, name: str) -> None:
    walk.file = name


def _not(walk: Walk, why: str) -> None:
    walk.left_out = why


_TOLD: dict[str, Callable[[Walk, str], None]] = {
    "project": _project,
    "rules": _rules,
    "logged": _logged,
    "pages": _pages,
    "make": _make,
    "needs": _needs,
    "chromium": _chromium,
    "redis": _redis,
    "scrapyd": _scrapyd,
    "file": _file,
    "not": _not,
}


def steps(page: str) -> Iterator[tuple[str | None, str, str]]:
    for match in _BLOCK.finditer((DOCS / page).read_text("utf-8")):
        yield match["told"], match["kind"] or "", match["text"] or ""


def follow(page: str, proxy: int) -> str | None:
    """What went wrong; None: nothing."""
    with tempfile.TemporaryDirectory() as folder:
        walk = Walk(Path(folder), proxy)
        wrong = None
        try:
            for step in steps(page):
                walk.step(*step)
        except Absent as lacking:
            walk.told.append(f"  the rest is left out: {lacking} is not here")
        except (Unlike, subprocess.TimeoutExpired) as unlike:
            wrong = f"docs/{page}: {unlike}"
        finally:
            walk.stop()
        print("\n".join([f"{page}: {walk.ran} commands", *walk.told]), flush=True)
        return wrong


def main(pages: list[str]) -> int:
    # Two at a time: a command is one process, and mostly waits for the one server.
    with shop.serving() as proxy, ThreadPoolExecutor(2) as threads:
        wrong = [said for said in threads.map(lambda page: follow(page, proxy), pages or PAGES) if said]
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
