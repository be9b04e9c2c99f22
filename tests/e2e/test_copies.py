"""The two-way check on the example: copies rejected before and after the fetch, and not a page lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.e2e


def benchmark(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


def test_what_rules_cannot_see_signatures_do_and_no_page_is_lost():
    crawls = [json.loads(line) for line in benchmark("benchmarks.two_way", "--example").splitlines()]
    assert [crawl["false drops"] for crawl in crawls] == [0, 0, 0]
    assert [crawl["contents not reached"] for crawl in crawls] == [0, 0, 0]
    everything, signatures, both = crawls
    assert signatures["rejected after it"] > 0.6 * everything["pages fetched"]
    assert both["rejected before the fetch"] > 0.6 * both["URLs found"]
    # Those above are pages that change at every fetch, and errors that say so.
    assert both["pages that came out"] - both["different pages among them"] <= 11


def test_of_pages_with_copies_that_follow_no_rule_each_comes_out_once():
    found = json.loads(benchmark("benchmarks.contents", "copies", "--pages", "600"))
    for how in ("exact", "near"):
        assert found[how]["contents out"] == found[how]["contents"]
        assert found[how]["out twice, of exact copies"] == 0
