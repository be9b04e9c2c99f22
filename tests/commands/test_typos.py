"""Whatever is misspelt, the sentence names what was probably meant."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from scrapy_dust.rule_book import Entry, RuleBook, rule_id
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule

SITE = "a.example"
SID = Rule.of(DropParameter("sid"))
ID = rule_id(SITE, SID)
SPIDER = """
import scrapy

class Any(scrapy.Spider):
    name = "any"
    start_urls = ["data:,"]
    custom_settings = {"ADDONS": {"scrapy_dust.Addon": 900}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("typos")
    RuleBook().with_site(SITE, [Entry(SID)]).save(folder / "dust-rules.json")
    line = json.dumps({"url": "http://www.a.example/", "status": 200, "text_digest": "x"})
    (folder / "log.jsonl").write_text(f"{line}\n")
    (folder / "none.jsonl").write_text('{"url": "/p"}\n{"url": "mailto:a@b"}\n')
    RuleBook().save(folder / "empty.json")
    (folder / "torn.json").write_text("{\n")
    (folder / "spider.py").write_text(SPIDER)
    return folder


@pytest.mark.once
@pytest.mark.parametrize(
    ("typed", "status", "said"),
    [
        ("dustmine log.jsonl --bugdet 5", 2, "Did you mean --budget?"),
        ("dustmine log.jsonl --phase likly", 2, "there is no phase 'likly'. Did you mean 'likely'?"),
        ("dustmine log.jsonl --format wrac", 2, "there is no format 'wrac'. Did you mean 'warc'?"),
        ("dustmine log.jsonl -s DUST_MOD=off --no-validate", 2, "Did you mean DUST_MODE?"),
        ("dustmine log.jsonl --no-validate --dry-run --site www.a.exmaple", 1, "Did you mean 'www.a.example'?"),
        ("dustmine log.jsonl --no-validate -s DUST_RULES=[]", 2, "DUST_RULES names no rule book to write."),
        ("dustmine log.jsonl --no-validate -s DUST_SKIP_DOMAINS=http://a.example/", 2, "must be a list of hosts such as 'shop.example.com'"),
        ("dustmine none.jsonl --no-validate", 1, "none of its URLs is an http(s) URL with a host."),
        ("dustrules list --rules empty.json", 0, "empty.json: no rule is in it yet."),
        ("runspider spider.py -s DUST_MOD=off", 1, "Did you mean DUST_MODE?"),
        ("runspider spider.py -s DUST_RULES=torn.json", 1, "torn.json: line 2, column 1 is not JSON"),
        ("dusteval log.jsonl --methods keepal", 2, "Did you mean 'keepall'?"),
        ("dusteval log.jsonl --truth text_digset", 1, "Did you mean 'text_digest'?"),
        ("dustrules lst", 2, "there is no action 'lst'. Did you mean 'list'?"),
        ("dustrules export ngnix", 2, "Did you mean 'nginx'?"),
        ("dustrules export json --site a.exampel", 1, "Did you mean 'a.example'?"),
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
