"""What an earlier run has mined is taken over for the very same site, and for nothing else."""

from __future__ import annotations

import json
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dust.engines.input_digests import READ_BY_MINING, circumstances_of
from scrapy_dust.engines.kept_results import FILE, Memory, Part
from scrapy_dust.engines.local import Mined, mine_log
from scrapy_dust.engines.side_by_side import WORTH
from scrapy_dust.page.site_log import site_log
from scrapy_dust.propose.edits.pooling import Tally
from scrapy_dust.rule_book import priors
from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.learning import mine
from scrapy_dust.trials.reading import Reporter
from scrapy_dust.visits.pages import Visit
from tests import strategies

# Takes seconds, and is the same on every Python.
pytestmark = pytest.mark.once

SITE = "a.example"
VISITS = [
    Visit(f"http://a.example/{page}{end}", 200, text_digest=f"{page}")
    for page in range(40)
    for end in ("", "/index.html", f"?sid={page}", f"?sid=x{page}", f"?a=1&b={page}")
]


def run(state: Path, visits: list[Visit] = VISITS, **options: Any) -> Mined:
    [mined] = mine({SITE: visits}, DustSettings(**options), Reporter(), state=state, keep=True)
    return mined


def found(mined: Mined) -> tuple[object, ...]:
    return (
        *(mined.log, mined.too_long, list(mined.likely), mined.elimination, list(mined.parameters)),
        *(list(mined.edits), list(mined.tallies.items()), mined.candidates()),
    )


@settings(max_examples=20)
@given(strategies.logs(), st.sampled_from(("both", "dust", "dustbuster")))
def test_what_is_taken_over_is_what_would_be_mined(log, learner):
    visits = [replace(strategies.visit_of(line), text_digest=str(n % 7)) for n, line in enumerate(log)]
    with TemporaryDirectory() as folder:
        first, second = (run(Path(folder), visits, learner=learner, min_support=1) for _ in range(2))
        (Path(folder) / FILE).unlink()
        without = run(Path(folder), visits, learner=learner, min_support=1)
    assert (first.is_taken_over, second.is_taken_over, without.is_taken_over) == (False, True, False)
    assert found(first) == found(second) == found(without)


def test_a_real_sites_rules_parameters_and_edits_come_back_as_they_were(tmp_path: Path):
    first, second = run(tmp_path), run(tmp_path)
    assert first.likely
    assert first.elimination.dropped
    assert first.parameters
    assert first.edits
    assert first.tallies
    assert second.is_taken_over
    assert found(first) == found(second)


CHANGED = {
    "one URL more": [*VISITS, Visit("http://a.example/new", 200)],
    "one less": VISITS[1:],
    "another text": [replace(VISITS[0], text_digest="other"), *VISITS[1:]],
    "another size": [replace(VISITS[0], size=(1, 2)), *VISITS[1:]],
    "a redirect": [*VISITS, Visit("http://a.example/old", 301, redirect_to="http://a.example/1")],
    "a URL once more, that says something else": [*VISITS, replace(VISITS[3], text_digest="other")],
}


@pytest.mark.parametrize("visits", CHANGED.values(), ids=CHANGED.keys())
def test_a_site_with_anything_new_is_mined_anew_as_without_a_memory(tmp_path: Path, visits):
    run(tmp_path)
    again = run(tmp_path, visits)
    assert again.taken_over == frozenset()
    assert run(tmp_path, visits).is_taken_over
    (tmp_path / FILE).unlink()
    assert found(again) == found(run(tmp_path, visits))


def test_a_log_in_another_order_is_the_same_log(tmp_path: Path):
    first = run(tmp_path)
    again = run(tmp_path, [*VISITS[1:], VISITS[0]])
    assert again.is_taken_over
    assert found(again) == found(first)


def test_every_setting_that_mining_reads_is_part_of_what_it_depends_on():
    class Told:
        def __init__(self, settings: DustSettings) -> None:
            self.settings, self.names = settings, set[str]()

        def __getattr__(self, name: str) -> object:
            self.names.add(name)
            return getattr(self.settings, name)

    told = Told(DustSettings())
    mine_log(SITE, site_log(VISITS, same=told.same), told)  # type: ignore[arg-type]
    assert told.names == set(READ_BY_MINING)


OTHERWISE: dict[str, Any] = {
    "learner": "dust",
    "max_substring": 9,
    "bucket_low": 5,
    "bucket_high": 12,
    "min_support": 4,
    "similar": "none",
    "sketch_matches": 3,
    "max_relative_deficiency": 0.5,
    "max_absolute_deficiency": 2,
    "max_window": 7,
    "max_loss": 0.01,
    "same": "items",
}


def test_with_another_setting_the_site_is_mined_anew():
    assert OTHERWISE.keys() == set(READ_BY_MINING)
    runs = [DustSettings(), *(DustSettings(**{name: value}) for name, value in OTHERWISE.items())]
    common = {circumstances_of(one, redirects_count=count).common for one in runs for count in (True, False)}
    assert len(common) == 2 * len(runs)


def test_edits_are_learned_anew_only_where_other_sites_answer_otherwise(tmp_path: Path):
    run(tmp_path)
    assert run(tmp_path).is_taken_over
    # Of what the site asks, this says nothing.
    priors.save_priors(tmp_path, {"other.example": {"a kind that nobody asks about": Tally(held=2)}})
    assert run(tmp_path).is_taken_over
    priors.save_priors(tmp_path, {"other.example": {"parameter": Tally(laws=3, held=40)}})
    again = run(tmp_path)
    assert again.taken_over == {"rules"}
    (tmp_path / FILE).unlink()
    assert found(run(tmp_path)) == found(again)
    # What the site itself has shown is no prior for it.
    priors.save_priors(tmp_path, {SITE: {"parameter": Tally(laws=3, held=40)}})
    assert run(tmp_path).is_taken_over


def damage_content(file: Path) -> None:
    with closing(sqlite3.connect(file)) as database, database:
        for row, content in database.execute("SELECT rowid, content FROM mined").fetchall():
            flipped = bytes([*content[:-1], content[-1] ^ 1])
            database.execute("UPDATE mined SET content = ? WHERE rowid = ?", (flipped, row))


def give_to_another(file: Path) -> None:
    """What depended on something else stands where this is looked for."""
    with closing(sqlite3.connect(file)) as database, database:
        contents = dict(database.execute("SELECT part, content FROM mined").fetchall())
        for part, other in (("rules", "edits"), ("edits", "rules")):
            database.execute("UPDATE mined SET content = ? WHERE part = ?", (contents[other], part))


def make_foreign(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE mined (of TEXT)")


DAMAGES = {
    "no database": lambda file: file.write_bytes(b"not a database" * 99),
    "empty": lambda file: file.write_bytes(b""),
    "cut": lambda file: file.write_bytes(file.read_bytes()[:5000]),
    "contents": damage_content,
    "exchanged": give_to_another,
    "another program's": make_foreign,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_or_foreign_file_is_begun_anew(tmp_path: Path, damage):
    first = run(tmp_path)
    damage(tmp_path / FILE)
    second = run(tmp_path)
    assert not second.taken_over
    assert found(first) == found(second)
    assert run(tmp_path).is_taken_over


def test_where_nothing_can_be_kept_mining_goes_on(tmp_path: Path):
    (tmp_path / FILE).mkdir()
    assert found(run(tmp_path)) == found(run(tmp_path))


def test_only_its_owner_may_read_it(tmp_path: Path):
    run(tmp_path)
    assert sys.platform == "win32" or stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_beyond_its_bound_the_sites_go_that_were_mined_longest_ago(tmp_path: Path):
    memory = Memory(str(tmp_path / FILE))
    for site in ("a", "b", "c"):
        memory.keep([Part(site, "rules", "key", bytes(100))], most=320)
    memory.keep([Part("a", "rules", "key", None)], most=320)
    memory.keep(
        [Part("d\ud800", "rules", "key", bytes(100)), Part("e", "rules", "key", bytes(400))], most=320
    )
    assert [site for site in ("a", "b", "c", "d\ud800", "e") if memory.find(site, {"rules": "key"})] == [
        *("a", "c", "d\ud800")
    ]


def test_several_processes_take_over_too(tmp_path: Path):
    sites = {f"{name}.example": VISITS for name in "abc"}
    for taken in (False, True):
        mined = mine(
            sites, DustSettings(learner="dustbuster"), Reporter(), state=tmp_path, keep=True, processes=2
        )
        assert [one.is_taken_over for one in mined] == [taken] * 3
    assert WORTH > 3 * len(VISITS)


def test_the_rule_book_is_the_same_with_and_without_and_the_command_says_what_was_taken_over(tmp_path: Path):
    def dustmine(folder: str, visits: list[Visit]) -> tuple[bytes, dict[str, Any], str]:
        (tmp_path / folder).mkdir(exist_ok=True)
        lines = ({"url": one.url, "status": 200, "text_digest": one.text_digest} for one in visits)
        log = tmp_path / folder / "log.jsonl"
        log.write_text("".join(json.dumps(line) + "\n" for line in lines))
        command = [
            sys.executable,
            "-m",
            "scrapy",
            "dustmine",
            "log.jsonl",
            "--no-validate",
            "--json",
            "--profile",
        ]
        done = subprocess.run(
            [*command, "--rules", "rules.json", "-s", "DUST_DIR=dust"],
            cwd=tmp_path / folder,
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        return (tmp_path / folder / "rules.json").read_bytes(), json.loads(done.stdout), done.stderr

    other = [replace(one, url=one.url.replace("a.example", "b.example")) for one in VISITS[:50]]
    more = [*VISITS, *other, Visit("http://b.example/new", text_digest="new")]
    first, _, _ = dustmine("with", [*VISITS, *other])
    book, summary, said = dustmine("with", more)
    assert (summary["sites"], summary["taken_over"]) == (2, 1)
    assert "Taken over from an earlier run: 1 of 2 sites in full, 0 in part." in said
    assert dustmine("without", [*VISITS, *other])[0] == first
    (tmp_path / "without" / "dust" / FILE).unlink()
    again, summary, said = dustmine("without", more)
    assert again == book
    assert summary["taken_over"] == 0
    assert "Taken over" not in said
    assert b'"valid"' in book
