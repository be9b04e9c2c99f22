"""What it takes to label the pages of a site by their units: ``python -m benchmarks.labels [PAGES [UNITS]]``.

A site is drawn from a seed: a frame of 40 % of the units, contents of their own for each page, and 20 % links. The time
is of the processor, and the memory is the process's greatest, both in one run.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from scrapy_dust.page.contents import Shown, contents_of
from scrapy_dust.page.places import Kind, place_of, url_value
from scrapy_dust.page.units import pack, units_of


def site(pages: int, units: int) -> list[Shown]:
    draw = np.random.default_rng(1)
    kinds = (Kind.TEXT, Kind.MEDIA, Kind.DATA, Kind.FIELD, Kind.GROUP)
    places = [place_of(kind, f"div.part{part}") for kind in kinds for part in range(6)]
    links = [place_of(Kind.LINK, f"ul.list{part} a") for part in range(5)]
    urls = [f"http://s.example/{'abcd'[n % 4]}/{n}?sid={n % 7}" for n in range(pages)]
    values = [url_value(url) for url in urls]
    frame = [places[n % 30] << 32 | int(v) for n, v in enumerate(draw.integers(0, 2**32, units * 2 // 5))]
    shown = []
    for n, url in enumerate(urls):
        own = draw.integers(0, 2**32, units * 2 // 5).tolist()
        texts = [places[k % 30] << 32 | value for k, value in enumerate(own)]
        leads = [links[k % 5] << 32 | values[(n * 7 + k) % pages] for k in range(units // 5)]
        shown.append(Shown(url, pack(units_of([*frame, *texts, *leads]))))
    return shown


def main(pages: int = 100_000, units: int = 150) -> None:
    shown = site(pages, units)
    known = {one.url for one in shown}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    began = time.process_time()
    found = contents_of(shown, lambda url: url if url in known else None)
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    labels = len({content.label for content in found.by_url.values()})
    print(
        f"{pages} pages of {units} units: {seconds:.1f} s, {labels} labels, {before} MB before and {peak} MB at most"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
