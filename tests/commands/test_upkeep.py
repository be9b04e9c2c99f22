"""`scrapy dustmine` puts logs that have ended on less disk and lets go of old ones, unless it is to write nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from scrapy_dust.crawl_log import CrawlLogWriter, log_dir, new_log_path
from scrapy_dust.crawl_log.segments import can_write
from scrapy_dust.rule_book.book import RuleBook

pytestmark = pytest.mark.once


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Two crawls of a spider that have ended; every page is there under two spellings."""
    for days in (2, 1):
        writer = CrawlLogWriter(
            new_log_path(log_dir(tmp_path / "dust"), "s", datetime.now(UTC) - timedelta(days))
        )
        for number in range(12):
            for form in ("/story?id={}", "/story_{}"):
                url = "http://a.example" + form.format(number)
                digest = f"{number:032x}"
                writer.write(
                    {"url": url, "status": 200, "size": 100, "text_digest": digest, "sketch": [number] * 4}
                )
        writer.close()
    return tmp_path / "dust" / "logs" / "s"


def dustmine(folder: Path, *options: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "scrapy", "dustmine", "--no-validate", "--json", *options]
    done = subprocess.run(
        [*command, "-s", f"DUST_DIR={folder / 'dust'}"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Traceback") == 0
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_logs_are_compacted_and_say_the_same_under_the_same_names(tmp_path: Path, logs: Path):
    names = sorted(file.name for file in logs.iterdir())
    first = dustmine(tmp_path)
    suffix = ".parquet" if can_write() else ".jsonl.gz"
    assert sorted(file.name for file in logs.iterdir()) == [name.replace(".jsonl", suffix) for name in names]
    assert dustmine(tmp_path)["pages"] == first["pages"] == 24
    entries = RuleBook.load([str(tmp_path / "dust-rules.json")]).entries("a.example")
    assert [entry.evidence.logs for entry in entries] == [tuple(names)]


def test_a_dry_run_writes_nothing(tmp_path: Path, logs: Path):
    before = sorted(tmp_path.rglob("*"))
    dustmine(tmp_path, "--dry-run")
    assert sorted(tmp_path.rglob("*")) == before


def test_old_logs_go(tmp_path: Path, logs: Path):
    newest = max(file.name for file in logs.iterdir()).removesuffix(".jsonl")
    dustmine(tmp_path, "-s", "DUST_LOG_KEEP_CRAWLS=1")
    assert [file.name.startswith(newest) for file in logs.iterdir()] == [True]
