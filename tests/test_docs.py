"""The docs say what the code declares."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

#: Commands of a console block.
_SHOWN = re.compile(r"^\$ (.*)$", re.MULTILINE)
_BENCHMARK = re.compile(r"python (?:-m )?(benchmarks(?:[./]\w+)?)(?:\.py)?(.*)")


def test_the_tables_of_the_docs_list_what_the_code_declares():
    done = subprocess.run(
        [sys.executable, DOCS / "generate.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def followed_pages():
    """As `docs/follow.py` has them; it runs where the package is installed and nothing else: `tox -e demo`."""
    listed = (DOCS / "follow.py").read_text("utf-8").partition("PAGES = (")[2].partition(")")[0]
    return set(re.findall(r'"(.+)"', listed))


def test_whatever_a_page_shows_is_run():
    """By `docs/follow.py`, or it is a benchmark that is there, or the command by which all of this is run."""
    for page in DOCS.rglob("*.md"):
        if page.relative_to(DOCS).as_posix() in followed_pages():
            continue
        for command in _SHOWN.findall(page.read_text("utf-8")):
            known = "tox" in command or _BENCHMARK.match(command) or _is_installed(command)
            assert known, (page, command)


def _is_installed(command):
    """Whether all that `pip` is told to install is installed by a how-to, or for e2e tests."""
    there = (ROOT / "pyproject.toml").read_text("utf-8") + "".join(
        (DOCS / page).read_text("utf-8") for page in followed_pages()
    )
    names = command.removeprefix("python -m pip install ").split()
    return command.startswith("python -m pip install ") and all(name in there for name in names)


def test_benchmarks_that_the_docs_name_are_there_and_know_their_options():
    named = 0
    for page in [*DOCS.rglob("*.md"), ROOT / "README.md"]:
        for module, options in _BENCHMARK.findall(page.read_text("utf-8").replace("`", "\n")):
            path = ROOT / (module.replace(".", "/").removesuffix("/py") + ".py")
            path = path if path.exists() else ROOT / module / "__main__.py"
            source = path.read_text("utf-8")
            assert all(option in source for option in re.findall(r"--\w[\w-]*", options)), (
                page,
                module,
                options,
            )
            named += 1
    assert named > 15


def test_each_how_to_is_followed_and_listed():
    how_tos = {f"howto/{page.name}" for page in (DOCS / "howto").glob("*.md")}
    assert how_tos <= followed_pages()
    assert all((DOCS / page).exists() for page in followed_pages())


def test_every_row_of_the_threat_model_names_a_test_that_is_there():
    """Or a command of this repository, where what is shown is a measurement."""
    page = (DOCS / "security.md").read_text("utf-8").partition("## Fuzzing")[0]
    rows = [
        line.strip("| ").split(" | ") for line in page.splitlines() if re.match(r"\| (?!the attempt|-)", line)
    ]
    assert len(rows) > 20
    for row in rows:
        assert len(row) == 3, row
        proofs = re.findall(r"`([^`]+)`", row[2])
        assert proofs, row
        assert [proof for proof in proofs if not _is_there(proof)] == []


def _is_there(proof):
    if command := re.match(r"python -m (\w+)(?:\.(\w+))?$", proof):
        return (ROOT / command[1] / f"{command[2] or '__main__'}.py").exists()
    path, _, name = proof.partition("::")
    return (ROOT / path).exists() and (not name or f"def {name}(" in (ROOT / path).read_text("utf-8"))
