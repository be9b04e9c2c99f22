"""Completion in the real shells, as far as they are installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
import tomllib
from pathlib import Path

import pytest

from scrapy_dust.commands.declared_commands import OURS, offered
from scrapy_dust.commands.dustcompletion import Command
from scrapy_dust.commands.shells import SCRIPTS
from tests.waiting import PATIENCE

pytestmark = pytest.mark.once

#: What is typed, and what is offered among others or, with False, alone.
TYPED = [
    ("scrapy dustm", {"dustmine"}, False),
    ("scrapy dustmine --for", {"--format"}, False),
    ("scrapy dustmine --format war", {"warc"}, False),
    ("scrapy dustmine -s DUST_CANA", {"DUST_CANARY_RATE="}, False),
    ("scrapy dustmine acc", {"access.log"}, False),
    ("scrapy dustrules ", {"list", "explain", "export"}, True),
    ("scrapy dustrules export n", {"nginx", "no-vary-search"}, False),
    ("scrapy dustrules --rules acc export n", {"nginx", "no-vary-search"}, False),
    ("scrapy dustrules import acc", {"access.log"}, False),
    ("scrapy dustpages fi", {"find"}, False),
    ("scrapy dustcompletion z", {"zsh"}, False),
]


@pytest.fixture
def folder(tmp_path):
    for shell, script in SCRIPTS.items():
        (tmp_path / f"completion.{shell}").write_text(script())
    (tmp_path / "access.log").touch()
    return tmp_path


def needs(shell):
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


def said_by(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.stderr == ""
    return done.stdout


ASK_BASH = """
ask() {
    COMP_LINE=$1 COMP_WORDS=($1)
    [[ $1 == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _scrapy_dust scrapy "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
    echo "= ${COMPREPLY[*]}"
}
"""


def in_bash(folder, typed, before=""):
    asked = "\n".join(f"ask '{line}'" for line in typed)
    said = said_by(
        ["bash", "--norc", "-c", f"{before}\n. ./completion.bash\n{ASK_BASH}{asked}"], folder
    ).split("= ")[1:]
    return [set(line.split()) for line in said]


@needs("bash")
def test_bash_completes_commands_options_values_and_files(folder):
    answers = in_bash(folder, [line for line, _, _ in TYPED])
    for (line, wanted, more), found in zip(TYPED, answers, strict=True):
        assert wanted <= found if more else wanted == found, line


@needs("bash")
def test_what_completed_scrapy_before_goes_on_to(folder):
    """As Scrapy's own extras/scrapy_bash_completion does it."""
    before = "_theirs() { COMPREPLY=(theirs-$COMP_CWORD); }; complete -F _theirs scrapy"
    # Loaded twice, as where a shell is started within a shell.
    first, second, ours = in_bash(
        folder, ["scrapy dustm", "scrapy crawl ", "scrapy dustmine --bu"], f"{before}; . ./completion.bash"
    )
    assert (first, second, ours) == ({"theirs-1", "dustmine"}, {"theirs-2"}, {"--budget"})


@needs("fish")
def test_fish_completes_commands_options_values_and_files(folder):
    asked = "\n".join(f"echo '= '; complete -C '{line}'" for line, _, _ in TYPED)
    environment = f"set -x HOME {folder}; source completion.fish\n"
    said = said_by(["fish", "--no-config", "-c", environment + asked], folder).split("= \n")[1:]
    for (line, wanted, more), told in zip(TYPED, said, strict=True):
        found = {answer.partition("\t")[0] for answer in told.splitlines()}
        assert wanted <= found if more or "acc" in line else wanted == found, line


@needs("zsh")
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("scrapy dustm\t", "scrapy dustmine"),
        ("scrapy dustmine --bud\t", "scrapy dustmine --budget="),
        ("scrapy dustmine --format=war\t", "--format=warc"),
        ("scrapy dustrules expl\t", "scrapy dustrules explain"),
        ("scrapy dustrules export ngi\t", "scrapy dustrules export nginx"),
        ("scrapy dustrules import acc\t", "scrapy dustrules import access.log"),
        ("scrapy dustmine -s DUST_CANA\t", "DUST_CANARY_RATE="),
    ],
)
def test_zsh_completes_on_a_terminal(folder, typed, completed):
    assert completed in on_terminal(folder, ["zsh", "-f", "-i"], typed)


def on_terminal(folder, shell, typed):
    """What stands in the line when *typed* was typed, without what moves the cursor."""
    pty = pytest.importorskip("pty", reason="Windows has no pseudo-terminals")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "dumb", "HOME": str(folder), "PS1": "> ", "ZDOTDIR": str(folder)}
    process = subprocess.Popen(
        shell,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        os.write(ours, b"autoload -U compinit; compinit -u -D; . ./completion.zsh; echo rea''dy\n")
        _until(ours, "ready\r")
        os.write(ours, typed.encode())
        said = _until(ours, None)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|.\x08", "", said)


def _until(descriptor, wanted, quiet=0.7):
    """What comes until *wanted*; None: until nothing more does."""
    import select  # noqa: PLC0415

    said, end = "", time.monotonic() + PATIENCE
    while time.monotonic() < end and (wanted is None or wanted not in said):
        if select.select([descriptor], [], [], quiet if wanted is None and said.strip() else 5)[0]:
            said += os.read(descriptor, 65536).decode(errors="replace")
        elif wanted is None:
            break
    return said


def test_all_that_is_declared_is_offered():
    commands = {one.name: one for one in offered()}
    assert tuple(commands) == OURS
    names = {name for option in commands["dustmine"].options for name in option.names}
    assert {"--report", "--json", "-s"} <= names
    assert all(option.said for one in commands.values() for option in one.options)
    for script in SCRIPTS.values():
        assert all(name.lstrip("-") in script() for name in names)


def test_every_command_of_ours_is_an_entry_point():
    declared = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    points = declared["project"]["entry-points"]["scrapy.commands"]
    assert points == {name: f"scrapy_dust.commands.{name}:Command" for name in OURS}


def test_the_command_prints_the_script(capsys):
    Command().act(None, "fish", [], None)
    assert capsys.readouterr().out == SCRIPTS["fish"]()
