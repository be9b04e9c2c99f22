"""``scrapy dustmine --report``: a page beside the rule book."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.crawl.site import page, serving


def dustmine(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "scrapy", "dustmine", "log.jsonl", *arguments],
        cwd=folder,
        capture_output=True,
        env={**os.environ, "PYTHONUTF8": "1"},
        text=True,
        check=False,
    )


def prose(name):
    return " ".join(f"word{name}x{k}" for k in range(60))


@pytest.fixture
def mine(tmp_path):
    def run(*arguments):
        return dustmine(tmp_path, "--no-validate", *arguments)

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


@pytest.mark.once
def test_the_page_tells_what_the_rule_book_will_do(mine, tmp_path):
    done = mine("--report", "found.html")
    assert done.returncode == 0, done.stderr
    html = (tmp_path / "found.html").read_text()
    data = json.loads(html.partition('id="data">')[2].partition("</script>")[0])
    book = json.loads((tmp_path / "dust-rules.json").read_text())["sites"]["a.example"]["rules"]
    in_force = [rule["id"] for rule in book if rule["status"] == "valid"]
    assert in_force
    assert [rule["id"] for rule in data["rules"] if rule["status"] == "valid"] == in_force
    assert "<strong>50 %</strong> <span>of the requests of this log are saved</span>" in html
    assert sum(rule["saves"] for rule in data["rules"] if rule["status"] == "valid") == 26


@pytest.mark.once
def test_texts_that_validation_fetched_stand_side_by_side(tmp_path):
    """The log has hashes of texts; what it leaves open is fetched, and then shown."""
    with serving(
        lambda path: page(words=f"the page {path.partition('?')[0]} " + prose(path.partition("?")[0]))
    ) as site:
        lines = [
            {"url": site.url(f"/{name}{end}"), "size": 500, "status": 200}
            for name in "abcdefghijklmnopqrstuvwxyz"
            for end in ("", "?sid=1")
        ]
        (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        done = dustmine(
            tmp_path, "--report", "found.html", "-s", "DOWNLOAD_DELAY=0", "-s", "AUTOTHROTTLE_ENABLED=0"
        )
    assert done.returncode == 0, done.stderr
    html = (tmp_path / "found.html").read_text()
    data = json.loads(html.partition('id="data">')[2].partition("</script>")[0])
    shown = [pair for rule in data["rules"] for pair in rule["examples"]]
    assert any(
        first == second and first.startswith("the page /")
        for first, second in (pair["texts"] for pair in shown)
    )
    assert ["The log says nothing of their texts."] in [pair["said"][-1:] for pair in shown]


@pytest.mark.once
def test_where_it_cannot_be_written_a_sentence_says_so(mine):
    done = mine("--dry-run", "--report", "nowhere/found.html")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "scrapy dustmine: nowhere/found.html: the report cannot be written (No such file or directory)."
        " Check the path and its permissions."
    )
