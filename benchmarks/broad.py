"""A broad crawl in simulation: what the process that learns remembers of 100,000 hosts and two million URLs.

    python -m benchmarks.broad [--hosts 100000] [--each 20] [--json]

Hosts come in turn, a URL of each, as in a broad crawl; every tenth puts a session id into its URLs. Each site that
is due is looked at, as in a crawl.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from hashlib import blake2b

from scrapy_dust.online.learner import OnlineLearner
from scrapy_dust.rule_book.priors import priors_of_package
from scrapy_dust.settings import DustSettings
from scrapy_dust.visits.pages import Visit

_DUSTY = 10


def visit(host: int, number: int) -> Visit:
    is_dusty = host % _DUSTY == 0
    page = number // 2 if is_dusty else number
    digest = blake2b(f"{host} {page}".encode(), digest_size=20).hexdigest()
    sketch = tuple(int(digest[at : at + 12], 16) for at in (0, 8, 16, 24))
    sid = f"?sid={number}x{host}" if is_dusty else ""
    url = f"http://www.host{host}.example/section/{page}/some-article-title-{digest[:6]}.html{sid}"
    return Visit(url, status=200, text_digest=digest, sketch=sketch, title=f"Article {page} of host {host}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hosts", type=int, default=100_000)
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    learner, began, looks, sites_with_rules = (
        OnlineLearner(DustSettings(), priors_of_package()),
        time.process_time(),
        0,
        set[str](),
    )
    for number in range(options.each):
        for host in range(options.hosts):
            learner.see(visit(host, number))
        for site in learner.due():
            found = learner.look(site)
            looks += 1
            if found is not None and found.rules:
                sites_with_rules.add(site)
    said = {
        "hosts": options.hosts,
        "urls": options.hosts * options.each,
        "remembered": len(learner),
        "looks": looks,
        "sites with rules": len(sites_with_rules),
        "most memory, MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "CPU seconds": round(time.process_time() - began, 1),
    }
    print(
        json.dumps(said) if options.json else "\n".join(f"{name}: {value:,}" for name, value in said.items())
    )


if __name__ == "__main__":
    main()
