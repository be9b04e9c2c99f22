"""The whole loop on one machine: crawl the example, mine its log, crawl again, and compare what the server counted.

    python demo.py

Takes under two minutes. Leaves the crawl log (`.scrapy/dust`) and the rule book (`dust-rules.json`) in this folder.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from dusty_web.compare import Comparison, crawl_of
from dusty_web.running import PROJECT, RunningWeb, running_web

RULES = PROJECT / "dust-rules.json"


def say(text: str) -> None:
    print(text, flush=True)


def scrapy(web: RunningWeb, *command: str) -> float:
    """Run a scrapy command in the project, shown as one would type it; gives its seconds."""
    say(f"\n$ scrapy {' '.join(command)}")
    begun = time.monotonic()
    environment = {**os.environ, "EXAMPLE_WEB": web.proxy}
    quiet = ["-s", "LOG_LEVEL=ERROR"] if command[0] == "crawl" else []
    subprocess.run(
        [sys.executable, "-m", "scrapy", *command, *quiet], cwd=PROJECT, env=environment, check=True
    )
    return time.monotonic() - begun


def main() -> int:
    shutil.rmtree(PROJECT / ".scrapy" / "dust", ignore_errors=True)
    RULES.unlink(missing_ok=True)
    with running_web() as web:
        say(f"Four sites full of duplicate URLs are served on {web.proxy}; nothing leaves this machine.")
        say("The first crawl fetches every URL it meets, and writes a crawl log.")
        seconds_before = scrapy(web, "crawl", "pages")
        before = crawl_of(web.counts())
        say(
            f"{before.requests} requests in {seconds_before:.0f} s for {len(before.contents)} different pages."
        )

        say("\nMining the log for rules, and proving them with a few fetches.")
        web.reset()
        scrapy(web, "dustmine")
        validation = crawl_of(web.counts())

        say("\nThe second crawl knows the rules.")
        web.reset()
        seconds_after = scrapy(web, "crawl", "pages")
        after = crawl_of(web.counts())
    comparison = Comparison(before, after)
    print_table(comparison, validation.requests, seconds_before, seconds_after)
    if not comparison.is_good:
        say(f"\nPages were lost or requests were made that must not be made: {comparison.as_dict()}")
    return 0 if comparison.is_good else 1


def print_table(comparison: Comparison, validation: int, seconds_before: float, seconds_after: float) -> None:
    before, after = comparison.before, comparison.after
    book = json.loads(RULES.read_text(encoding="utf-8"))
    rules = sum(rule["status"] == "valid" for site in book["sites"].values() for rule in site["rules"])
    found_again = len(before.contents & after.contents)
    rows = [
        ("", "before", "after", "saved"),
        ("requests", before.requests, after.requests, f"{1 - after.requests / before.requests:.0%}"),
        ("different pages found", len(before.contents), len(after.contents), ""),
        ("  of those found before", len(before.contents), found_again, ""),
        (
            "redundant requests",
            before.redundant,
            after.redundant,
            f"{1 - after.redundant / before.redundant:.0%}",
        ),
        (
            "megabytes",
            f"{before.bytes / 1e6:.1f}",
            f"{after.bytes / 1e6:.1f}",
            f"{1 - after.bytes / before.bytes:.0%}",
        ),
        (
            "seconds",
            f"{seconds_before:.1f}",
            f"{seconds_after:.1f}",
            f"{1 - seconds_after / seconds_before:.0%}",
        ),
    ]
    say("\nWhat the server counted:\n")
    for label, *cells in rows:
        say(f"{label:<26}" + "".join(f"{cell!s:>10}" for cell in cells))
    say(f"\n{rules} rules, proved with {validation} requests; their evidence is in {RULES.name}.")
    say(f"{comparison.share_of_saving:.1%} of what an oracle that knows the true rules would have saved.")


if __name__ == "__main__":
    sys.exit(main())
