"""``scrapy dustmine --report``: a page beside the rule book."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest


@pytest.fixture
def mine(tmp_path):
    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "scrapy", "dustmine", "log.jsonl", "--no-validate", *arguments],
            cwd=tmp_path,
            capture_output=True,
            env={**os.environ, "PYTHONUTF8": "1"},
            text=True,
            check=False,
        )

    lines = [
        {
            "url": f"http://a.example/{page}{end}",
            "size": 1000,
            "text_digest": page * 16,
            "sketch": [ord(page)] * 4,
        }
        for page in "abcdefghijklmnopqrstuvwxyz"
        for end in ("", "?sid=1")
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps({**line, "status": 200}) + "\n" for line in lines))
    return run


def test_the_page_tells_what_the_rule_book_will_do(mine, tmp_path):
    done = mine("--report", "found.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "found.html").read_text()
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    book = json.loads((tmp_path / "dust-rules.json").read_text())["sites"]["a.example"]["rules"]
    in_force = [rule["id"] for rule in book if rule["status"] == "valid"]
    assert in_force
    assert [rule["id"] for rule in data["rules"] if rule["status"] == "valid"] == in_force
    assert "<strong>26</strong><span>of 52 fetches of this log (50.0%)</span>" in page
    assert sum(rule["saves"] for rule in data["rules"] if rule["status"] == "valid") == 26


def test_where_it_cannot_be_written_a_sentence_says_so(mine):
    done = mine("--dry-run", "--report", "nowhere/found.html")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "scrapy dustmine: nowhere/found.html: the report cannot be written (No such file or directory)."
        " Check the path and its permissions."
    )
