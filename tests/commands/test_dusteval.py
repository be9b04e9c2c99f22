"""``scrapy dusteval`` as users start it."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.once

METHODS = "keepall,standard,dust"


@pytest.fixture
def log(tmp_path):
    """Stories with and without a session id, in a random-looking order; pages of a list; an error."""
    path = tmp_path / "log.jsonl.gz"
    lines = []
    for n in range(400):
        story = n % 100
        url = f"http://a.example/story?id={story}" + ("", "&sid=1", "&sid=2", f"&sid={n}")[n // 100]
        lines.append(
            {"url": url, "cluster_exact": story, "cluster_strict": story // 2, "text_digest": f"s{story}"}
        )
        lines.append(
            {"url": f"http://a.example/list?page={n}", "cluster_exact": 1000 + n, "text_digest": f"l{n}"}
        )
    lines = [line | {"status": 200, "size": 500, "sketch": sketch(line["text_digest"])} for line in lines]
    lines.sort(key=lambda line: hash_of(line["url"]))
    lines.append({"url": "http://a.example/gone", "status": 404})
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
    return path


def hash_of(text):
    return sum(ord(letter) * 7919**place for place, letter in enumerate(text)) % 100_003


def sketch(text):
    return [hash_of(text + mark) for mark in "abcd"]


def dusteval(cwd, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "scrapy", "dusteval", *arguments],
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )


def measured(done):
    assert (done.returncode, done.stderr) == (0, "")
    return {line["method"]: line for line in map(json.loads, done.stdout.splitlines())}


def test_one_object_a_method_says_what_it_saves_and_what_it_costs(log, tmp_path):
    found = measured(dusteval(tmp_path, log.name, "--methods", METHODS, "--json"))
    assert list(found) == METHODS.split(",")
    keepall, dust = found["keepall"], found["dust"]
    assert keepall["urls"] == keepall["crawled"] == 199
    assert (keepall["recall"], keepall["lost"], keepall["rules"]) == (1.0, 0, 0)
    assert keepall["precision"] == keepall["clusters"] / 199
    assert dust["crawled"] == dust["clusters"] == dust["covered"] < keepall["crawled"]
    assert (dust["precision"], dust["recall"], dust["f1"], dust["lost"]) == (1.0, 1.0, 1.0, 0)
    assert dust["rules"] >= 1
    assert sum(dust["left"].values()) == 0
    assert sum(keepall["left"].values()) == keepall["crawled"] - keepall["covered"]
    assert dust["truth"] == "cluster_exact"
    assert {path.name for path in tmp_path.iterdir()} == {log.name}


def test_the_table_has_a_line_for_each_method(log, tmp_path):
    done = dusteval(tmp_path, log.name, "--methods", METHODS)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].split() == "method precision recall F1 crawled covered lost rules µs/URL learn s".split()
    assert [line.split()[0] for line in lines[2:5]] == METHODS.split(",")
    assert lines[-1].startswith("Replayed 199 URLs of ")


def test_truths_are_fields_of_the_log(log, tmp_path):
    exact, strict, text = (
        measured(dusteval(tmp_path, log.name, "--methods", "keepall", "--truth", truth, "--json"))["keepall"]
        for truth in ("exact", "strict", "text_digest")
    )
    assert strict["truth"] == "cluster_strict"
    assert strict["urls"] < exact["urls"]
    assert (text["urls"], text["clusters"]) == (exact["urls"], exact["clusters"])


@pytest.mark.parametrize("split", ["cluster", "log"])
def test_several_seeds_are_averaged(log, tmp_path, split):
    options = ("--methods", "keepall", "--split", split, "--order", "random", "--json")
    one, two, both = (
        measured(dusteval(tmp_path, log.name, *options, *seeds))["keepall"]
        for seeds in (("--seed", "1"), ("--seed", "2"), ("--seed", "1", "--seeds", "2"))
    )
    assert both["f1"] == pytest.approx((one["f1"] + two["f1"]) / 2)
    assert both["seeds"] == 2


def test_a_log_without_a_truth_is_judged_by_its_text(tmp_path):
    lines = [{"url": f"http://a.example/{n}", "status": 200, "text_digest": f"t{n % 30}"} for n in range(40)]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = measured(dusteval(tmp_path, "log.jsonl", "--methods", "keepall", "--json"))["keepall"]
    assert (found["truth"], found["urls"], found["clusters"]) == ("text_digest", 10, 10)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["log.jsonl.gz", "--methods", "keepall,magic"], "there is no method 'magic'. Use one of keepall, "),
        (["log.jsonl.gz", "--train", "1.5"], "--train must be a number between 0 and 1, got '1.5'."),
        (["log.jsonl.gz", "--seeds", "0"], "--seeds must be an integer of at least 1, got '0'."),
        (["log.jsonl.gz", "--seed", "x"], "--seed must be an integer of at least 0, got 'x'."),
        (["log.jsonl.gz", "--nonsense"], "unrecognized arguments: --nonsense"),
        ([], "no LOG given, and this is no Scrapy project with a log of its own."),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(log, tmp_path, arguments, said):
    done = dusteval(tmp_path, *arguments)
    assert done.returncode == 2
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.jsonl"], "nowhere.jsonl: there is no such file"),
        (["log.jsonl.gz", "--truth", "colour"], "log.jsonl.gz: no line has 'colour'. Name a field"),
        (["log.jsonl.gz", "--split", "host"], "log.jsonl.gz: no host with known contents is left to replay."),
    ],
)
def test_what_cannot_be_done_is_one_sentence(log, tmp_path, arguments, said):
    done = dusteval(tmp_path, *arguments)
    assert done.returncode == 1
    assert done.stderr.startswith(f"scrapy dusteval: {said}")
    assert len(done.stderr.splitlines()) == 1


def test_a_log_is_replayed_as_a_first_crawl(log, tmp_path):
    lines = measured(dusteval(tmp_path, str(log), "--online", "--json"))
    assert list(lines) == ["keepall", "maybedont", "online", "offline", "oracle"]
    assert lines["keepall"]["avoided"] == 0
    assert lines["online"]["clusters_lost"] == 0
    assert 0.5 < lines["online"]["share"] <= lines["oracle"]["share"] == 1
    assert lines["online"]["curve"][-1] == [lines["online"]["crawled"], lines["online"]["clusters"]]
    done = dusteval(tmp_path, str(log), "--online", "--methods", "keepall,ra")
    assert (done.returncode, "'ra' with --online" in done.stderr) == (2, True)
