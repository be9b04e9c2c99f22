"""Rules that come from other programs and go to them, by ``scrapy dustrules``."""

from __future__ import annotations

import json

import pytest

from scrapy_dust.exchange.transfer import BY_AMPERSAND
from scrapy_dust.rule_book import Entry, RuleBook, Status, rule_id
from scrapy_dust.rule_book.entries import Evidence
from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.commands.test_dustrules import BOOK, INDEX_ID, WWW_ID, dustrules, folder, misused, out, refused  # noqa: F401  Fixtures.
from tests.rule_book.books import INDEX, SITE

pytestmark = pytest.mark.once

CSV = "site,kind,alpha,beta,start\na.example,replace,http://,http://www.,^\na.example,replace,x,y,\n"
ROBOTS = "User-agent: *\nClean-param: sid&ref\nClean-param: sort /forum/\nClean-param: sort /fo*m/\n"


@pytest.fixture
def robots(folder):  # noqa: F811
    (folder / "robots.txt").write_text(ROBOTS)
    return "robots.txt"


def statuses(folder):  # noqa: F811
    return {str(entry.rule): entry.status for entry in RuleBook.load([str(folder / BOOK)]).entries(SITE)}


def test_imported_rules_are_on_probation_and_what_was_known_stays(dustrules, folder, robots):  # noqa: F811
    said = out(dustrules("import", robots)).splitlines()
    assert (
        said[0] == "2 rules of 1 sites imported, on probation; 1 were known already; 1 could not be imported."
    )
    assert said[1] == "  line 4, Clean-param: sort /fo*m/: it is about a part of a site that cannot be said."
    assert statuses(folder)["ref=* → (left out), where the separator is &"] is Status.PROBATION
    assert statuses(folder)["sid=* → (left out)"] is Status.REFUTED
    ref = rule_id(SITE, Rule.of(DropParameter("ref"), where=(BY_AMPERSAND,)))
    assert "reason: imported from robots.txt on " in out(dustrules("show", ref))
    url = "http://a.example/?ref=1\n"
    assert out(dustrules("keys", stdin=url.encode())) == f"http://a.example/?ref=1\t{url}"


def test_import_tells_json_and_a_dry_run_changes_nothing(dustrules, folder, robots):  # noqa: F811
    before = (folder / BOOK).read_bytes()
    told = json.loads(out(dustrules("import", robots, "--json", "--dry-run", "--site", "b.example")))
    assert (told["found"], len(told["new"]), len(told["unsaid"])) == (3, 3, 1)
    assert (folder / BOOK).read_bytes() == before


def test_the_reverse_of_what_is_in_force_is_not_taken_in(dustrules, folder):  # noqa: F811
    (folder / "theirs.csv").write_text(CSV)
    assert out(dustrules("import", "theirs.csv")).splitlines() == [
        "1 rules of 1 sites imported, on probation; 0 were known already; 1 could not be imported.",
        "  a.example: ^http:// → ^http://www.: its reverse is in the book.",
    ]


def test_import_begins_a_book_where_there_is_none(dustrules, tmp_path):  # noqa: F811
    (tmp_path / "new").mkdir()
    done = dustrules(
        "import", "-", "--site", "https://www.b.example/x", cwd=tmp_path / "new", stdin=ROBOTS.encode()
    )
    assert out(done).startswith("3 rules of 1 sites imported")
    assert RuleBook.load([str(tmp_path / "new" / BOOK)]).sites == ("b.example",)


def test_import_makes_the_book_that_is_named(dustrules, folder, robots):  # noqa: F811
    said = out(dustrules("import", robots, "--rules", "new.json", "--site", "b.example")).splitlines()
    assert said[0].startswith("3 rules of 1 sites imported")
    assert said[-1].startswith("  These stay as they are: URLs with a parameter after a ;")
    assert RuleBook.load([str(folder / "new.json")]).sites == ("b.example",)


def test_export_prints_what_is_in_force_and_says_what_it_leaves(dustrules, folder):  # noqa: F811
    book = RuleBook.load([str(folder / BOOK)])
    book.with_site(SITE, (*book.entries(SITE), Entry(Rule.of(DropParameter("utm"))))).save(folder / BOOK)
    done = dustrules("export", "clean-param")
    assert (done.returncode, done.stdout.decode()) == (0, f"# site: {SITE}\nClean-param: utm\n")
    assert done.stderr.decode().splitlines()[0] == "2 of 3 rules cannot be written in this format."
    told = json.loads(out(dustrules("export", "regex", "--json")))
    assert told["text"].count("<regex>") == 6
    again = json.loads(out(dustrules("export", "json")))["sites"][SITE]["rules"]
    assert [rule["status"] for rule in again] == ["valid"] * 3


def test_what_is_typed_wrongly_is_said_in_a_sentence(dustrules, robots):  # noqa: F811
    assert misused(dustrules("export", "ngix")) == "there is no format 'ngix'. Did you mean 'nginx'?"
    assert misused(dustrules("import", robots, "--site", "not a host")).startswith("'not a host' is no host")
    assert (
        refused(dustrules("import", "nothing.json")) == "nothing.json: there is no such file. Check the path."
    )


def test_the_book_of_another_person_is_merged(dustrules, folder):  # noqa: F811
    theirs = [
        Entry(INDEX, Status.DISABLED, reason="no", comment="theirs"),
        Entry(Rule.of(DropParameter("utm"))),
    ]
    RuleBook().with_site(SITE, theirs).save(folder / "theirs.json")
    before = (folder / BOOK).read_bytes()
    assert len(out(dustrules("merge", "theirs.json", "--dry-run")).splitlines()) == 2
    assert (folder / BOOK).read_bytes() == before
    said = out(dustrules("merge", "theirs.json"))
    assert said == (
        f"{INDEX_ID}  {SITE}  index.html$ → $: here valid, there disabled; now disabled\n"
        "2 rules of 1 books merged; 1 had another status here.\n"
    )
    found = {entry.rule: entry for entry in RuleBook.load([str(folder / BOOK)]).entries(SITE)}
    assert (found[INDEX].status, found[INDEX].comment) == (Status.DISABLED, "the webmaster says so / theirs")
    assert found[Rule.of(DropParameter("utm"))].status is Status.VALID


ACCESSES = "".join(
    f'127.0.0.1 - - [18/Nov/2026:00:00:0{n} +0000] "GET {path} HTTP/1.1" 200 1000 "-" "bot"\n'
    for n, path in enumerate(("/a", "/a", "/a?utm=1", "/a?utm=2", "/b", "/b/index.html"))
)


def test_without_a_rule_no_request_is_counted_as_if_it_had_been_looked_at(dustrules, folder):  # noqa: F811
    RuleBook().save(folder / BOOK)
    (folder / "access.log").write_text(ACCESSES)
    assert dustrules("advise", "access.log", "--base-url", "http://a.example").stdout == b""


def test_nobody_is_redirected_by_a_parameter_that_crawlers_can_do_without(dustrules, folder):  # noqa: F811
    pages = tuple((f"http://a.example/reply?t={n}", "http://a.example/reply?t=9") for n in range(3))
    rule = Rule.of(DropParameter("t")).under_guard((Condition("path", "/reply"),))
    RuleBook().with_site(SITE, [Entry(rule, evidence=Evidence(examples=pages))]).save(folder / BOOK)
    (told,) = [json.loads(line) for line in out(dustrules("advise", "--json")).splitlines()]
    assert told["remedy"] == "canonical link"


def test_owners_are_told_what_to_do_and_what_it_spares(dustrules, folder):  # noqa: F811
    book = RuleBook.load([str(folder / BOOK)])
    book.with_site(SITE, (*book.entries(SITE), Entry(Rule.of(DropParameter("utm"))))).save(folder / BOOK)
    (folder / "access.log").write_text(ACCESSES)
    said = out(dustrules("advise", "access.log", "--base-url", "http://a.example"))
    assert said.splitlines()[-1] == "Of 6 requests, 2 (33.3%) asked for a page under one more URL."
    assert "  Clean-param: utm\n" in said
    assert '  No-Vary-Search: params=("utm")\n' in said
    assert "  http://www.a.example/1 → http://a.example/1\n" in said
    told = [json.loads(line) for line in out(dustrules("advise", "--json")).splitlines()]
    assert (told[0]["remedy"], told[0]["spares"]) == ("redirect", 10)
    assert {one["remedy"] for one in told} == {"redirect", "clean-param"}
