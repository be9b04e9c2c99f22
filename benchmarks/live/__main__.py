"""Real software on this machine, crawled plainly and with rules: what is saved, and what is lost.

    python -m benchmarks.live [SITE …] [--budget 600] [--seconds 120] [--more] [--json] [--keep FOLDER]

SITE is a folder of $DUST_SITES (default: all that the benchmark knows), which ``all.sh`` starts where it does not answer;
what it started is stopped again. All crawls of a site have the same budget of requests, and go breadth first. D and F have
what B and E have left beside their logs, as the next crawl of a project has; else they know nothing of each other:

A  a plain crawl, without scrapy-dust         B  a crawl that is recorded
C  ``scrapy dustmine`` on the log of B        D  a crawl with the rules of C
E  a crawl with ``DUST_LEARN = "online"``, which knows nothing at its start
with --more: N  a crawl with the rules of ``dustmine --no-validate``; F  a crawl with the rules that E has learned

*Contents* are different texts with their media, volatile places aside, which A and B tell. Then a plain client fetches what
the crawls with rules were spared (of more than --checks URLs, so many drawn at random), twice, and the URL that stood for
each, which was fetched or is still in the queue, twice, and compares all that they hold with all that the crawl has got:

same         nothing new but what changes at each fetch
own address  links, fields and data that differ in the two URLs' own parts only
links        links and media under other URLs of the classes that the other page has
elsewhere    not on the page that stood for it, but on others that the crawl has got
new links    nothing but links that the crawl has neither followed nor seen, by any URL of their classes
LOST         text, media, fields or data that the crawl has not got at all

*MIXED*: classes of URLs that A and B have fetched, which the rules take for one page and which hold different things;
*by links*: whose links alone differ.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from benchmarks.live.crawls import Site
from benchmarks.live.measuring import Row, measure
from benchmarks.live.telling import read, tables

#: Site → where its crawl begins, and which links are left out: none but those that leave the software.
SITES = {
    "apache": ("http://apache.test/", ""),
    "debdocs": ("http://debdocs.test/", "gcloud"),
    "dokuwiki": ("http://doku.test/doku.php", ""),
    "forum": ("http://forum.test/", ""),
    "hgweb": ("http://hg.test/", ""),
    "moin": ("http://moin.test/", ""),
    "oscar": ("http://shop.test/", ""),
    "roundup": ("http://issues.test/", ""),
    "trac": ("http://trac.test/", ""),
    "wordpress": ("http://blog.test/", ""),
}


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=20):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


@contextmanager
def running(name: str, url: str) -> Iterator[bool]:
    """Whether the site answers; it is started, and stopped, if nobody else has started it."""
    if _answers(url):
        yield True
        return
    _all_sh("start", name)
    try:
        yield _answers(url)
    finally:
        _all_sh("stop", name)


def _all_sh(what: str, name: str) -> None:
    script = Path(os.environ["DUST_SITES"]) / "all.sh"
    nothing = subprocess.DEVNULL
    subprocess.run(
        ["bash", str(script), what, name], timeout=180, check=False, stdout=nothing, stderr=nothing
    )


def _rows(options: argparse.Namespace, keep: Path) -> Iterator[Row]:
    for name in options.sites or SITES:
        start, deny = SITES[name]
        with running(name, start) as answers:
            if not answers:
                print(
                    f"{name}: {start} does not answer; set the site up with all.sh in $DUST_SITES",
                    file=sys.stderr,
                )
                continue
            folder = keep / name
            folder.mkdir(parents=True)
            site = Site(start, folder, options.budget, options.seconds, deny)
            row = measure(name, site, options.checks, more=options.more)
            print(f"{name}: {row.seconds:.0f} s", file=sys.stderr, flush=True)
            yield row


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.live",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sites", nargs="*", metavar="SITE", help=", ".join(SITES))
    parser.add_argument("--budget", type=int, default=600, help="requests of each crawl")
    parser.add_argument(
        "--seconds",
        type=int,
        default=120,
        help="that a crawl may take; and half of what looking after it may",
    )
    parser.add_argument(
        "--checks", type=int, default=150, help="suppressed URLs, and classes, that are looked at"
    )
    parser.add_argument("--more", action="store_true", help="also without validation, and again after online")
    parser.add_argument("--json", action="store_true", help="an object a site instead of tables")
    parser.add_argument(
        "--tell", type=Path, nargs="+", help="crawl nothing: tables of what --json has printed"
    )
    parser.add_argument(
        "--keep", type=Path, help="a folder, which must not exist yet, for all that was written"
    )
    options = parser.parse_args()
    if options.tell:
        print(tables([read(line) for path in options.tell for line in path.read_text("utf-8").splitlines()]))
        return
    if unknown := set(options.sites) - set(SITES):
        parser.error(f"no such site: {', '.join(sorted(unknown))}. There are {', '.join(SITES)}.")
    if "DUST_SITES" not in os.environ:
        parser.error("set DUST_SITES to the folder of the sites")
    # Ended from outside, it ends what it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as temporary:
        keep = options.keep.resolve() if options.keep else Path(temporary)
        rows = []
        for row in _rows(options, keep):
            rows.append(row)
            if options.json:
                print(json.dumps(asdict(row)), flush=True)
        if not options.json:
            print(tables(rows))


if __name__ == "__main__":
    main()
