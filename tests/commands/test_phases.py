"""`scrapy dustmine --phase likely|kept --json` prints what the papers' figures find, line for line."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests import oracle
from tests.waiting import PATIENCE

pytestmark = pytest.mark.once

JUDGES = {
    "sketch": oracle.likely_similar_by_sketch(),
    "size": oracle.likely_similar_by_size,
    "none": oracle.likely_similar_always,
}


def awkward_log(seed: int) -> list[dict[str, Any]]:
    """Aliases, numbered pages, several lines per URL, ranges, errors, redirects, and fields that are missing."""
    random, log = Random(seed), []
    for page in range(60):
        size, sketch = random.randrange(1000, 1100), [random.randrange(2) for _ in range(4)]
        for form in ("/d{}/", "/d{}/index.html", "/story?id={}&sid=1", "/story_{}", "/^{}$/x;v=1", "/é/{}"):
            if random.random() < 0.3:
                continue
            for _ in range(random.choice((1, 1, 1, 2))):
                line: dict[str, Any] = {
                    "url": f"http://{random.choice(('', '', '', 'www.'))}a.example{form.format(page)}"
                }
                if random.random() < 0.9:
                    line["status"] = random.choice((200, 200, 200, 200, 203, 301, 404, 503))
                if random.random() < 0.9:
                    line["size"] = random.choice((size, size + 5, [size - 5, size]))
                if random.random() < 0.9:
                    line["sketch"] = random.choice((sketch, sketch, [random.randrange(2) for _ in range(4)]))
                log.append(line)
    random.shuffle(log)
    return log


def expected(log: list[dict[str, Any]], similar: str, phase: str) -> list[dict[str, Any]]:
    L, judge = oracle.unique_records(log), JUDGES[similar]
    if phase == "likely":
        pairs = oracle.detect_likely_rules(L, 35, 6, 3, judge)
    else:
        pairs = oracle.kept_rules(L, 35, 6, 11, 3, 0.05, 1, 1100, judge)
    names = ("alpha", "beta", "start", "end", "support")
    return [dict(zip(names, pair.printed(), strict=True)) for pair in pairs]


@pytest.mark.parametrize("phase", ["likely", "kept"])
@pytest.mark.parametrize("similar", list(JUDGES))
def test_a_phase_prints_the_papers_rules(tmp_path: Path, similar: str, phase: str):
    log = awkward_log(seed=len(similar))
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in log).encode()))
    options = ["--phase", phase, "--json", "-s", f"DUST_SIMILAR={similar}"]
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "dustmine", path.name, *options],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rules = expected(log, similar, phase)
    assert len(rules) > 1
    assert [json.loads(line) for line in done.stdout.splitlines()] == rules
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


#: The phases that find something in a site.
FOUND = ["contents", "pages", "likely", "kept", "parameters", "edits"]


def test_a_memory_limit_changes_no_rule_and_the_profile_names_every_phase(tmp_path: Path):
    urls = [f"http://{site}.example/{n}{end}" for n in range(150) for site in "ab" for end in ("", "?p=1")]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps({"url": url}) + "\n" for url in urls))
    printed = []
    for limit in ((), ("-s", "DUST_MEMORY_LIMIT=1")):
        command = [
            sys.executable,
            "-m",
            "scrapy",
            "dustmine",
            "log.jsonl",
            "--phase",
            "kept",
            "--json",
            "--profile",
        ]
        done = subprocess.run(
            [*command, *limit], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True
        )
        printed.append(done.stdout)
        rows = done.stderr.partition("\nphase ")[2].splitlines()[2:]
        phases = [line.split("  ")[0] for line in rows]
        assert phases == ["start", "read", *FOUND, "hand over", "print"]
    assert printed[0]
    assert printed[0] == printed[1]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a log that comes slowly is a pipe here")
def test_ctrl_c_while_a_log_is_read_leaves_the_rule_book_as_it_was(tmp_path):
    os.mkfifo(tmp_path / "log.jsonl")
    command = [sys.executable, "-m", "scrapy", "dustmine", "log.jsonl", "--format", "dust", "--no-validate"]
    with (
        subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process,
        (tmp_path / "log.jsonl").open("w"),  # waits for who reads it
    ):
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert said.splitlines()[-1] == (
        "scrapy dustmine: interrupted before any rule was tried; the rule book is as it was."
    )
    assert not (tmp_path / "dust-rules.json").exists()
