"""Count what edits of a kind have shown on crawls of real sites: the prior beliefs that come with the package.

    python -m benchmarks.priors DATA

DATA is a folder with URL lists (``sites/*.jsonl.gz``, ``uci/*.jsonl.gz``) that have digests of texts. The counts go to
scrapy_dust/rule_book/priors.json, with the names of the lists that each site was counted on.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Hashable
from pathlib import Path

from benchmarks.logs import lists_in, load
from scrapy_dust.propose.edits.edit_learning import EditParams, learn_edits
from scrapy_dust.rule_book import priors
from scrapy_dust.visits.pages import Visit, merge_visits, with_redirects


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    options = parser.parse_args()
    visits: dict[str, list[Visit]] = defaultdict(list)
    lists: dict[str, list[str]] = defaultdict(list)
    for path in lists_in(options.data):
        for site, found in load(path)[0].items():
            visits[site] += found
            lists[site].append(f"{path.parent.name}/{path.name}")
    sites, sources = {}, {}
    for site, found in sorted(visits.items()):
        log = merge_visits(found)
        contents: dict[str, Hashable | None] = {
            page.url: None if page.volatile else page.text_digest for page in with_redirects(log)
        }
        sites[site] = learn_edits(contents, EditParams(), log.redirects).tallies
        sources[site] = {"lists": lists[site], "urls": len(contents)}
        print(site, len(contents), len(sites[site]), flush=True)
    Path(priors.__file__).with_name(priors.FILE).write_bytes(priors.package_file(sites, sources))


if __name__ == "__main__":
    main()
