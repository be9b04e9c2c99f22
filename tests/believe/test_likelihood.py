from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.believe.evidence import LogEvidence
from scrapy_dust.believe.likelihood import Likelihood, features_of, log_bet
from scrapy_dust.believe.validation import Pair, Trial, TrialParams, Verdict
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import Page, SiteLog


def sizes(*of: tuple[str, int, int]) -> list[Page]:
    return [Page(f"{template}/{n}", size=(n, n)) for template, first, last in of for n in range(first, last)]


def likelihood_of(pages: list[Page]) -> Likelihood:
    return Likelihood(pages, {page.url: page.url.rpartition("/")[0] for page in pages})


def test_equal_sizes_speak_for_one_page_where_sizes_differ():
    pages = sizes(("shop", 10, 300))
    like = likelihood_of(pages[::3] + pages[1::3] + pages[2::3])
    near, far = Page("shop/a", size=(200, 200)), Page("shop/b", size=(290, 290))
    equal, other = like.ratio(near, near), like.ratio(near, far)
    assert equal is not None
    assert other is not None
    assert equal > 20
    assert other < 1


def test_equal_sizes_say_nothing_where_all_pages_of_a_template_are_of_one_size():
    login = [Page(f"login/{n}", size=(500, 500)) for n in range(100)]
    like = likelihood_of([*login, *sizes(("shop", 10, 300))[::7]])
    assert (like.ratio(login[0], login[1]) or 9) <= 1


def test_urls_asked_for_again_tell_how_much_pages_of_a_site_vary():
    steady = [Page(f"p/{n}", size=(n * 100, n * 100), again=True) for n in range(10, 200)]
    lively = [Page(f"p/{n}", size=(n * 100, n * 130), again=True) for n in range(10, 200)]
    apart = Page("p/1", size=(9000, 9000)), Page("p/2", size=(12000, 12000))
    assert (likelihood_of(lively).ratio(*apart) or 0) > 10 * (likelihood_of(steady).ratio(*apart) or 9)


def test_without_a_size_there_is_nothing_to_compare():
    assert features_of(Page("a"), Page("b", size=(1, 1))) is None
    assert (
        likelihood_of([Page("a/a"), Page("a/b")]).ratio(Page("a/a", size=(1, 1)), Page("a/b", size=(1, 1)))
        is None
    )


@given(st.lists(st.floats(1e-3, 1e3), max_size=20), st.floats(0.01, 0.2))
def test_a_bet_by_sizes_wins_less_than_the_same_pairs_would_if_they_were_looked_at(ratios, share):
    assert log_bet(ratios, share) <= log_bet([1e9] * len(ratios), share) + 1e-9


def test_a_log_with_contents_is_not_judged_by_sizes():
    pages = [Page(f"u/{n}", size=(n, n), text_digest=str(n)) for n in range(50)]
    assert LogEvidence(SiteLog(pages), [page.url for page in pages]).pair("u/1", "u/2").ratio is None


def looks(ratio: float | None) -> tuple[int, Verdict | None]:
    trial = Trial([Pair(f"u{n}", f"v{n}", ratio=ratio) for n in range(2000)], TrialParams())
    asked = 0
    while (pair := trial.next_pair()) is not None:
        trial.record(pair, Outcome.SAME)
        asked += 1
    return asked, trial.verdict


def test_sizes_spare_half_of_the_looks_at_most_and_never_decide():
    alone, helped, misled = looks(None), looks(100.0), looks(0.5)
    assert alone[1] is helped[1] is misled[1] is Verdict.VALID
    assert misled == alone
    assert alone[0] / 2 <= helped[0] <= alone[0] * 0.6


def test_a_pair_that_is_unlikely_to_be_one_page_is_looked_at_first():
    pairs = [Pair(f"u{n}", f"v{n}", ratio=0.01 if n == 70 else 3.0) for n in range(100)]
    assert Trial(pairs, TrialParams()).next_pair() == pairs[70]
