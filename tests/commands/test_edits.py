"""Edits as people meet them: mined by ``dustmine``, looked after by ``dustrules``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import blake2b

import pytest

from scrapy_dust.commands import changing, reviewing
from scrapy_dust.commands.context import Context
from scrapy_dust.rule_book import Entry, Evidence, RuleBook, rule_id
from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.path_rewriting import Rewrite
from scrapy_dust.rules.rule import Rule

SITE = "news.example"
PRINTED = Rule((Rewrite(("/print.pl?sid=", 0), ("/newsvac/", 0, ".shtml"), ("numbers",)),))
SORT = Rule((DropParameter("sort"),), (Condition("?all"),))
READS = "/print.pl?sid={numbers 1} → /newsvac/{numbers 1}.shtml"
FORMS = ("http://news.example/print.pl?sid={}", "http://news.example/newsvac/{}.shtml")
LEARNED = "/newsvac/{numbers 1}.shtml → /print.pl?sid={numbers 1}"
PRINT, STORY = (form.format("06/06/27/2") for form in FORMS)


@pytest.fixture
def context(tmp_path):
    evidence = Evidence(
        positive=30, contents=30, log_same=30, merges=30, loss_bound=0.0, examples=((PRINT, STORY),)
    )
    path = tmp_path / "dust-rules.json"
    entries = [Entry(Rule.of(DropParameter("from"))), Entry(PRINTED, evidence=evidence), Entry(SORT)]
    RuleBook().with_site(SITE, entries).save(path)
    return Context((str(path),), passes=10, must_exist=True, as_json=False, dust_dir=str(tmp_path / "dust"))


def test_a_list_has_each_edit_on_one_line(context, capsys):
    reviewing.list_rules(context)
    lines = capsys.readouterr().out.splitlines()
    assert lines[3].split(maxsplit=5) == [rule_id(SITE, PRINTED), "valid", SITE, "30", "0", READS]
    assert lines[4].endswith("sort=* → (left out), where all is there")


def test_an_edit_is_shown_with_its_evidence(context, capsys):
    reviewing.show(context, rule_id(SITE, PRINTED))
    said = capsys.readouterr().out
    assert READS in said
    assert "30 pairs of URLs showed one page (30 known from logs alone), on 30 different pages" in said
    assert f"example: {PRINT} → {STORY}" in said


def test_the_way_to_a_key_names_edits_and_plain_rules_alike(context, capsys):
    reviewing.explain(context, f"{PRINT}&from=rss")
    said = capsys.readouterr().out.splitlines()
    assert said[0] == STORY
    assert [line.split("  ")[-1] for line in said if SITE in line and "valid" in line] == [
        "from=* → (left out)",
        READS,
    ]


def test_what_is_explained_is_what_keys_are(context, capsys, tmp_path):
    (tmp_path / "urls").write_text(f"{PRINT}&from=rss\n{STORY}\nhttp://news.example/l?all=1&sort=a\n")
    reviewing.keys(context, str(tmp_path / "urls"))
    keys = [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()]
    assert keys == [STORY, STORY, "http://news.example/l?all=1"]


def test_expectations_are_held_against_edits_too(context, capsys, tmp_path):
    (tmp_path / "expected.csv").write_text(
        f"{PRINT},{STORY},same\nhttp://news.example/l?sort=a,http://news.example/l?sort=b,different\n"
    )
    assert reviewing.test(context, str(tmp_path / "expected.csv")) == 0
    assert capsys.readouterr().out == "2 of 2 expectations hold.\n"


def test_an_edit_is_switched_off_and_on_by_its_id(context, capsys):
    changing.disable(context, rule_id(SITE, PRINTED))
    assert PRINTED not in context.book().rules_by_site()[SITE]
    changing.enable(context, rule_id(SITE, PRINTED))
    assert PRINTED in context.book().rules_by_site()[SITE]
    changing.forget(context, rule_id(SITE, PRINTED), rule_id(SITE, SORT))
    assert f"forgotten: {rule_id(SITE, PRINTED)}  {SITE}  {READS}" in capsys.readouterr().out
    assert [entry.rule for entry in context.book().entries(SITE)] == [Rule.of(DropParameter("from"))]


def line(url, content):
    digest = blake2b(str(content).encode()).hexdigest()
    return json.dumps({"url": url, "status": 200, "text_digest": digest[:32]}) + "\n"


def dustmine(folder, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "dustmine", "log.jsonl", "--no-validate", "--json", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONUTF8": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.once
def test_who_is_asked_for_rules_is_an_option_and_what_comes_out_the_same_in_every_process(tmp_path):
    days = [
        f"{y:02}/{m:02}/{d}/{1 + y % 3}" for y, m, d in zip(range(30), [5, 6] * 15, range(1, 31), strict=True)
    ]
    log = [line(url.format(day), day) for day in days for url in FORMS]
    log += [line(f"http://news.example/l?b={n}&a=1&c=%7E{s}", n) for n in range(20) for s in ("", "&x=1&y=2")]
    (tmp_path / "log.jsonl").write_text("".join(log))
    assert dustmine(tmp_path, "--learner", "dustbuster", "--dry-run")["edits"] == 0
    books = []
    for seed in "12":
        told = dustmine(tmp_path, PYTHONHASHSEED=seed)
        assert LEARNED in [one["text"] for one in told["decisions"] if one["verdict"] == "valid"]
        books.append((tmp_path / "dust-rules.json").read_bytes())
        (tmp_path / "dust-rules.json").unlink()
        (tmp_path / ".scrapy" / "dust" / "verdicts.json").unlink()
    assert books[0] == books[1]
