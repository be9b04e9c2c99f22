"""First crawls of sites of which nothing is known: the table and the curves of docs/online.md.

    python -m benchmarks.online DATA [--output docs/online.md] [--lists a,b] [--sorted]

DATA is a folder with URL lists (``sites/*.jsonl.gz``) whose lines say what a URL shows. Each is replayed in its own
order by each way to go about it, as ``scrapy dusteval --online`` does. *Lost* is counted by the strict truth (no URL
with that page was fetched), and beside it by equal words, where a page that says another word at each fetch counts
as lost with each URL that is not fetched. With ``--sorted`` URLs come sorted, so that the crawl walks through one part
of a site after the other. Sites with fewer than 30 redundant URLs have no say in the mean.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from benchmarks.curves import Curve, drawing
from benchmarks.logs import EXACT, STRICT, lists_in, load, name_of
from scrapy_dust.commands.evaluating_online import METHODS, Total
from scrapy_dust.online.replaying import arrivals_of
from scrapy_dust.settings import DustSettings

_MARKER = "<!-- measured: benchmarks/online.py -->\n"
_SAYS = 30
_DRAWN = ("keepall", "maybedont", "online", "offline", "oracle")


@dataclass(frozen=True, slots=True)
class Row:
    """One list."""

    name: str
    totals: dict[str, Total]
    strictly_lost: dict[str, int]

    @property
    def redundant(self) -> int:
        return self.totals["keepall"].sum_of("redundant")

    def of_offline(self, method: str) -> float:
        most = self.totals["offline"].sum_of("avoided")
        return self.totals[method].sum_of("avoided") / most if most else 0.0


def row_of(path: Path, *, is_sorted: bool = False) -> Row:
    visits, truths = load(path)
    arrivals = list(arrivals_of(visits, truths[EXACT]))
    if is_sorted:
        arrivals = [replace(one, urls=sorted(one.urls)) for one in arrivals]
    strict, totals, lost = truths[STRICT], {}, {}
    for name, method in METHODS.items():
        crawls = [method(one, DustSettings()) for one in arrivals]
        totals[name] = Total(name, crawls)
        there = {strict[url] for one in arrivals for url in one.urls if url in strict}
        lost[name] = len(there - {strict[url] for crawl in crawls for url in crawl.fetched if url in strict})
    return Row(name_of(path), totals, lost)


def as_markdown(rows: Sequence[Row]) -> Iterator[str]:
    yield "| list | URLs | redundant | MaybeDont | **online** | offline | online, of offline | lost online: pages | words |"
    yield "|---|" + "---:|" * 8
    for row in rows:
        shares = [f"{row.totals[name].share:.1%}" for name in ("maybedont", "online", "offline")]
        online = row.totals["online"]
        yield (
            f"| {row.name} | {online.sum_of('urls'):,} | {row.redundant:,} | {shares[0]} | **{shares[1]}** | {shares[2]} "
            f"| {row.of_offline('online'):.0%} | {row.strictly_lost['online']} | {online.sum_of('lost')} |"
        )
    telling = [row for row in rows if row.redundant >= _SAYS]
    means = [fmean(row.totals[name].share for row in telling) for name in ("maybedont", "online", "offline")]
    known = [row for row in telling if row.totals["offline"].sum_of("avoided") >= _SAYS]
    of_offline = fmean(row.of_offline("online") for row in known)
    yield (
        f"| mean | | | {means[0]:.1%} | **{means[1]:.1%}** | {means[2]:.1%} | {of_offline:.0%} of {len(known)} lists "
        f"| {sum(row.strictly_lost['online'] for row in rows)} | {sum(row.totals['online'].sum_of('lost') for row in rows)} |"
    )
    for row in telling:
        yield ""
        yield f"![{row.name}: contents seen by fetches](online-{row.name}.svg)"


def curve_of(row: Row) -> str:
    contents = max(1, row.totals["oracle"].sum_of("contents"))
    curves = [
        Curve(name, [(x, y / contents) for x, y in row.totals[name].curve()])
        for name in _DRAWN
        if name != "offline"
    ]
    return drawing("seen", f"{row.name}: fetches", curves)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument(
        "--output", type=Path, help="a Markdown page; the table goes below its marker, curves beside it"
    )
    parser.add_argument("--lists", help="A,B,… (default: all of sites)")
    parser.add_argument("--sorted", action="store_true", help="URLs come in their alphabetical order")
    options = parser.parse_args()
    rows = []
    for path in lists_in(options.data):
        if path.parent.name == "sites" and (not options.lists or name_of(path) in options.lists.split(",")):
            rows.append(row_of(path, is_sorted=options.sorted))
            print(rows[-1].name, {name: total.share for name, total in rows[-1].totals.items()}, flush=True)
            if options.output and rows[-1].redundant >= _SAYS:
                (options.output.parent / f"online-{rows[-1].name}.svg").write_text(
                    curve_of(rows[-1]), "utf-8"
                )
    text = "\n".join(as_markdown(rows)) + "\n"
    if options.output:
        page, _, _ = options.output.read_text("utf-8").partition(_MARKER)
        options.output.write_text(page + _MARKER + "\n" + text, "utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
