"""Whatever is misspelt, the sentence names what was probably meant."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from scrapy_dust.dust.rules import ParameterRule
from scrapy_dust.rule_book import Entry, RuleBook, rule_id

SITE = "a.example"
SID = ParameterRule("sid")
ID = rule_id(SITE, SID)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("typos")
    RuleBook().with_site(SITE, [Entry(SID)]).save(folder / "dust-rules.json")
    line = json.dumps({"url": "http://www.a.example/", "status": 200, "text_digest": "x"})
    (folder / "log.jsonl").write_text(f"{line}\n")
    return folder


@pytest.mark.once
@pytest.mark.parametrize(
    ("typed", "status", "said"),
    [
        ("dustmine log.jsonl --bugdet 5", 2, "Did you mean --budget?"),
        ("dustmine log.jsonl --phase likly", 2, "there is no phase 'likly'. Did you mean 'likely'?"),
        ("dustmine log.jsonl --format wrac", 2, "there is no format 'wrac'. Did you mean 'warc'?"),
        ("dustmine log.jsonl -s DUST_MOD=off --no-validate", 2, "Did you mean DUST_MODE?"),
        ("dustmine log.jsonl --no-validate --dry-run --site www.a.exmaple", 0, "Did you mean 'www.a.example'?"),
        ("dusteval log.jsonl --methods keepal", 2, "Did you mean 'keepall'?"),
        ("dusteval log.jsonl --truth text_digset", 1, "Did you mean 'text_digest'?"),
        ("dustrules lst", 2, "there is no action 'lst'. Did you mean 'list'?"),
        ("dustrules export ngnix", 2, "Did you mean 'nginx'?"),
        ("dustrules export json --site a.exampel", 0, "Did you mean 'a.example'?"),
        (f"dustrules show {ID[:-1]}x", 1, f"Did you mean '{ID}'?"),
        ("dustpages stast", 2, "Did you mean 'stats'?"),
    ],
)  # fmt: skip
def test_what_was_meant_is_named(folder, typed, status, said):
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *typed.split()],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    assert (done.returncode, said in done.stderr + done.stdout) == (status, True), done.stderr + done.stdout
    assert "Traceback" not in done.stderr
