"""From a log that shows it, by `dustmine`, into the rule book, and obeyed by the fingerprinter: rules of any kind."""

from __future__ import annotations

import json
from hashlib import blake2b

import pytest
from scrapy import Request
from scrapy.utils.test import get_crawler

from scrapy_dust.believe.validation import Verdict
from scrapy_dust.rule_book import RuleBook
from scrapy_dust.rule_book.priors import priors_of_project
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.settings import DustSettings
from scrapy_dust.trials.concluding import conclude
from scrapy_dust.trials.ended import ended
from scrapy_dust.trials.learning import decided_from_log, mine, prepare
from scrapy_dust.trials.reading import Reporter, Source, read
from scrapy_dust.visits.outcomes import Outcome
from tests.crawl.crawling import QUIET

FORUM = "http://www.scifi.forum.co.il"


def line(url, content):
    digest = blake2b(repr(content).encode(), digest_size=32).digest()
    sketch = [int.from_bytes(digest[at : at + 7]) for at in range(0, 28, 7)]
    return {"url": url, "status": 200, "text_digest": digest.hex()[:32], "sketch": sketch}


def recorded(folder, groups):
    log = [line(url, number) for number, group in enumerate(groups) for url in group]
    (folder / "log.jsonl").write_text("".join(json.dumps(one) + "\n" for one in log))
    return read(Source([str(folder / "log.jsonl")]), Reporter())


def answer(campaign, shows):
    """As a site does that has these pages and no others."""
    while (probe := campaign.next_probe()) is not None:
        pair = probe.pair
        if pair.target not in shows:
            campaign.record(probe, Outcome.UNFETCHABLE, fetches=1)
        else:
            same = shows[pair.url] == shows[pair.target]
            campaign.record(probe, Outcome.SAME if same else Outcome.DIFFERENT, fetches=2)


def ends_of(mined, verdicts, settings, shows, *, log_only=False):
    """The ends of trials of a site that *shows* these pages."""
    if log_only:
        return list(decided_from_log(mined, RuleBook(), verdicts, settings))
    trials = list(prepare(mined, RuleBook(), verdicts, settings))
    for site in trials:
        answer(site.campaign, shows)
    return [ended(site) for site in trials]


@pytest.fixture
def mined(tmp_path):
    """What ``dustmine`` makes of groups of URLs, of which each shows one page: the book it wrote."""

    def run(*groups, learner="both", fetching=False):
        settings = DustSettings(learner=learner, max_risk=1.0, rules=(str(tmp_path / "dust-rules.json"),))
        found = recorded(tmp_path, groups)
        mined = mine(found.visits, settings, Reporter())
        shows = {url: number for number, group in enumerate(groups) for url in group}
        trials = ends_of(mined, Verdicts(), settings, shows, log_only=not fetching)
        return conclude(trials, settings, found.logs, tmp_path / "verdicts.json")

    return run


@pytest.fixture
def learned(mined, tmp_path):
    """The fingerprints of a crawl whose rules are those that the log teaches."""

    def run(*groups, **how):
        mined(*groups, **how)
        settings = {"DUST_RULES": [str(tmp_path / "dust-rules.json")], "DUST_DIR": str(tmp_path / "dust")}
        fingerprinter = get_crawler(settings_dict={**QUIET, **settings}).request_fingerprinter
        return lambda url: fingerprinter.fingerprint(Request(url))

    return run


DAYS = [
    f"{y:02}/{m:02}/{d}/{n}"
    for y, m, d, n in zip(range(30), [5, 6] * 15, range(1, 31), [1, 2, 3] * 10, strict=True)
]


def test_a_rule_that_speaks_of_two_places(learned):
    """Thesis, chapter 7: what substring substitution cannot say."""
    groups = [
        [f"http://news.example/print.pl?sid={day}", f"http://news.example/newsvac/{day}.shtml"]
        for day in DAYS
    ]
    key = learned(*groups)
    one, other = "http://news.example/print.pl?sid=06/06/27/2", "http://news.example/newsvac/06/06/27/2.shtml"
    assert key(one) == key(other) != key("http://news.example/newsvac/06/06/27/3.shtml")


def test_the_papers_rules_cannot_say_it(learned):
    groups = [
        [f"http://news.example/print.pl?sid={day}", f"http://news.example/newsvac/{day}.shtml"]
        for day in DAYS
    ]
    key = learned(*groups, learner="dustbuster")
    assert key("http://news.example/print.pl?sid=06/06/27/2") != key(
        "http://news.example/newsvac/06/06/27/2.shtml"
    )


def test_superfluous_parts_of_a_path(learned):
    """SIGIR 2017, table 3, case 1."""
    key = learned(*([f"http://s.example/users/{n}/rich", f"http://s.example/users/{n}"] for n in range(30)))
    assert key("http://s.example/users/150781/rich") == key("http://s.example/users/150781")


def test_a_substitution_that_holds_for_numbers_alone(learned):
    """SIGIR 2017, table 3, cases 2 and 3."""
    words = ("google", "python", "java", "c")
    key = learned(
        *([f"http://s.example/questions/{n}/", f"http://s.example/q/{n}"] for n in range(100, 130)),
        *([f"http://s.example/questions/tagged/{word}"] for word in words),
        *([f"http://s.example/q/tagged/{word}"] for word in words),
    )
    assert key("http://s.example/questions/132218/") == key("http://s.example/q/132218")
    assert key("http://s.example/questions/tagged/google") != key("http://s.example/q/tagged/google")
    assert key("http://s.example/questions/tagged/perl") != key("http://s.example/questions/tagged/ruby")


def test_what_shows_one_page_whatever_is_asked_for(learned):
    """SIGIR 2017, table 3, case 4."""
    key = learned(
        [f"http://s.example/private-message/set/u{n}" for n in range(100)],
        *([f"http://s.example/users/u{n}"] for n in range(100)),
        fetching=True,
    )
    message = "http://s.example/private-message/set"
    assert key(f"{message}/Yovav") == key(f"{message}/anzer")
    assert key("http://s.example/users/Yovav") != key("http://s.example/users/anzer")


FIGURE_6_5 = [
    ("story_{}", "story?id={}"),
    ("list?id={}&LastView=&Close=", "list?id={}"),
    ("story.php3?id={}", "story?id={}"),
    ("story_{}", "story.php3?id={}"),
    ("list?id={}&NewOnly=1&tvqz=2", "list?id={}&NewOnly=1"),
    ("thread_{}", "thread?rep={}"),
]


@pytest.mark.parametrize("learner", ["both", "dust"])
@pytest.mark.parametrize(("left", "right"), FIGURE_6_5)
def test_the_rules_of_the_thesis_figure_6_5(learned, left, right, learner):
    def urls(n):
        return [f"{FORUM}/{form.format(n)}" for form in (left, right)]

    key = learned(*(urls(n) for n in range(10, 40)), learner=learner)
    one, other = urls(999)
    assert key(one) == key(other) != key(urls(998)[1])


def test_an_edit_holds_where_its_guard_does(learned):
    key = learned(
        *(
            [f"http://s.example/l?id={n}&sort=a&all=1", f"http://s.example/l?id={n}&sort=b&all=1"]
            for n in range(30)
        ),
        *([f"http://s.example/l?id={n}&sort=a"] for n in range(30)),
        *([f"http://s.example/l?id={n}&sort=b"] for n in range(30)),
    )
    assert key("http://s.example/l?id=99&sort=a&all=1") == key("http://s.example/l?id=99&sort=b&all=1")
    assert key("http://s.example/l?id=99&sort=a") != key("http://s.example/l?id=99&sort=b")


def test_what_stands_in_the_book_says_on_what_evidence(mined):
    book = mined(
        *(
            [f"http://news.example/print.pl?sid={day}", f"http://news.example/newsvac/{day}.shtml"]
            for day in DAYS
        )
    )
    [entry] = book.entries("news.example")
    assert (entry.evidence.positive, entry.evidence.contents, entry.evidence.merges) == (30, 30, 30)
    assert entry.evidence.loss_bound == 0.0
    assert entry.evidence.examples
    assert entry.evidence.logs == ("log.jsonl",)


def test_the_papers_mode_has_no_edits_and_tries_what_it_tried_before(tmp_path):
    groups = [
        [
            f"http://s.example/story?id={n}&sid=1",
            f"http://s.example/story_{n}",
            f"http://s.example/story_{n}/",
        ]
        for n in range(20)
    ]
    visits = recorded(tmp_path, groups).visits
    one, other = (
        next(iter(mine(visits, DustSettings(learner=learner), Reporter())))
        for learner in ("dustbuster", "both")
    )
    assert not one.edits
    assert other.edits
    assert (one.likely, one.elimination, one.parameters) == (
        other.likely,
        other.elimination,
        other.parameters,
    )
    tried = [candidate.rules for candidate in other.candidates()]
    assert [candidate for candidate in one.candidates() if candidate.rules not in tried] == []


def test_one_page_under_a_few_urls_is_believed_where_the_site_can_be_asked_what_it_has_for_no_page(mined):
    """It may be how the site says "not found", or a login: of a log alone that is believed of very many only."""
    groups = (
        [f"http://s.example/x/u{n}" for n in range(40)],
        *([f"http://s.example/y/u{n}"] for n in range(100)),
    )
    assert mined(*groups, fetching=False).rules_by_site() == {}
    [rule] = mined(*groups, fetching=True).rules_by_site()["s.example"]
    assert str(rule) == "segment 2 → *, where the host is s.example and the path is /x/*"


def test_an_edit_that_a_fetch_contradicts_is_no_rule_and_is_not_tried_again(tmp_path):
    """The log has directories of which both spellings show one page; the site has others."""
    known = [[f"http://s.example/d{n}/index.html", f"http://s.example/d{n}/"] for n in range(12)]
    half = [[f"http://s.example/e{n}/index.html"] for n in range(30)]
    shows = {url: number for number, group in enumerate(known + half) for url in group}
    others = {f"http://s.example/e{n}/": f"another {n}" for n in range(30)}
    settings = DustSettings(learner="dust", max_risk=1.0, rules=(str(tmp_path / "dust-rules.json"),))
    visits = recorded(tmp_path, known + half).visits

    def tried():
        verdicts = Verdicts.load(tmp_path / "verdicts.json")
        trials = ends_of(mine(visits, settings, Reporter()), verdicts, settings, shows | others)
        conclude(trials, settings, ("log",), tmp_path / "verdicts.json")
        return [(str(one.rule), one.verdict) for site in trials for one in site.decisions]

    assert tried() == [("/index.html at the path's end → /", Verdict.REFUTED)]
    assert RuleBook.load(settings.rules).rules_by_site() == {}
    assert tried() == []


def test_what_the_log_alone_contradicts_is_tried_again_where_pages_may_be_fetched(tmp_path):
    """Of some pages both answers of the log differ: nobody knows whether these pages change at each fetch."""
    products = [[f"http://s.example/p?id={n}&sid={n}{sid}" for sid in "ab"] for n in range(60)]
    urls = [url for product in products for url in product]
    settings = DustSettings(rules=(str(tmp_path / "dust-rules.json"),))
    changing = [[url] for product in products[50:] for url in product]
    visits = recorded(tmp_path, products[:50] + changing).visits

    def tried(*, log_only):
        verdicts = Verdicts.load(tmp_path / "verdicts.json")
        mined, shows = mine(visits, settings, Reporter()), {url: url.partition("&")[0] for url in urls}
        trials = ends_of(mined, verdicts, settings, shows, log_only=log_only)
        conclude(trials, settings, ("log",), tmp_path / "verdicts.json")
        return {one.verdict for site in trials for one in site.decisions}

    assert tried(log_only=True) == {Verdict.REFUTED}
    assert tried(log_only=True) == {Verdict.REFUTED}
    assert Verdict.VALID in tried(log_only=False)


def test_what_a_site_has_shown_of_edits_is_kept_for_others_where_it_is_asked_for(tmp_path):
    groups = [[f"http://s.example/i?id={n}&sid={n}", f"http://s.example/i?id={n}"] for n in range(60)]
    visits = recorded(tmp_path, groups).visits
    for keep in (False, True):
        list(mine(visits, DustSettings(learner="dust"), Reporter(), state=tmp_path / "state", keep=keep))
        assert (priors_of_project(tmp_path / "state").sites.keys() == {"s.example"}) is keep
    assert priors_of_project(tmp_path / "state").sites["s.example"]["parameter sid"].laws == 1


def test_many_addresses_of_one_page_are_one_by_the_log_alone(learned):
    """A trial counts texts, of which there is but one here; the learner has weighed how many URLs showed it."""
    login = [f"http://forum.example/login/?next=/topic/{n}/" for n in range(60)]
    key = learned(login, *([f"http://forum.example/topic/{n}/"] for n in range(30)))
    assert key("http://forum.example/login/?next=/topic/99/") == key(login[0])
    assert key("http://forum.example/topic/99/") != key("http://forum.example/topic/98/")


def test_what_is_shown_in_the_place_of_other_pages_too_makes_no_rule_by_the_log_alone(learned):
    """A captcha, a log-in, or an error with a status of success: behind it are pages."""
    wall = [f"http://forum.example/vip/?topic={n}" for n in range(60)]
    others = [f"http://forum.example/{name}/" for name in ("archive", "search", "members")]
    key = learned([*wall, *others], *([f"http://forum.example/topic/{n}/"] for n in range(30)))
    assert key("http://forum.example/vip/?topic=99") != key(wall[0])


def test_three_files_do_not_prove_the_copy_of_a_directory_by_the_log_alone(learned):
    """The next file of the copy may have been changed. What fetches can look at needs no more than three."""
    groups = [
        [f"http://www.example/inf-09/{name}.html", f"http://www.example/inf-08/{name}.html"]
        for name in ("home", "plan", "rules")
    ]
    one, other = "http://www.example/inf-09/new.html", "http://www.example/inf-08/new.html"
    key = learned(*groups, learner="dustbuster")
    assert key(one) != key(other)
    key = learned(*groups, learner="dustbuster", fetching=True)
    assert key(one) == key(other)
