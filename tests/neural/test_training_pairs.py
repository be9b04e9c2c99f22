"""Which URLs are one page, and which of them stands for it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.neural.params import PAPER, PLUS
from scrapy_dust.neural.simhashes import MOST, centres, parse_simhash
from scrapy_dust.neural.training_data import training_data_of
from scrapy_dust.neural.training_pairs import clusters_of, targets_of
from scrapy_dust.visits.pages import Visit, merge_visits


def looked_at_one_by_one(hashes):
    """The literal way: every hash with every centre before it."""
    found = []
    for number, (kind, value) in enumerate(hashes):
        near = [
            other
            for other in sorted(set(found))
            if hashes[other][0] == kind and (hashes[other][1] ^ value).bit_count() <= MOST
        ]
        found.append(near[0] if near else number)
    return found


NEAR = st.builds(
    lambda base, bits: base ^ sum(1 << bit for bit in bits),
    st.sampled_from([0, 2**64 - 1, 0x0123456789ABCDEF]),
    st.sets(st.integers(0, 63), max_size=6),
)


@given(hashes=st.lists(st.tuples(st.sampled_from("xy"), NEAR | st.integers(0, 2**64 - 1)), max_size=30))
def test_the_permuted_tables_find_what_looking_at_all_pairs_finds(hashes):
    assert centres(hashes) == looked_at_one_by_one(hashes)


def test_what_is_no_simhash_is_none():
    assert parse_simhash("fc00d29200432446") == 0xFC00D29200432446
    assert [parse_simhash(text) for text in (None, "", "none", "-1", "1" * 17)] == [None] * 5


def page(url, simhash, title="t", text=None):
    return Visit(
        url, status=200, simhash=f"{simhash:016x}", title=title, text_digest=text or f"text of {url}"
    )


def test_near_pages_of_one_title_are_one_cluster_and_no_chain_is_followed():
    log = merge_visits(
        [
            page("http://a.example/1", 0),
            page("http://a.example/2", 0b111),
            page("http://a.example/3", 0b111111),
            page("http://a.example/4", 0b1, title="another"),
            Visit("http://a.example/old", status=301, redirect_to="http://a.example/2"),
        ]
    )
    assert clusters_of(log) == [
        ["http://a.example/1", "http://a.example/2", "http://a.example/old"],
        ["http://a.example/3"],
        ["http://a.example/4"],
    ]


def test_pages_without_a_title_are_one_only_where_their_texts_are():
    log = merge_visits(
        [
            page("http://a.example/1", 0, title=None, text="same"),
            page("http://a.example/2", 0, title=None, text="other"),
            page("http://a.example/3", 7, title=None, text="same"),
        ]
    )
    assert clusters_of(log) == [["http://a.example/1", "http://a.example/3"], ["http://a.example/2"]]


def test_the_url_of_fewest_tokens_stands_for_the_page_and_of_equals_the_one_of_common_tokens():
    clusters = [
        ["http://a.example/questions/7/how", "http://a.example/q/7", "http://a.example/z/7"],
        ["http://a.example/q/8"],
    ]
    targets = targets_of(clusters)
    assert set(targets.values()) == {"http://a.example/q/7"}
    assert "http://a.example/q/8" not in targets
    assert targets_of(clusters, singles=True)["http://a.example/q/8"] == "http://a.example/q/8"


def log_of_stories(count=60):
    return merge_visits(
        page(f"http://a.example/{path}{n}{rest}", n * 0x0F0F1 << 20, title=f"story {n}")
        for n in range(count)
        for path, rest in (("story/", "/title"), ("s/", ""))
    )


def test_a_lesson_holds_out_pages_with_all_their_urls_and_depends_on_nothing_but_the_log():
    for params in (PAPER, PLUS):
        lesson = training_data_of("a.example", log_of_stories(), params)
        assert (len(lesson.pairs), len(lesson.held_out), lesson.duplicates) == (108, 12, 60)
        assert lesson.digest == training_data_of("a.example", log_of_stories(), params).digest
        assert lesson.digest != training_data_of("a.example", log_of_stories(59), params).digest


def test_a_log_without_duplicates_has_nothing_to_teach():
    log = merge_visits(
        page(f"http://a.example/{n}", n * 0x0F0F1 << 20, title=f"story {n}") for n in range(60)
    )
    assert training_data_of("a.example", log, PAPER).is_empty
    assert training_data_of("a.example", log, PLUS).is_empty
