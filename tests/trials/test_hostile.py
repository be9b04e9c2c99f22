"""Sites that answer as sites do answer: each verdict is right, or there is none."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable

import pytest

from scrapy_dust.believe.validation import Verdict
from scrapy_dust.rules.rule import Rule
from scrapy_dust.visits.pages import Visit
from tests.crawl.site import Answer, Site, Web, error, redirect, serving
from tests.trials.running import Tried, html, log_of, prose, tried

pytestmark = pytest.mark.e2e

PAGES = 12
PATHS = [
    *(
        f"/p?id={number}&sid={session}"
        for number in range(PAGES)
        for session in (f"a{number}x", f"b{number}y")
    ),
    *(f"/q?id={number}&view={view}" for number in range(PAGES) for view in ("full", "brief")),
]


def truth(path: str) -> Hashable:
    """Which page *path* is; None: none. A session changes nothing, a view is another page."""
    head, _, query = path.partition("?")
    values = dict(part.partition("=")[::2] for part in query.split("&"))
    number = values.pop("id", "")
    if not number.isdecimal() or int(number) >= PAGES:
        return None
    if head == "/p" and values.keys() <= {"sid"}:
        return head, number
    if head == "/q" and values.keys() <= {"view"}:
        return head, number, values.get("view", "default")
    return None


def dusty(path: str) -> Answer:
    page = truth(path)
    return error(404) if page is None else html(prose("n".join(map(str, page)).replace("/", "")))


def bare(visit: Visit) -> Visit:
    """As an access log has it; all sizes are equal, so that it tells nothing apart."""
    return Visit(visit.url, visit.status, (1000, 1000), redirect_to=visit.redirect_to)


def outcome(web: Web, *, logged: Web = dusty, told: bool = True, **dust: object) -> tuple[Tried, Site]:
    """Try what a log of *logged* suggests at *web*; a log that is not *told* the contents knows sizes alone."""
    with serving(web) as site:
        visits = [visit if told else bare(visit) for visit in log_of(site, PATHS, logged)]
        return tried({site.name: visits}, **dust), site


def misjudged(result: Tried, site: Site) -> list[str]:
    """Verdicts that are wrong: valid rules that merge two pages, and refuted ones that lead to the same page."""
    wrong = []
    for decision in result.decisions:
        valid = decision.verdict is Verdict.VALID
        if (valid and merges_pages(decision.rule, site)) or (
            decision.verdict is Verdict.REFUTED and is_true(decision.rule, site)
        ):
            wrong.append(f"{decision.rule}: {decision.verdict}")
    return wrong


def merges_pages(rule: Rule, site: Site) -> bool:
    pages: dict[str, set[Hashable]] = {}
    for path in PATHS:
        pages.setdefault(rule.apply(site.url(path)), set()).add(truth(path))
    return any(len(of_key) > 1 for of_key in pages.values())


def is_true(rule: Rule, site: Site) -> bool:
    """Whether every URL that *rule* changes still leads to its page."""
    prefix = site.url("")
    made = [(path, rule.apply(site.url(path))) for path in PATHS]
    return not merges_pages(rule, site) and all(
        truth(url.removeprefix(prefix)) == truth(path) for path, url in made if url.startswith(prefix)
    )


SESSION = "sid=* → (left out)"


@pytest.mark.parametrize("told", [True, False])
def test_on_a_site_that_answers_the_verdicts_are_right(told):
    result, site = outcome(dusty, told=told)
    assert SESSION in result.valid
    assert misjudged(result, site) == []


@pytest.mark.parametrize("told", [True, False])
def test_429_to_half_of_the_probes_only_takes_longer(told):
    number = itertools.count()
    result, site = outcome(lambda path: error(429) if next(number) % 2 else dusty(path), told=told)
    assert misjudged(result, site) == []
    assert SESSION in result.valid
    assert SESSION not in result.refuted


@pytest.mark.parametrize("status", [429, 403, 503])
def test_urls_that_are_always_refused_count_for_nothing(status):
    def web(path: str) -> Answer:
        return error(status) if sum(path.encode()) % 2 else dusty(path)

    result, site = outcome(web, told=False)
    assert misjudged(result, site) == []


@pytest.mark.parametrize("status", [429, 403, 503])
def test_a_site_that_refuses_everything_is_left_alone(status):
    result, site = outcome(lambda path: error(status), told=False, validation_patience=0.3)
    assert result.valid | result.refuted == set()
    assert len(site.asked) < 40
    (trials,) = result.trials
    assert trials.given_up


def test_a_site_that_says_how_long_is_left_alone_for_so_long():
    def web(path: str) -> Answer:
        return Answer(b"", 503, {"Retry-After": "3600"})

    result, site = outcome(web, told=False)
    assert result.trials[0].given_up
    assert len(site.asked) <= 1 + 8  # robots.txt, and what was under way
    assert not result.valid


def test_a_site_that_refuses_does_not_hold_up_another():
    with serving(lambda path: error(503)) as down, serving(dusty) as up:
        visits = {site.name: log_of(site, PATHS, dusty) for site in (down, up)}
        result = tried(visits, validation_patience=0.3)
    by_site = {trials.site: trials for trials in result.trials}
    assert by_site[down.name].given_up
    assert SESSION in {str(decision.rule) for decision in by_site[up.name].campaign.decisions}


@pytest.mark.parametrize("told", [True, False])
def test_a_soft_404_for_everything_unknown_is_no_page(told):
    """Status 200 and one text whatever is asked for, also for the URLs that rules make up."""

    def web(path: str) -> Answer:
        # Of sessions the site knows only those that it gave out itself.
        known = truth(path) is not None and ("sid=" in path or path.startswith("/q"))
        return dusty(path) if known else html("There is nothing here. " + prose("sorry", 30), title="Sorry")

    result, site = outcome(web, told=told)
    assert not [line for line in misjudged(result, site) if line.endswith("valid")]


LOGIN = html(
    'Please sign in. <form action="/login"><input name="u"><input type="password" name="p"></form>'
    + prose("in", 40),
    title="Sign in",
)


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("moves", [True, False])
def test_behind_a_login_that_the_crawl_had_passed_nothing_is_decided_wrongly(told, moves):
    def web(path: str) -> Answer:
        if path.startswith("/login") or not moves:
            return error(404) if path == "/robots.txt" else LOGIN
        return error(404) if path == "/robots.txt" else redirect(f"/login?next={path.replace('&', '%26')}")

    result, site = outcome(web, told=told)
    assert misjudged(result, site) == []
    fetched = [one for one in result.decisions if one.tally.positive > one.tally.from_log]
    assert not fetched, "a login was taken for a page"


@pytest.mark.parametrize("moves", [True, False])
def test_a_log_that_has_only_seen_the_login_teaches_nothing(moves):
    def web(path: str) -> Answer:
        if path == "/robots.txt":
            return error(404)
        return redirect("/login") if moves and path != "/login" else LOGIN

    result, _ = outcome(web, logged=web)
    assert not result.valid


@pytest.mark.parametrize("told", [True, False])
def test_pages_that_change_at_every_fetch_prove_nothing(told):
    number = itertools.count()

    def web(path: str) -> Answer:
        return error(404) if truth(path) is None else html(prose(f"now{next(number)}"))

    result, site = outcome(web, told=told)
    assert misjudged(result, site) == []
    assert not [
        one for one in result.decisions if one.tally.contradictions and one.tally.positive == 0 and not told
    ]


def test_a_captcha_that_comes_up_after_a_while_counts_for_nothing():
    times: Counter[str] = Counter()

    def web(path: str) -> Answer:
        times[""] += path != "/robots.txt"
        captcha = html('Are you human? <div class="g-recaptcha"></div>' + prose("human", 30), title="Check")
        return dusty(path) if times[""] < 25 or path == "/robots.txt" else captcha

    for told in (True, False):
        times.clear()
        result, site = outcome(web, told=told)
        assert misjudged(result, site) == []


def test_a_consent_page_that_sends_everybody_round_counts_for_nothing():
    def web(path: str) -> Answer:
        if path == "/robots.txt":
            return error(404)
        if path.startswith("/consent"):
            return html("We value your privacy. " + prose("cookie", 40) + f" {hash(path)}", title="Consent")
        return redirect(f"/consent?back={path.replace('&', '%26')}")

    for told in (True, False):
        result, site = outcome(web, told=told)
        assert misjudged(result, site) == []
        assert not [one for one in result.decisions if one.tally.positive > one.tally.from_log]


def test_a_shell_that_scripts_would_fill_is_no_page():
    shell = Answer(
        b"<html><head></head><body><div id=app></div></body></html>", 200, {"Content-Type": "text/html"}
    )
    result, _ = outcome(
        lambda path: error(404) if path == "/robots.txt" else shell, logged=lambda path: shell
    )
    assert not result.valid
