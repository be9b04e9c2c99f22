"""The session in the README is what the demo prints, but for the numbers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).resolve().parents[2]


def session() -> list[str]:
    readme = (ROOT / "README.md").read_text("utf-8")
    _, _, rest = readme.partition("<!-- session: python example_project/demo.py -->")
    shown, end, _ = rest.partition("<!-- end of session -->")
    assert end, "README.md has no session between its markers"
    return [line for line in shown.splitlines() if line.strip(" `…")]


def shown_keys() -> dict[str, str]:
    """URL → key, as the README begins."""
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    pairs = [line.split("→") for line in lines if line.startswith("http://")]
    assert len(pairs) == 5
    return {url.strip(): key.strip() for url, key in pairs}


def shape(line: str) -> str:
    """*line* without what differs from run to run: numbers, ids and the width of columns."""
    line = re.sub(r"\b[0-9a-f]{8}\b", "ID", line)
    return re.sub(r"\s+", " ", re.sub(r"\d[\d.,]*", "N", re.sub(r"-{2,}", "--", line))).strip()


def test_the_session_in_the_readme_is_what_the_demo_prints(tmp_path: Path) -> None:
    project = tmp_path / "example_project"
    ignored = shutil.ignore_patterns(".scrapy", "dust-rules.json", "__pycache__")
    shutil.copytree(ROOT / "example_project", project, ignore=ignored)
    done = subprocess.run(
        [sys.executable, project / "demo.py"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=False,
        env={**os.environ, "COLUMNS": "120", "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    keys = subprocess.run(
        [sys.executable, "-m", "scrapy", "dustrules", "keys"],
        cwd=project,
        input="".join(f"{url}\n" for url in shown_keys()),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert {line.split("\t")[1]: line.split("\t")[0] for line in keys.stdout.splitlines()} == shown_keys()
    printed = {shape(line) for line in (done.stdout + done.stderr).splitlines()}
    assert [line for line in session() if shape(line) not in printed] == []
