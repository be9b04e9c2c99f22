"""First crawls of web software that runs on this machine, with nothing known of it: the second table of docs/online.md.

    python -m benchmarks.online_live [example] [NAME=URL …] [--deny REGEX] [--delay 0.02] [--output docs/online.md]

Each site is crawled to its end twice, as a user would, once with ``DUST_LEARN = "off"`` and once with ``"online"``, with
no rules and no state from before. *Redundant* are the requests of the plain crawl beyond one for each content it got;
*avoided* is how many fewer requests the other crawl made; *lost* are contents that it did not get, by equal text or,
since pages change, by three of four min-hashes. Of the example the server counts, which knows what it showed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scrapy_dust.crawl_log import read_visits
from scrapy_dust.dust.pages import Page, merge_visits

ROOT = Path(__file__).resolve().parents[1]
_MARKER = "<!-- measured: benchmarks/online_live.py -->\n"
_NEXT = "\n## "


@dataclass(frozen=True, slots=True)
class Row:
    """One site."""

    name: str
    plain: int  #: requests
    contents: int
    online: int  #: requests
    lost: int
    rules: int
    waited: int

    @property
    def share(self) -> float:
        """Of the redundant requests, how many were not made."""
        redundant = self.plain - self.contents
        return (self.plain - self.online) / redundant if redundant else 0.0


def example(delay: float) -> Row:
    sys.path.insert(0, str(ROOT / "example_project"))
    from dusty_web.compare import crawl_of  # noqa: PLC0415  Not a package of this project.
    from dusty_web.running import PROJECT, running_web  # noqa: PLC0415

    with running_web() as web, tempfile.TemporaryDirectory() as folder:
        crawls, told = [], Path(folder, "metrics")
        for learn in ("off", "online"):
            web.reset()
            settings = [*_settings(Path(folder), learn, delay), f"-sDUST_METRICS_FILE={told}"]
            environment = {**os.environ, "EXAMPLE_WEB": web.proxy}
            _scrapy(["crawl", "pages", *settings], PROJECT, environment)
            crawls.append(crawl_of(web.counts()))
        rules, waited = (_metric(told.read_text(), f"dust_online_{name}") for name in ("rules", "waited"))
    plain, online = crawls
    lost = len(plain.contents - online.contents)
    return Row("example", plain.requests, plain.oracle, online.requests, lost, rules, waited)


def _metric(text: str, name: str) -> int:
    lines = [line for line in text.splitlines() if name in line and not line.startswith("#")]
    return int(float(lines[-1].split()[-1])) if lines else 0


def site(name: str, start: str, deny: str, delay: float) -> Row:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        stats, pages = {}, {}
        for learn in ("off", "online"):
            told = folder / f"{learn}.stats"
            arguments = [f"-astart={start}", f"-adeny={deny}", f"-astats={told}"]
            spider = str(ROOT / "tests" / "e2e" / "everything.py")
            _scrapy(["runspider", spider, *arguments, *_settings(folder, learn, delay)], folder)
            stats[learn] = json.loads(told.read_text())
            pages[learn] = merge_visits(read_visits(folder / learn)).pages
    plain, online = (stats[learn]["downloader/request_count"] for learn in ("off", "online"))
    contents = len({page.text_digest for page in pages["off"]})
    rules, waited = (stats["online"].get(f"dust/online/{which}", 0) for which in ("rules", "waited"))
    return Row(name, plain, contents, online, len(lost(pages["off"], pages["online"])), rules, waited)


def lost(before: Sequence[Page], after: Sequence[Page]) -> list[Page]:
    """Pages of the one crawl that none of the other is."""
    texts = {page.text_digest for page in after}
    known = [page.sketch for page in after if page.sketch]
    return [
        page
        for page in before
        if page.text_digest not in texts
        and not any(_alike(page.sketch, other) for other in known if page.sketch)
    ]


def _alike(one: Sequence[int] | None, other: Sequence[int]) -> bool:
    return sum(a == b for a, b in zip(one or (), other, strict=False)) > 2


def _settings(folder: Path, learn: str, delay: float) -> list[str]:
    return [
        '-sADDONS={"scrapy_dust.Addon": 900}',
        f"-sDUST_DIR={folder / learn}",
        f"-sDUST_RULES={folder / learn}.rules.json",
        f"-sDUST_LEARN={learn}",
        f"-sDOWNLOAD_DELAY={delay}",
        "-sLOG_LEVEL=ERROR",
        "-sCONCURRENT_REQUESTS_PER_DOMAIN=8",
        "-sTELNETCONSOLE_ENABLED=False",
        "-sREMOTE_CONTROL_ENABLED=False",
    ]


def _scrapy(command: Sequence[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    subprocess.run([sys.executable, "-m", "scrapy", *command], cwd=folder, env=environment, check=True)


def as_markdown(rows: Sequence[Row]) -> Iterator[str]:
    yield "| site | requests, plain | redundant | requests, online | **avoided** | rules | waited | pages lost |"
    yield "|---|" + "---:|" * 7
    for row in rows:
        yield (
            f"| {row.name} | {row.plain:,} | {row.plain - row.contents:,} | {row.online:,} | **{row.share:.1%}** "
            f"| {row.rules} | {row.waited:,} | {row.lost} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sites", nargs="+", help="example, or NAME=URL")
    parser.add_argument("--deny", default="", help="URLs of sites that are left out, a regular expression")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds between two requests")
    parser.add_argument("--output", type=Path, help="a Markdown page; the table goes below its marker")
    options = parser.parse_args()
    rows = []
    for one in options.sites:
        name, _, start = one.partition("=")
        rows.append(site(name, start, options.deny, options.delay) if start else example(options.delay))
        print(rows[-1], f"{rows[-1].share:.1%}", flush=True)
    text = "\n".join(as_markdown(rows)) + "\n"
    if options.output:
        page, _, rest = options.output.read_text("utf-8").partition(_MARKER)
        _, heading, after = rest.partition(_NEXT)
        options.output.write_text(f"{page}{_MARKER}\n{text}{heading}{after}", "utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
