"""``scrapy dustrules`` as users start it: a process, its output and its exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from scrapy_dust.commands.dustrules import Command
from scrapy_dust.page.places import Kind, place_of
from scrapy_dust.page.volatile import Changes, Volatile
from scrapy_dust.rule_book import Entry, Evidence, RuleBook, Status, rule_id
from scrapy_dust.rule_book.volatile_places import Site, save_places
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from tests.rule_book.books import INDEX, SITE, WWW

pytestmark = pytest.mark.once

SID = Rule.of(DropParameter("sid"))
WWW_ID, INDEX_ID, SID_ID = (rule_id(SITE, rule) for rule in (WWW, INDEX, SID))
BOOK = "dust-rules.json"
ACTIONS = ", ".join(Command.actions)


@pytest.fixture
def folder(tmp_path):
    """A folder that is no project, with a book of three rules."""
    evidence = Evidence(
        positive=12,
        contents=5,
        log_same=9,
        merges=10,
        loss_bound=0.2,
        unseen_bound=0.451,
        last_validated="2026-11-18",
        examples=(("http://www.a.example/1", "http://a.example/1"),),
    )
    entries = [
        Entry(WWW, evidence=evidence),
        Entry(INDEX, comment="the webmaster says so"),
        Entry(SID, Status.REFUTED),
    ]
    RuleBook().with_site(SITE, entries).save(tmp_path / BOOK)
    return tmp_path


@pytest.fixture
def dustrules(folder):
    def run(*arguments, cwd=folder, stdin=b"", **environment):
        return subprocess.run(
            [sys.executable, "-m", "scrapy", "dustrules", *arguments],
            cwd=cwd,
            input=stdin,
            capture_output=True,
            env={**os.environ, "PYTHONUTF8": "1", **environment},
            check=False,
        )

    return run


def out(done):
    assert (done.returncode, done.stderr.decode()) == (0, "")
    return done.stdout.decode()


def refused(done):
    """The one sentence of a command that failed."""
    said = done.stderr.decode()
    assert (done.returncode, done.stdout) == (1, b"")
    assert said.startswith("scrapy dustrules: ")
    assert said.count("\n") == 1
    return said.removeprefix("scrapy dustrules: ").strip()


def misused(done):
    """The last line of a command that was called wrongly; usage stands above it."""
    said = done.stderr.decode()
    assert (done.returncode, done.stdout) == (2, b"")
    assert "Traceback" not in said
    return said.splitlines()[-1].partition(": error: ")[2]


# --- looking --------------------------------------------------------------------------------------------------


def test_list_tells_each_rule_in_a_line(dustrules):
    heads, _, *rows = out(dustrules("list")).splitlines()
    assert heads.split() == ["id", "status", "site", "alike", "differ", "last", "tested", "rule"]
    assert rows[0].split(maxsplit=6) == [
        *(WWW_ID, "valid", SITE, "12", "0", "2026-11-18"),
        "^http://www. → ^http://",
    ]
    assert [row.split()[:2] for row in rows[1:]] == [[INDEX_ID, "valid"], [SID_ID, "refuted"]]


def test_list_gives_json_an_object_a_line(dustrules):
    told = [json.loads(line) for line in out(dustrules("list", "--json")).splitlines()]
    assert [(one["site"], one["id"], one["status"]) for one in told] == [
        (SITE, WWW_ID, "valid"),
        (SITE, INDEX_ID, "valid"),
        (SITE, SID_ID, "refuted"),
    ]


def test_show_tells_all_that_is_known(dustrules):
    said = out(dustrules("show", WWW_ID))
    assert said.splitlines()[0] == f"{WWW_ID}  valid  a.example  ^http://www. → ^http://"
    assert "12 pairs of URLs showed one page (9 known from logs alone), on 5 different pages" in said
    assert "in the log: of 10 URLs merged, at most 2 wrongly (95 %)" in said
    assert "on other URLs: at most 45.1% of its merges are wrong (95 %)" in said
    assert "example: http://www.a.example/1 → http://a.example/1" in said
    assert "the webmaster says so" in out(dustrules("show"))
    assert json.loads(out(dustrules("show", INDEX_ID, "--json")))["comment"] == "the webmaster says so"


def test_explain_tells_the_key_and_each_rule_on_the_way(dustrules):
    key, *rest = out(dustrules("explain", "http://www.a.example/x/index.html")).splitlines()
    assert key == "http://a.example/x/"
    steps = [line for line in rest if line.startswith(("→", f"  {WWW_ID}", f"  {INDEX_ID}"))]
    assert [step.split()[:2] for step in steps] == [
        ["→", "http://a.example/x/index.html"],
        [WWW_ID, "valid"],
        ["→", "http://a.example/x/"],
        [INDEX_ID, "valid"],
    ]
    told = json.loads(out(dustrules("explain", "http://www.a.example/x/index.html", "--json")))
    assert (told["key"], [step["id"] for step in told["steps"]]) == (key, [WWW_ID, INDEX_ID])
    assert told["steps"][0]["evidence"]["positive"] == 12


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://a.example/?sid=1", "2 rules in force for a.example."),
        ("index.html", "a URL begins with http:// or https://."),
    ],
)
def test_explain_says_when_no_rule_applies(dustrules, url, why):
    assert out(dustrules("explain", url)) == f"{url}\nNo rule changes this URL; {why}\n"


URLS = b"""\
http://www.a.example/

http://a.example/index.html
  http://a.example/other \r
no url
http://www.b.example/index.html
"""
KEYS = b"""\
http://a.example/\thttp://www.a.example/
http://a.example/\thttp://a.example/index.html
http://a.example/other\thttp://a.example/other
no url\tno url
http://www.b.example/index.html\thttp://www.b.example/index.html
"""


@pytest.mark.parametrize("arguments", [[], ["urls.txt"]])
def test_keys_prints_the_key_of_each_url(dustrules, folder, arguments):
    (folder / "urls.txt").write_bytes(URLS)
    done = dustrules("keys", *arguments, stdin=URLS)
    assert (done.returncode, done.stderr, done.stdout) == (0, b"", KEYS)


def test_keys_gives_json_an_object_a_line(dustrules):
    told = [json.loads(line) for line in out(dustrules("keys", "--json", stdin=URLS)).splitlines()]
    assert told[0] == {"key": "http://a.example/", "url": "http://www.a.example/"}
    assert len(told) == 5


def test_keys_keeps_bytes_that_are_no_utf_8(dustrules):
    done = dustrules("keys", "-", stdin=b"http://www.a.example/\xff\xc3\xa9\n")
    assert done.stdout == b"http://a.example/\xff\xc3\xa9\thttp://www.a.example/\xff\xc3\xa9\n"


def test_the_first_tab_of_a_line_ends_the_key(dustrules):
    done = dustrules("keys", stdin=b"http://www.a.example/x\ty\n")
    assert done.stdout == b"http://a.example/x\\ty\thttp://www.a.example/x\ty\n"


def test_keys_stops_quietly_when_nobody_reads_on(folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", "dustrules", "keys", "urls.txt"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    (folder / "urls.txt").write_bytes(b"http://www.a.example/\n" * 200_000)
    with process:
        assert process.stdout.readline().startswith(b"http://a.example/\t")
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


EXPECTED = """\
# what we know of the site

http://www.a.example/, http://a.example/index.html, same
http://a.example/1, http://a.example/2, different
"http://a.example/1,2", "http://www.a.example/1,2", same
"""


def test_test_is_content_when_all_expectations_hold(dustrules, folder):
    (folder / "expected.csv").write_text(EXPECTED)
    assert out(dustrules("test", "expected.csv")) == "3 of 3 expectations hold.\n"
    assert out(dustrules("test", "-", stdin=EXPECTED.encode())) == "3 of 3 expectations hold.\n"


def test_test_fails_and_names_the_expectations_that_do_not_hold(dustrules, folder):
    failing = "http://a.example/?sid=1, http://a.example/, same\nhttp://a.example/, http://www.a.example/, different\n"
    (folder / "expected.csv").write_text(EXPECTED + failing)
    done = dustrules("test", "expected.csv")
    assert (done.returncode, done.stderr) == (1, b"")
    assert done.stdout.decode() == (
        "line 6: expected same, got http://a.example/?sid=1 (key http://a.example/?sid=1)"
        " and http://a.example/ (key http://a.example/)\n"
        "line 7: expected different, got http://a.example/ (key http://a.example/)"
        " and http://www.a.example/ (key http://a.example/)\n"
        "3 of 5 expectations hold.\n"
    )
    told = [json.loads(line) for line in dustrules("test", "expected.csv", "--json").stdout.splitlines()]
    assert [(one["line"], one["holds"]) for one in told] == [
        (3, True),
        (4, True),
        (5, True),
        (6, False),
        (7, False),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("http://a.example/1,2, http://a.example/, same", "must be 'URL, URL, same' or 'URL, URL, different'."),
        ("http://a.example/, http://a.example/, equal", "must be 'URL, URL, same' or 'URL, URL, different'."),
        ('http://a.example/, "http://a.example/, same', "is no CSV (unexpected end of data). Mend the quotes."),
    ],
)  # fmt: skip
def test_test_names_the_line_that_it_cannot_read(dustrules, folder, line, reason):
    (folder / "expected.csv").write_text(f"{EXPECTED}{line}\n")
    assert refused(dustrules("test", "expected.csv")).startswith(f"expected.csv, line 6: {reason}")


# --- changing -------------------------------------------------------------------------------------------------


def statuses(path):
    return {rule_id(SITE, entry.rule): entry.status for entry in RuleBook.load([str(path)]).entries(SITE)}


def test_a_rule_is_disabled_enabled_and_forgotten(dustrules, folder):
    said = out(dustrules("disable", INDEX_ID, SID_ID))
    assert said.splitlines()[0] == f"disabled: {INDEX_ID}  a.example  index.html$ → $"
    assert statuses(folder / BOOK) == {WWW_ID: "valid", INDEX_ID: "disabled", SID_ID: "disabled"}
    entry = RuleBook.load([str(folder / BOOK)]).entries(SITE)[1]
    assert entry.comment == "the webmaster says so"
    assert entry.reason.startswith("by hand, 20")
    told = json.loads(out(dustrules("enable", "--json", INDEX_ID)))
    assert (told["id"], told["status"], told.get("reason")) == (INDEX_ID, "valid", None)
    out(dustrules("forget", SID_ID))
    assert statuses(folder / BOOK) == {WWW_ID: "valid", INDEX_ID: "valid"}


@pytest.mark.parametrize("action", ["disable", "forget", "show"])
def test_an_unknown_id_changes_nothing(dustrules, folder, action):
    before = (folder / BOOK).read_bytes()
    said = refused(dustrules(action, WWW_ID, "0badcafe"))
    assert said == f"{BOOK}: no rule has the id '0badcafe'. `scrapy dustrules list` shows all ids."
    assert (folder / BOOK).read_bytes() == before
    assert [file.name for file in folder.iterdir()] == [BOOK]


def test_a_rule_of_another_book_is_disabled_in_the_first_and_enabled_in_its_own(dustrules, folder):
    both = ("-s", f"DUST_RULES=ours.json,{BOOK}")
    out(dustrules("disable", WWW_ID, "--rules", BOOK))
    out(dustrules("disable", INDEX_ID, "--rules", BOOK))
    RuleBook().with_site(SITE, [Entry(WWW)]).save(folder / "ours.json")
    assert "enabled" not in refused(dustrules("enable", WWW_ID, *both))
    assert refused(dustrules("enable", INDEX_ID, *both)) == (
        f"{BOOK}: the rule {INDEX_ID!r} stands here too. Change it here first, with --rules {BOOK}"
    )
    assert refused(dustrules("forget", WWW_ID, *both)).startswith(f"{BOOK}: the rule {WWW_ID!r} stands here")
    out(dustrules("disable", SID_ID, *both))
    assert statuses(folder / "ours.json") == {WWW_ID: "valid", SID_ID: "disabled"}
    assert statuses(folder / BOOK)[SID_ID] == "refuted"


# --- where the book is ----------------------------------------------------------------------------------------


def test_the_book_of_a_project_is_found_from_all_of_its_folders(dustrules, folder):
    (folder / "scrapy.cfg").write_text("[settings]\n")
    (folder / "inner").mkdir()
    assert WWW_ID in out(dustrules("list", cwd=folder / "inner"))
    assert refused(dustrules("list", "--rules", BOOK, cwd=folder / "inner")).startswith(
        f"{BOOK}: there is no"
    )


def test_without_a_book_each_url_is_its_own_key_and_that_is_said(dustrules, folder):
    (folder / BOOK).unlink()
    done = dustrules("keys", stdin=b"http://www.a.example/\n")
    assert (done.returncode, done.stdout) == (0, b"http://www.a.example/\thttp://www.a.example/\n")
    assert done.stderr.decode().endswith(
        f"WARNING: {BOOK}: there is no such rule book yet. `scrapy dustmine` makes it.\n"
    )


def test_what_a_site_wrote_does_not_command_the_terminal(dustrules, folder):
    rule = Rule.of(Substitute("\x1b[2J\n", "é"))
    RuleBook().with_site(SITE, [Entry(rule)]).save(folder / BOOK)
    said = out(dustrules("list")) + out(dustrules("show"))
    assert "\x1b" not in said
    assert "\\x1b[2J\\n → é" in said
    ascii_only = dustrules("list", PYTHONUTF8="0", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert "\\xe9" in out(ascii_only)


# --- errors ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], f"say what to do: {ACTIONS}"),
        (["lst"], "there is no action 'lst'. Did you mean 'list'?"),
        (["bless", BOOK], f"there is no action 'bless'. Use one of {ACTIONS}."),
        (["list", "--jsn"], "unrecognized arguments: --jsn. Did you mean --json?"),
        (["keys", "1", "2"], "'keys' got 2 arguments. Use: scrapy dustrules keys [FILE|-]"),
        (["disable", WWW_ID, "--dry-run"], "'disable' takes no --dry-run. Leave it out."),
        (["migrate", "--dry-run"], "'migrate' takes no --dry-run. Leave it out."),
        (["merge", BOOK, "--site", "a.test"], "'merge' takes no --site. Leave it out."),
        (["list", "-s", "DUST_RULE=x"], "DUST_RULE is not a setting of scrapy-dust. Did you mean DUST_RULES? docs/settings.md lists them all."),
    ],
)  # fmt: skip
def test_wrong_usage_is_said_with_the_remedy(dustrules, arguments, said):
    assert misused(dustrules(*arguments)) == said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["list", "--rules", "none.json"], "none.json: there is no such file. Check the path; `scrapy dustmine` makes rule books."),
        (["disable", WWW_ID, "--rules", "none.json"], "none.json: there is no such file. Check the path; `scrapy dustmine` makes rule books."),
        (["list", "--rules", "."], ".: cannot be read (Is a directory). Check the path and its permissions."),
        (["keys", "none.txt"], "none.txt: cannot be read (No such file or directory). Check the path."),
        (["import", os.devnull, "--format", "json"], f"{os.devnull}: the file is empty. Mend it there, put a good copy in its place, or delete the file to start anew."),
        (["disable", WWW_ID, "-s", "DUST_RULES=[]"], "DUST_RULES: names no rule book. Name one there, or with --rules."),
    ],
)  # fmt: skip
def test_what_is_not_there_is_said_in_a_sentence(dustrules, arguments, said):
    assert refused(dustrules(*arguments)) == said


def test_a_damaged_book_or_a_later_one_is_said_in_a_sentence(dustrules, folder):
    (folder / BOOK).write_text('{"format": 99}')
    assert refused(dustrules("list")) == (
        f"{BOOK}: has format 99; this version reads 3. Upgrade scrapy-dust."
    )
    (folder / BOOK).write_text('{"format": 1,')
    for arguments in (["keys"], ["disable", WWW_ID]):
        assert refused(dustrules(*arguments)).startswith(f"{BOOK}: line 1, column 14 is not JSON")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full to write to")  # noqa: PTH110
def test_an_output_that_takes_no_more_is_said_in_a_sentence(folder):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", "dustrules", "list"],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == (b"scrapy dustrules: the output cannot be written (No space left on device).\n")


def test_to_be_listed_costs_a_scrapy_command_nothing():
    program = (
        "import sys, scrapy.commands; before = set(sys.modules); import scrapy_dust.commands.dustrules;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    commands = "scrapy_dust.commands"
    rooms = ("actions", "dustrules", "suggestions")
    assert set(done.stdout.split()) == {
        "scrapy_dust",
        commands,
        *(f"{commands}.{name}" for name in rooms),
        "difflib",
    }


def test_volatile_places_are_listed_by_site(dustrules, folder):
    place = place_of(Kind.TEXT, "p.seen")
    changes = {place: Changes(5, 10, 0), place_of(Kind.TEXT, "p.price"): Changes(2, 2, 0)}
    site = Site(Volatile({"http://a.example/.": changes}), {place: "text p.seen"})
    save_places(folder, {"a.example": site, "b.example": site})
    said = ("-s", f"DUST_DIR={folder}")
    rows = out(dustrules("volatile", *said)).splitlines()
    assert [row.split() for row in rows[2:]] == [
        [name, "http://a.example/.", "text", "p.seen", "5", "100%"] for name in ("a.example", "b.example")
    ]
    (line,) = out(dustrules("volatile", "b.example", "--json", *said)).splitlines()
    assert json.loads(line) == {
        "site": "b.example", "pages": "http://a.example/.", "place": "text p.seen", "one_form": False,
        "urls": 5, "changed": 10, "survived": 0,
    }  # fmt: skip
    (folder / "volatile.json").write_text("{", encoding="utf-8")
    assert "volatile.json" in refused(dustrules("volatile", *said))
