"""What strangers wrote into logs and rule books: it is read, told and shown, and does nothing."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.waiting import PATIENCE

pytestmark = pytest.mark.once

#: Turns a terminal red, rings its bell, and lets a line run from right to left.
COMMANDS = "\x1b[31m\x07\u202e"
RECORD = {"v": 1, "status": 200, "size": 500, "fetched_at": "2026-01-01T00:00:00Z"}


def run(*arguments, cwd):
    # As in a pipe, and with UTF-8 whatever the machine's locale is.
    command = [sys.executable, "-X", "utf8", "-m", "scrapy", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", timeout=PATIENCE, cwd=cwd, check=False
    )


def record(url, content):
    return json.dumps({**RECORD, "url": url, "digest": content, "text_digest": content, "title": COMMANDS})


@pytest.fixture(scope="module")
def mined(tmp_path_factory):
    """The log of a site with session ids, and all that its owner could think of."""
    folder = tmp_path_factory.mktemp("hostile")
    honest = [
        record(f"http://a.example/{page}{COMMANDS}{session}", f"page {page}")
        for page in range(20)
        for session in ("", f"?s{COMMANDS}=1")
    ]
    hostile = [
        "[" * 100_000 + "]" * 100_000,
        '{"url":' * 100_000,
        record("http://a.example/?" + "a=1&" * 250_000, "long"),
        record("http://a.example/" + "a/" * 500_000, "deep"),
        '{"url": "http://a.example/", "status": 1e400}',
        '{"url": "http://a.example/", "size": ' + "9" * 5000 + "}",
        '{"url": "http://[a.example/\\ud800", "status": 200}',
        "{" + COMMANDS,
    ]
    (folder / "log.jsonl").write_text("\n".join([*honest, *hostile]) + "\n", "utf-8")
    done = run("dustmine", "log.jsonl", "--no-validate", "--rules", "rules.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_a_hostile_log_is_mined_as_if_it_were_honest(mined):
    _, done = mined
    assert "1 valid, 0 on probation, 0 refuted" in done.stdout
    assert "a.example: 2 URLs have more than 500 words and signs; not mined." in done.stderr
    for line in (41, 42, 45, 46, 48):
        assert f"not read: log.jsonl, line {line}: " in done.stderr
    assert "Traceback" not in done.stderr


def test_no_url_commands_the_terminal(mined):
    folder, done = mined
    url = f"http://a.example/1{COMMANDS}?s{COMMANDS}=1"
    shown = [
        done.stdout,
        done.stderr,
        *(
            run("dustrules", *what, "--rules", "rules.json", cwd=folder).stdout
            for what in (["list"], ["show"], ["explain", url])
        ),
        run("dustmine", "log.jsonl", "--phase", "likely", cwd=folder).stdout,
        (folder / "rules.json").read_text("utf-8"),
    ]
    for text in shown:
        assert "[31m" in text or text is done.stderr
        assert not set(COMMANDS) & set(text) - {"[", "3", "1", "m"}


@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, '{"format": 1, "sites": {"a":' * 50_000])
def test_a_rule_book_of_nothing_but_brackets_is_one_sentence(tmp_path, text):
    (tmp_path / "rules.json").write_text(text, "ascii")
    done = run("dustrules", "list", "--rules", "rules.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("scrapy dustrules: rules.json: its lists are nested too deeply. ")
    assert done.stderr.count("\n") == 1
