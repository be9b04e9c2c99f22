"""The docs say what the code declares."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from docs.described import FIRST, groups
from scrapy_dust.believe.states import Status
from scrapy_dust.settings import DustSettings

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

#: Commands of a console block.
_SHOWN = re.compile(r"^\$ (.*)$", re.MULTILINE)
_BENCHMARK = re.compile(r"python -m (benchmarks(?:\.\w+)?)(.*)")


def test_the_tables_of_the_docs_list_what_the_code_declares():
    done = subprocess.run(
        [sys.executable, DOCS / "generate.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_every_setting_stands_under_one_heading_and_nine_come_first():
    found = [name for names in groups().values() for name in names]
    assert sorted(found) == sorted(spec.name for spec in fields(DustSettings))
    assert len(FIRST) == 9
    assert all(groups().values())


#: As users say it.
SYMPTOMS = (
    "The same page under many URLs",
    "My crawl never ends",
    "Facets and calendars",
    "Session ids",
    "Crawl again, only what is new",
    "Too much memory",
    "Many workers",
    "On Scrapyd, in a cluster",
    "Log files instead of crawls",
    "Why was my page not fetched?",
    "It found no rules",
)


def symptom_pages():
    """Each page's text, in the order of the index."""
    listed = re.findall(r"^symptoms/[\w-]+$", (DOCS / "index.md").read_text("utf-8"), re.MULTILINE)
    assert len(listed) == len(list((DOCS / "symptoms").glob("*.md")))
    return [(DOCS / f"{page}.md").read_text("utf-8") for page in listed]


def test_the_index_begins_with_a_page_for_each_symptom_in_the_words_of_users():
    titles = [page.partition("\n")[0] for page in symptom_pages()]
    assert titles == [f"# {title}" for title in SYMPTOMS]
    index = (DOCS / "index.md").read_text("utf-8")
    assert (
        index.index("symptoms/") < index.index("tutorial") < index.index("settings") < index.index("method")
    )


def test_a_page_about_a_symptom_has_a_command_few_settings_and_somebody_with_the_problem():
    for page in symptom_pages():
        assert _SHOWN.search(page), page
        assert len(re.findall(r"^[A-Z_]+ = ", page, re.MULTILINE)) <= 3, page
        assert re.search(r"https://github\.com/[\w.-]+/[\w.-]+/(?:issues|pull)/\d+", page), page


def test_the_readme_has_the_symptoms_and_few_links():
    readme = (ROOT / "README.md").read_text("utf-8")
    on_one_line = " ".join(readme.split())
    assert [title for title in SYMPTOMS if title not in on_one_line] == []
    assert len(re.findall(r"(?<!!)\[[^]]+\]\(", readme)) <= 10
    assert (
        readme.index("pip install scrapy-dust")
        < readme.index("ADDONS")
        < readme.index("scrapy dustmine")
        < 2000
    )


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
            path = path if path.exists() else ROOT / module.replace(".", "/") / "__main__.py"
            source = path.read_text("utf-8")
            assert all(option in source for option in re.findall(r"--\w[\w-]*", options)), (
                page,
                module,
                options,
            )
            named += 1
    assert named > 15


@pytest.mark.once
def test_every_benchmark_can_be_begun_as_the_docs_begin_it():
    """What it needs besides, and is not installed here, does not count."""
    for page in [*DOCS.rglob("*.md"), ROOT / "README.md", *(ROOT / "benchmarks").glob("*.py")]:
        assert not re.search(r"python benchmarks/", page.read_text("utf-8")), (
            f"{page}: python -m benchmarks.…"
        )
    for module in sorted((ROOT / "benchmarks").glob("[a-z]*.py")):
        try:
            importlib.import_module(f"benchmarks.{module.stem}")
        except ModuleNotFoundError as error:
            if str(error.name).startswith(("scrapy_dust", "benchmarks", "tests")):
                raise


def elements():
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module("elements").ELEMENTS
    finally:
        sys.path.remove(str(DOCS))


def test_each_element_of_the_papers_is_where_the_table_says():
    assert len(elements()) > 50
    for one in elements():
        assert one.where or one.said, one
        assert not one.said or (DOCS / one.said).exists(), one
        assert (one.how == "exact") is not bool(one.said), one
        for name in one.where:
            module, _, names = name.partition(":")
            path = ROOT / (module if module.startswith("benchmarks.") else f"scrapy_dust.{module}").replace(
                ".", "/"
            )
            source = path.with_suffix(".py").read_text("utf-8")
            for part in names.split("."):
                assert re.search(rf"^ *(?:async )?(?:def|class) {part}\b", source, re.MULTILINE), name


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


#: A path that a page names, below the root, below the package, or beside the path before it.
_PATH = re.compile(r"`((?:[\w.]+/)*[\w.]+\.(?:py|md|toml|json|ini)|(?:[\w.]+/)+)`")


def test_every_place_that_the_architecture_names_exists():
    page, before = (ROOT / "ARCHITECTURE.md").read_text("utf-8"), ROOT
    missing = []
    for name in _PATH.findall(page):
        places = [place / name for place in (ROOT, ROOT / "scrapy_dust", before)]
        found = next((place for place in places if place.exists()), None)
        if found is None:
            missing.append(name)
        else:
            before = found if found.is_dir() else found.parent
    assert missing == []


def test_every_room_of_the_package_has_a_row():
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition("## Rooms")[2].partition("\n## ")[0]
    rooms = {path.name for path in (ROOT / "scrapy_dust").iterdir() if (path / "__init__.py").exists()}
    assert rooms - set(re.findall(r"`(\w+)/`", page)) == set()


def terms():
    """Each term of the glossary with its text."""
    parts = (DOCS / "glossary.md").read_text("utf-8").split("\n### ")[1:]
    return {title: text for title, _, text in (part.partition("\n") for part in parts)}


def test_each_term_stands_once_in_the_glossary_and_in_the_code_that_it_names():
    assert len(terms()) == (DOCS / "glossary.md").read_text("utf-8").count("\n### ")
    for term, text in terms().items():
        named = re.findall(r"In code: `([\w/.]+)` `(\w+)`", text)
        assert named, term
        for path, name in named:
            assert re.search(
                rf"\b(?:class|def) {name}\b|^\s*{name}\b *[:=]",
                (ROOT / path).read_text("utf-8"),
                re.MULTILINE,
            ), term


def test_a_word_that_the_glossary_forbids_is_no_name_in_the_core():
    forbidden = re.findall(r"Not: ([\w, ]+)\.", (DOCS / "glossary.md").read_text("utf-8"))
    words = [word.strip() for some in forbidden for word in some.split(",")]
    assert words
    core = [
        path
        for room in ("believe", "propose", "visits", "rules", "crawl")
        for path in (ROOT / "scrapy_dust" / room).rglob("*.py")
    ]
    names = [name for path in core for name in re.findall(r"\b(?:class|def) (\w+)", path.read_text("utf-8"))]
    assert [name for name in names for word in words if word in name.lower()] == []


def test_every_state_of_a_rule_is_a_term():
    assert {status.name.capitalize() for status in Status} <= set(terms())
