"""First crawls of web software that runs on this machine, with nothing known of it: the second table of docs/online.md.

    python -m benchmarks.online_live [example] [NAME=URL …] [--limit 2000] [--delay 0.1] [--output docs/online.md]

Each site is crawled twice, as a user would, once with ``DUST_LEARN = "off"`` and once with ``"online"``, breadth first,
with no rules and no state from before. The plain crawl ends at its limit; the other one may ask for the same URLs, and
for no others, so that both are crawls of one and the same part of the web, to its end. *Redundant* are the URLs of the
plain crawl beyond one for each text; *avoided* are those that showed something and that the other one did not ask for,
less what it asked for twice to compare canaries with. Of the URLs of which it got no page, texts that no other one showed are lost *words*; they are lost *pages* where no
page that it got shares three of four min-hashes, since pages change. Of the example the server counts pages, which
knows what it showed. *MaybeDont*, *replayed* and *offline* are ``scrapy dusteval --online`` on the log of the plain crawl.
Rows of other sites that the table has stay as they are.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from scrapy_dust.commands.evaluating_online import METHODS, Total
from scrapy_dust.crawl_log import read_visits, visits_by_site
from scrapy_dust.dust.pages import Page, SiteLog, Visit, merge_visits
from scrapy_dust.learners.evaluation import content_by_text
from scrapy_dust.online.replaying import arrivals_of
from scrapy_dust.settings import DustSettings

ROOT = Path(__file__).resolve().parents[1]
_MARKER = "<!-- measured: benchmarks/online_live.py -->\n"
_NEXT = "\n## "
#: Min-hashes of four that two pages may share and be different.
_ALIKE = 2


@dataclass(frozen=True)
class Crawl:
    """One crawl, and what its log says."""

    requests: int
    seconds: float
    log: SiteLog
    visits: Mapping[str, Sequence[Visit]]  #: by site
    rules: int = 0
    waited: int = 0
    controls: int = 0  #: pages that canaries were compared with

    @cached_property
    def asked(self) -> frozenset[str]:
        return frozenset(visit.url for of_site in self.visits.values() for visit in of_site)


@dataclass(frozen=True, slots=True)
class Row:
    """One site."""

    name: str
    plain: Crawl
    online: Crawl
    replayed: Mapping[str, Total]
    lost: int
    words: int

    @property
    def redundant(self) -> int:
        return self.replayed["keepall"].sum_of("redundant")

    @property
    def share(self) -> float:
        """Of the redundant requests, how many were not made."""
        avoided = len(self.plain.asked - self.plain.log.failures - self.online.asked) - self.online.controls
        return avoided / self.redundant if self.redundant else 0.0


def example(delay: float, keep: Path) -> Row:
    sys.path.insert(0, str(ROOT / "example_project"))
    from dusty_web.compare import crawl_of  # noqa: PLC0415  Not a package of this project.
    from dusty_web.running import PROJECT, running_web  # noqa: PLC0415

    crawls, contents = [], []
    with running_web() as web:
        for learn in ("off", "online"):
            web.reset()
            told = keep / f"{learn}.metrics"
            settings = [*_settings(keep, learn, delay), f"-sDUST_METRICS_FILE={told}"]
            seconds = _scrapy(["crawl", "pages", *settings], PROJECT, {"EXAMPLE_WEB": web.proxy})
            counted = crawl_of(web.counts())
            contents.append(counted.contents)
            names = ("online_rules", "online_waited", "controls")
            numbers = [_metric(told.read_text(), f"dust_{name}") for name in names]
            crawls.append(_crawl(keep / learn, counted.requests, seconds, *numbers))
    plain, online = crawls
    words, _ = lost(plain, online)
    return Row("example", plain, online, replayed(plain), len(contents[0] - contents[1]), len(words))


def _metric(text: str, name: str) -> int:
    lines = [line for line in text.splitlines() if name in line and not line.startswith("#")]
    return int(float(lines[-1].split()[-1])) if lines else 0


def site(name: str, start: str, limits: Sequence[str], delay: float, keep: Path) -> Row:
    crawls: dict[str, Crawl] = {}
    for learn in ("off", "online"):
        told, only = keep / f"{learn}.stats", keep / "only.txt"
        arguments = [f"-astart={start}", f"-astats={told}"]
        if crawls:
            only.write_text("\n".join(sorted(crawls["off"].asked)), "utf-8")
        arguments += [f"-aonly={only}"] if crawls else limits
        spider = str(ROOT / "tests" / "e2e" / "everything.py")
        seconds = _scrapy(["runspider", spider, *arguments, *_settings(keep, learn, delay)], keep)
        stats = json.loads(told.read_text())
        numbers = [stats.get(f"dust/{which}", 0) for which in ("online/rules", "online/waited", "controls")]
        crawls[learn] = _crawl(keep / learn, stats["downloader/request_count"], seconds, *numbers)
    plain, online = crawls["off"], crawls["online"]
    words, pages = lost(plain, online)
    return Row(name, plain, online, replayed(plain), len(pages), len(words))


def _crawl(log: Path, requests: int, seconds: float, *numbers: int) -> Crawl:
    visits = {site: list(of_site) for site, of_site in visits_by_site(read_visits(log)).items()}
    every = (visit for of_site in visits.values() for visit in of_site)
    return Crawl(requests, seconds, merge_visits(every), visits, *numbers)


def replayed(crawl: Crawl) -> dict[str, Total]:
    """What each method would have made of *crawl*."""
    truth = content_by_text(visit for of_site in crawl.visits.values() for visit in of_site)
    arrivals = list(arrivals_of(crawl.visits, truth))
    return {
        name: Total(name, [method(one, DustSettings()) for one in arrivals])
        for name, method in METHODS.items()
    }


def lost(plain: Crawl, online: Crawl) -> tuple[list[Page], list[Page]]:
    """One page of each text that only the one crawl got, and of these the ones that nothing the other got is like."""
    got = {page.url for page in online.log.pages}
    shown = {page.text_digest for page in online.log.pages}
    shown |= {page.text_digest for page in plain.log.pages if page.url in got}
    words = list(
        {page.text_digest: page for page in plain.log.pages if page.text_digest not in shown}.values()
    )
    known = [page.sketch for page in online.log.pages if page.sketch]
    pages = [page for page in words if not any(_alike(page.sketch, other) for other in known)]
    return words, pages


def _alike(one: Sequence[int] | None, other: Sequence[int]) -> bool:
    return sum(a == b for a, b in zip(one or (), other, strict=False)) > _ALIKE


def _settings(folder: Path, learn: str, delay: float) -> list[str]:
    return [
        '-sADDONS={"scrapy_dust.Addon": 900}',
        f"-sDUST_DIR={folder / learn}",
        f"-sDUST_RULES={folder / learn}.rules.json",
        f"-sDUST_LEARN={learn}",
        "-sLOG_LEVEL=INFO",
        f"-sLOG_FILE={folder / learn}.log",
        "-sLOGSTATS_INTERVAL=10",
        "-sCONCURRENT_REQUESTS_PER_DOMAIN=8",
        "-sDEPTH_PRIORITY=1",
        "-sSCHEDULER_MEMORY_QUEUE=scrapy.squeues.FifoMemoryQueue",
        f"-sDOWNLOAD_DELAY={delay}",
        "-sTELNETCONSOLE_ENABLED=False",
        "-sREMOTE_CONTROL_ENABLED=False",
    ]


def _scrapy(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> float:
    """How many seconds it took."""
    began = time.monotonic()
    variables = os.environ | {"PYTHONPATH": str(ROOT)} | dict(environment or {})
    subprocess.run([sys.executable, "-m", "scrapy", *command], cwd=folder, env=variables, check=True)
    return time.monotonic() - began


def as_markdown(rows: Sequence[Row]) -> Iterator[str]:
    yield (
        "| site | requests, plain | redundant | requests, online | MaybeDont | **online** | replayed | offline | rules "
        "| waited | pages lost | words |"
    )
    yield "|---|" + "---:|" * 11
    for row in rows:
        shares = {name: f"{total.share:.1%}" for name, total in row.replayed.items()}
        yield (
            f"| {row.name} | {row.plain.requests:,} | {row.redundant:,} | {row.online.requests:,} "
            f"| {shares['maybedont']} | **{row.share:.1%}** | {shares['online']} | {shares['offline']} "
            f"| {row.online.rules} | {row.online.waited:,} | {row.lost} | {row.words} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sites", nargs="+", help="example, or NAME=URL")
    parser.add_argument("--limit", type=int, default=2000, help="pages of a plain crawl")
    parser.add_argument("--seconds", type=int, default=240, help="of a plain crawl")
    parser.add_argument("--delay", type=float, default=0.1, help="seconds between two requests to a host")
    parser.add_argument("--keep", type=Path, help="a folder for the logs of the crawls")
    parser.add_argument("--output", type=Path, help="a Markdown page; the table goes below its marker")
    options = parser.parse_args()
    limits = [f"-sCLOSESPIDER_PAGECOUNT={options.limit}", f"-sCLOSESPIDER_TIMEOUT={options.seconds}"]
    rows = []
    for one in options.sites:
        name, _, start = one.partition("=")
        with tempfile.TemporaryDirectory() as temporary:
            keep = Path(temporary) if options.keep is None else options.keep.resolve() / name
            keep.mkdir(parents=True, exist_ok=True)
            rows.append(
                site(name, start, limits, options.delay, keep) if start else example(options.delay, keep)
            )
        row = rows[-1]
        print(*as_markdown([row]), sep="\n")
        print(f"{row.plain.seconds:.0f} s and {row.online.seconds:.0f} s", flush=True)
    if options.output:
        page, _, rest = options.output.read_text("utf-8").partition(_MARKER)
        table, heading, after = rest.partition(_NEXT)
        text = _with_rows(table, list(as_markdown(rows)))
        options.output.write_text(f"{page}{_MARKER}\n{text}{heading}{after}", "utf-8")
    else:
        print(*as_markdown(rows), sep="\n")


def _with_rows(table: str, lines: Sequence[str]) -> str:
    head, new = lines[:2], {line.split("|")[1]: line for line in lines[2:]}
    known = {line.split("|")[1]: line for line in table.splitlines()[3:] if line.startswith("|")}
    return "\n".join([*head, *(known | new).values()]) + "\n"


if __name__ == "__main__":
    main()
