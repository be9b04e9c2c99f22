"""Whether the rule books that `dustmine` makes of lists, by the log alone, are short and can be read by a person.

    python -m benchmarks.books DATA [--output docs/books.md]

DATA is a folder with URL lists (``sites/*.jsonl.gz``, ``uci/*.jsonl.gz``). Nothing is fetched. A rule *in force* suppresses requests; a
rule *on probation* suppresses none until a crawl has proved the rule.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.logs import lists_in, name_of

MARKER = "<!-- measured: benchmarks/books.py -->\n"
_STATUSES = {"valid": "in force", "probation": "on probation"}


def mined(path: Path) -> dict[str, Any]:
    """What ``dustmine --json`` prints of one list."""
    command = [
        sys.executable,
        "-m",
        "scrapy",
        "dustmine",
        str(path.resolve()),
        "--no-validate",
        "--dry-run",
        "--json",
    ]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def page_of(books: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """A table of all lists, and one of each book."""
    tables, rows = [], []
    for name, found in books:
        rules = [one for one in found["decisions"] if one["verdict"] in _STATUSES]
        in_force = [one for one in rules if one["verdict"] == "valid"]
        saved = sum(one["saves"] for one in in_force)
        rows.append(
            f"| {name} | {found['pages']:,} | {len(in_force)} | {len(rules) - len(in_force)} | {saved / found['pages']:.1%} |"
        )
        tables += [f"\n## {name}\n", *_table(rules)] if rules else []
    yield "| list | URLs | rules in force | on probation | URLs spared |\n|---|---:|---:|---:|---:|"
    yield from rows
    yield from tables


def _table(rules: Iterable[dict[str, Any]]) -> Iterator[str]:
    yield "| rule | | URLs spared | contents that bear it out | may err on new URLs |\n|---|---|---:|---:|---:|"
    for one in sorted(
        rules, key=lambda one: (-list(_STATUSES).index(one["verdict"]), one["saves"]), reverse=True
    ):
        unseen = f"{one['bounds']['unseen']:.1%}" if one["bounds"] else "–"
        text = one["text"].replace("|", "\\|")
        yield f"| `{text}` | {_STATUSES[one['verdict']]} | {one['saves']:,} | {one['contents']:,} | {unseen} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--output", type=Path, help="a page; its part from the marker on is replaced")
    options = parser.parse_args()
    text = "\n".join(page_of((name_of(path), mined(path)) for path in lists_in(options.data)))
    if options.output is None:
        print(text)
        return
    head = options.output.read_text("utf-8").partition(MARKER)[0]
    options.output.write_text(f"{head}{MARKER}\n{text}\n", "utf-8")


if __name__ == "__main__":
    main()
