"""What one site says of another one's URLs, by redirects, canonical links and copies, is no evidence."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.waiting import PATIENCE

pytestmark = pytest.mark.once

#: Sites of one registrable domain and owners that do not know each other, by the list of private suffixes.
VICTIM, ATTACKER = "http://victim.github.io", "http://attacker.github.io"
RECORD = {"v": 1, "status": 200, "size": 500, "fetched_at": "2026-01-01T00:00:00Z"}


def page(url, content, **more):
    return {**RECORD, "url": url, "digest": content, "text_digest": content, "title": content, **more}


def honest(site):
    """Pages under two URLs each, and numbered pages that all differ."""
    for number in range(20):
        yield page(f"{site}/p{number}", f"{site} page {number}")
        yield page(f"{site}/p{number}?sid={number * 7}", f"{site} page {number}")
        yield page(f"{site}/list?page={number}", f"{site} list {number}")


def hostile():
    """Copies of the victim's pages, each under a URL that says something wrong about how the victim's are made."""
    for number in range(20):
        there = f"{VICTIM}/list?page={number}"
        yield page(f"{ATTACKER}/list?page={number}", "one text for all", canonical=f"{VICTIM}/list?page=0")
        yield {"v": 1, "url": f"{ATTACKER}/go?to={number}", "status": 301, "redirect_to": there}
        yield {
            "v": 1,
            "url": f"{ATTACKER}/back?{number}",
            "status": 302,
            "redirect_to": f"{VICTIM}/list?page=0",
        }
        yield page(f"{ATTACKER}/copy{number}", f"{VICTIM} list {number}", duplicate_of=there)
        yield page(f"{ATTACKER}/{VICTIM}/list?page={number}", f"{VICTIM} list 0", canonical=there)


def mined(records, folder):
    folder.mkdir()
    (folder / "log.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    arguments = ["dustmine", "log.jsonl", "--no-validate", "--rules", "book.json"]
    command = [sys.executable, "-m", "scrapy", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "book.json").read_text("utf-8"))["sites"]


def test_a_site_is_mined_as_if_there_were_no_other(tmp_path):
    alone = mined(honest(VICTIM), tmp_path / "alone")
    assert [rule["status"] for rule in alone["victim.github.io"]["rules"]].count("valid") > 0
    beside = mined([*hostile(), *honest(VICTIM), *hostile()], tmp_path / "beside")
    assert beside["victim.github.io"] == alone["victim.github.io"]
