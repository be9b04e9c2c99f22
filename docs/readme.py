"""Runs the example's demo and compares what it prints with the session in the README, but for the numbers.

    python docs/readme.py
    python docs/readme.py --picture    draws docs/before-after.svg from what the demo counted, too

In the Python environment that runs this; `tox -e demo` does so in a fresh one, with the wheel that is built.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def session() -> list[str]:
    _, _, rest = README.partition("<!-- session: python example_project/demo.py -->")
    shown, end, _ = rest.partition("<!-- end of session -->")
    if not end:
        sys.exit("README.md has no session between its markers.")
    return [line for line in shown.splitlines() if line.strip(" `…")]


def shown_keys() -> dict[str, str]:
    """URL → key, as the README begins."""
    pairs = [line.split("→") for line in README.splitlines() if line.startswith("http://")]
    if len(pairs) != 5:
        sys.exit(f"README.md begins with {len(pairs)} URLs and their keys, not with five.")
    return {url.strip(): key.strip() for url, key in pairs}


def shape(line: str) -> str:
    """*line* without what differs from run to run: numbers, ids and the width of columns."""
    line = re.sub(r"\b[0-9a-f]{8}\b", "ID", line)
    return re.sub(r"\s+", " ", re.sub(r"\d[\d.,]*", "N", re.sub(r"-{2,}", "--", line))).strip()


def demo(project: Path) -> str:
    """What it prints, which is printed here too, as it comes."""
    said = []
    with subprocess.Popen(
        [sys.executable, project / "demo.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "120", "PYTHONIOENCODING": "utf-8"},
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            said.append(line)
    if process.returncode:
        sys.exit(f"demo.py ended with {process.returncode}.")
    return "".join(said)


def keys(project: Path) -> dict[str, str]:
    """Of the README's URLs, by the rules that the demo left there."""
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "dustrules", "keys"],
        cwd=project,
        input="".join(f"{url}\n" for url in shown_keys()),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    return {line.split("\t")[1]: line.split("\t")[0] for line in done.stdout.splitlines()}


#: Rows of the demo's table that the picture shows, with what the picture calls them.
_SHOWN = {"requests": "requests", "different pages found": "different pages found"}


def counted(printed: str) -> dict[str, tuple[int, int]]:
    """The numbers before and after, by the row of the demo's table."""
    rows = re.findall(r"^ *([a-z ]+?) +(\d+) +(\d+)\b", printed, re.MULTILINE)
    return {name: (int(before), int(after)) for name, before, after in rows}


def picture(printed: str) -> str:
    """An SVG with a bar before and a bar after for each row; it follows the reader's light or dark colours."""
    found = {said: counted(printed)[name] for name, said in _SHOWN.items()}
    most = max(max(pair) for pair in found.values())
    said = "; ".join(f"{name}: {before} before, {after} after" for name, (before, after) in found.items())
    lines, top = [], 8
    for name, pair in found.items():
        lines.append(f'<text class="head" x="12" y="{top + 16}">{name}</text>')
        for number, (when, count) in enumerate(zip(("first crawl", "with rules"), pair, strict=True)):
            y, width = top + 26 + 30 * number, 430 * count / most
            lines += [
                f'<text class="dim" x="96" y="{y + 16}" text-anchor="end">{when}</text>',
                f'<rect class="{"after" if number else "before"}" x="106" y="{y}" width="{width:.0f}" height="22" rx="4"/>',
                f'<text x="{114 + width:.0f}" y="{y + 16}">{count:,}</text>',
            ]
        top += 98
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 620 {top}" width="620" role="img" aria-label="{said}">'
        "<style>text{font:15px system-ui,sans-serif;fill:#1b1c1f}.head{font-weight:600}.dim{fill:#585b63;font-size:14px}"
        ".before{fill:#b4b6bd}.after{fill:#0a58a6}@media (prefers-color-scheme:dark){text{fill:#e8e9ec}.dim{fill:#a7abb4}"
        f".before{{fill:#5c6069}}.after{{fill:#86bdff}}}}</style>{''.join(lines)}</svg>\n"
    )


def main(arguments: list[str]) -> int:
    if "--help" in arguments:
        print(__doc__)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "example_project")
        ignored = shutil.ignore_patterns(".scrapy", "dust-rules.json", "__pycache__")
        shutil.copytree(ROOT / "example_project", project, ignore=ignored)
        said = demo(project)
        printed = {shape(line) for line in said.splitlines()}
        made = keys(project)
    if "--picture" in arguments:
        (ROOT / "docs" / "before-after.svg").write_text(picture(said), "utf-8")
    wrong = [f"demo.py does not print {line!r}" for line in session() if shape(line) not in printed]
    wrong += [
        f"the key of {url} is {made.get(url)}" for url, key in shown_keys().items() if made.get(url) != key
    ]
    print("".join(f"README.md: {one}.\n" for one in wrong), end="", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
