"""Runs the example's demo and compares what it prints with the session in the README, but for the numbers.

    python docs/readme.py

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


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "example_project")
        ignored = shutil.ignore_patterns(".scrapy", "dust-rules.json", "__pycache__")
        shutil.copytree(ROOT / "example_project", project, ignore=ignored)
        printed = {shape(line) for line in demo(project).splitlines()}
        made = keys(project)
    wrong = [f"demo.py does not print {line!r}" for line in session() if shape(line) not in printed]
    wrong += [
        f"the key of {url} is {made.get(url)}" for url, key in shown_keys().items() if made.get(url) != key
    ]
    print("".join(f"README.md: {one}.\n" for one in wrong), end="", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
