"""A session on a terminal of 80 and of 140 columns, through a pipe, and with NO_COLOR."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scrapy_dust.commands.tables import table
from scrapy_dust.rule_book import Entry, Evidence, RuleBook, Status
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute

pytestmark = pytest.mark.once

pty = pytest.importorskip("pty", reason="Windows has no pseudo-terminals")

SITE = "a-site-with-a-name.example"
LONG = Rule.of(
    Substitute(f"http://www.{SITE}/a/long/path/that/says/nothing/", f"http://{SITE}/x/", start=True)
)
COLOURS = re.compile(r"\x1b\[\d+m")


@pytest.fixture
def folder(tmp_path):
    known = Evidence(positive=12345, contradictions=3, last_validated="2026-11-18")
    entries = [Entry(LONG, evidence=known), Entry(Rule.of(DropParameter("sid")), Status.REFUTED, known)]
    RuleBook().with_site(SITE, entries).save(tmp_path / "dust-rules.json")
    return tmp_path


COMMAND = [sys.executable, "-m", "scrapy", "dustrules", "list"]


def on_terminal(folder, columns, command=COMMAND, *, check=True, **environment):
    """What a person sees."""
    import fcntl  # noqa: PLC0415
    import struct  # noqa: PLC0415
    import termios  # noqa: PLC0415

    ours, theirs = pty.openpty()
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        clean = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
        subprocess.run(
            command,
            cwd=folder,
            stdout=theirs,
            stderr=theirs,
            env={**clean, "TERM": "xterm", "PYTHONUTF8": "1", **environment},
            check=check,
        )
        os.close(theirs)
        theirs = -1
        said = b""
        # Linux says with an error that nobody writes any more.
        while chunk := _read(ours):
            said += chunk
    finally:
        os.close(ours)
        if theirs >= 0:
            os.close(theirs)
    return said.decode().replace("\r\n", "\n")


def _read(descriptor):
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""


@pytest.mark.parametrize(
    ("columns", "heads"),
    [
        (80, ["id", "status", "site", "alike", "differ", "rule"]),
        (140, ["id", "status", "site", "alike", "differ", "last", "tested", "rule"]),
    ],
)
def test_a_table_fits_the_terminal_and_says_by_colour_what_is_in_force(folder, columns, heads):
    said = on_terminal(folder, columns)
    plain = COLOURS.sub("", said).splitlines()
    assert max(map(len, plain)) <= columns
    assert plain[0].split() == heads
    assert said.count("\x1b[32mvalid\x1b[0m") == said.count("\x1b[31mrefuted\x1b[0m") == 1
    assert "…" in said


def test_who_wants_no_colour_gets_none(folder):
    assert "\x1b" not in on_terminal(folder, 140, NO_COLOR="1")


def test_a_pipe_gets_all_of_it_without_colour(folder):
    piped = subprocess.run(
        COMMAND, cwd=folder, capture_output=True, check=True, env={**os.environ, "PYTHONUTF8": "1"}
    )
    assert str(LONG) in piped.stdout.decode()
    assert b"\x1b" not in piped.stdout


@pytest.mark.parametrize("command", ["dustmine", "dustrules"])
def test_help_ends_with_examples(command):
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", command, "--help"], capture_output=True, check=True, text=True
    )
    heading, _, examples = done.stdout.partition("Examples\n========\n")
    assert "Options" in heading
    assert all(line.startswith(f"  scrapy {command}") for line in examples.strip("\n").splitlines())


def test_columns_that_can_be_spared_go_when_nothing_else_can_give(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    for columns in range(20, 130):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = table(
            ["id", "rule", "more", "text"], [["x" * 8, "y" * 60, "z" * 14, "t" * 30]], spare=[2, 3]
        ).splitlines()
        assert max(map(len, lines)) <= max(columns, 8 + 2 + 16)
        assert len(set(map(len, lines[1:]))) == 1


#: What a person sees of a session, as it was looked at and found right. To capture it anew, remove the file.
SESSIONS = Path(__file__).parent / "sessions"
SESSION = [
    ["dustmine", "log.jsonl", "--phase", "kept"],
    ["dustrules", "list"],
    ["dustrules", "explain", f"http://www.{SITE}/a/long/path/that/says/nothing/q"],
    ["dustrules", "disable", "12345678"],
]


@pytest.mark.parametrize("name", ["80", "140", "no-color", "piped"])
def test_a_session_is_what_was_found_right(name, folder):
    lines = [
        {"url": f"http://{host}{SITE}/a/{page}{end}", "status": 200, "size": 1000, "text_digest": page * 16}
        for page in "abcdefghijklmnopqrstuvwxyz"
        for host in ("", "www.")
        for end in ("", "?sid=b")
    ]
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    # Without colours, the one that has some.
    session = SESSION[1:2] if name == "no-color" else SESSION
    said = "".join(_part(folder, name, arguments) for arguments in session)
    # What differs from machine to machine; and how many edits are learned is no matter of this.
    said = re.sub(r"\(\d+\.\d s\)", "(0.1 s)", re.sub(r"\d+ by equal", "2 by equal", said))
    file = SESSIONS / f"{name}.txt"
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        file.write_text(said, "utf-8")
    assert said == file.read_text("utf-8")


def _part(folder, name, arguments):
    command = [sys.executable, "-m", "scrapy", *arguments]
    shown = f"$ scrapy {' '.join(arguments)}\n"
    if name == "piped":
        done = subprocess.run(
            command, cwd=folder, capture_output=True, check=False, env={**os.environ, "PYTHONUTF8": "1"}
        )
        return shown + (done.stdout + done.stderr).decode()
    colour = {"NO_COLOR": "1"} if name == "no-color" else {}
    width = int(name) if name.isdecimal() else 140
    said = on_terminal(folder, width, command, check=False, **colour)
    # As it is on the screen: what was written over is gone. An escape is shown as one.
    return shown + "".join(line.split("\r")[-1] for line in said.splitlines(keepends=True)).replace(
        "\x1b", "␛"
    )
