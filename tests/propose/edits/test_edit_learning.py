"""What is learned from logs that show it, and what is not."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dust.propose.edits.classes import Classes, classes_of
from scrapy_dust.propose.edits.edit_learning import EditParams, learn_edits
from tests.rules.strategies import rules, urls

HOST = "http://www.scifi.forum.co.il"


def shown(*groups):
    """URL → content: those of one group show one page."""
    return {url: number for number, group in enumerate(groups) for url in group}


def learned(*groups, **params):
    return learn_edits(shown(*groups), EditParams(**params)).function.key


def of_forum(n, *extra):
    return [f"{HOST}/{one}" for one in (f"story_{n}", f"story?id={n}", *extra)]


FIGURE_6_5 = [
    (lambda n: f"{HOST}/story_{n}", lambda n: f"{HOST}/story?id={n}"),
    (lambda n: f"{HOST}/list?id={n}&LastView=&Close=", lambda n: f"{HOST}/list?id={n}"),
    (lambda n: f"{HOST}/story.php3?id={n}", lambda n: f"{HOST}/story?id={n}"),
    (lambda n: f"{HOST}/story_{n}", lambda n: f"{HOST}/story.php3?id={n}"),
    (lambda n: f"{HOST}/list?id={n}&NewOnly=1&tvqz=2", lambda n: f"{HOST}/list?id={n}&NewOnly=1"),
    (lambda n: f"{HOST}/thread_{n}", lambda n: f"{HOST}/thread?rep={n}"),
]


@pytest.mark.parametrize(("left", "right"), FIGURE_6_5)
def test_the_rules_of_the_thesis_figure_6_5(left, right):
    key = learned(*([left(n), right(n)] for n in range(10, 40)))
    assert key(left(999)) == key(right(999)) != key(right(998))


@given(
    st.lists(urls, min_size=1, max_size=9),
    st.lists(rules, max_size=3),
    st.lists(rules, min_size=1, max_size=4),
)
def test_what_an_edit_moves_is_what_all_edits_together_make_of_each_key(found, before, edits):
    classes = classes_of(dict.fromkeys(found), before)
    for edit in edits:
        effect, function = classes.effect(edit), classes.function
        changed = {key: after for key in classes.contents if (after := edit.apply(key)) != key}
        ends = {key: function.with_rule(edit).settle(after) for key, after in changed.items()}
        if effect.endless:
            assert None in ends.values()
            continue
        assert effect.moved == {key: end for key, end in ends.items() if end != key}
        classes.accept(edit, effect)


def test_all_rules_of_figure_6_5_in_one_log():
    key = learned(
        *([f"{HOST}/story_{n}", f"{HOST}/story?id={n}", f"{HOST}/story.php3?id={n}"] for n in range(10, 40)),
        *([f"{HOST}/thread_{n}", f"{HOST}/thread?rep={n}"] for n in range(10, 40)),
        *([f"{HOST}/list?id={n}&LastView=&Close=", f"{HOST}/list?id={n}"] for n in range(10, 40)),
    )
    assert len({key(f"{HOST}/{one}") for one in ("story_99", "story?id=99", "story.php3?id=99")}) == 1
    assert key(f"{HOST}/thread_99") == key(f"{HOST}/thread?rep=99") != key(f"{HOST}/story_99")


def test_a_rule_that_changes_a_url_in_two_places():
    """Thesis, chapter 7."""
    numbers = [
        f"{y:02}/{m:02}/{d}/{n}"
        for y, m, d, n in zip(range(30), [5, 6] * 15, range(1, 31), [1, 2, 3] * 10, strict=True)
    ]
    key = learned(
        *(
            [f"http://news.example/print.pl?sid={one}", f"http://news.example/newsvac/{one}.shtml"]
            for one in numbers
        )
    )
    assert key("http://news.example/print.pl?sid=06/06/27/2") == key(
        "http://news.example/newsvac/06/06/27/2.shtml"
    )
    assert key("http://news.example/print.pl?sid=06/06/27/2") != key(
        "http://news.example/newsvac/06/06/27/3.shtml"
    )


def test_superfluous_parts_of_a_path():
    """SIGIR 2017, table 3, case 1."""
    key = learned(*([f"http://s.example/users/{n}/rich", f"http://s.example/users/{n}"] for n in range(30)))
    assert key("http://s.example/users/150781/rich") == key("http://s.example/users/150781")


def test_a_substitution_leaves_a_segment_alone_that_is_no_number():
    """SIGIR 2017, table 3, cases 2 and 3."""
    key = learned(
        *([f"http://s.example/questions/{n}/", f"http://s.example/q/{n}"] for n in range(100, 130)),
        *([f"http://s.example/questions/tagged/{word}"] for word in ("google", "python", "java", "c")),
        *([f"http://s.example/q/tagged/{word}"] for word in ("google", "python", "java", "c")),
    )
    assert key("http://s.example/questions/132218/") == key("http://s.example/q/132218")
    assert key("http://s.example/questions/tagged/google") != key("http://s.example/q/tagged/google")
    assert key("http://s.example/questions/tagged/perl") != key("http://s.example/questions/tagged/ruby")


def test_what_shows_one_page_whatever_is_asked_for():
    """SIGIR 2017, table 3, case 4."""
    key = learned(
        [f"http://s.example/private-message/set/u{n}" for n in range(100)],
        *([f"http://s.example/users/u{n}"] for n in range(100)),
    )
    assert key("http://s.example/private-message/set/Yovav") == key(
        "http://s.example/private-message/set/anzer"
    )
    assert key("http://s.example/users/Yovav") != key("http://s.example/users/anzer")


def test_a_parameter_that_matters_only_together_with_another():
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


def test_several_things_at_once_that_never_come_alone():
    key = learned(
        *([f"http://s.example/i?x={n}&b=%2C&a=", f"http://s.example/i?b=,&x={n}"] for n in range(40)),
    )
    assert key("http://s.example/i?x=99&b=%2C&a=") == key("http://s.example/i?b=,&x=99")


def test_hosts_and_schemes_of_one_site():
    pages = range(40)
    key = learned(
        *([f"http://www.s.example/{n}", f"https://s.example/{n}", f"http://m.s.example/{n}"] for n in pages)
    )
    assert (
        len(
            {
                key(f"{host}/99")
                for host in ("http://www.s.example", "https://s.example", "http://m.s.example")
            }
        )
        == 1
    )


def test_an_application_in_a_fragment_keeps_its_pages():
    key = learned(
        *([f"http://s.example/{n}", f"http://s.example/{n}#top"] for n in range(40)),
        *([f"http://app.s.example/#/q/{n}"] for n in range(40)),
    )
    assert key("http://s.example/99#top") == key("http://s.example/99")
    assert key("http://app.s.example/#/q/98") != key("http://app.s.example/#/q/99")


def test_what_is_not_borne_out_is_not_believed():
    """One content under two URLs may be an accident, whatever the difference."""
    for pair in (
        ["http://s.example/a/x", "http://s.example/b/x"],
        ["http://s.example/?p=1", "http://s.example/?p=2"],
    ):
        key = learned(pair, *([f"http://s.example/{n}"] for n in range(300)))
        assert key(pair[0]) != key(pair[1])


def test_copies_of_a_directory_that_differ_somewhere_are_not_believed():
    key = learned(
        *([f"http://s.example/2008/f{n}.html", f"http://s.example/2009/f{n}.html"] for n in range(12)),
        ["http://s.example/2008/plan.html"],
        ["http://s.example/2009/plan.html"],
    )
    assert key("http://s.example/2008/f99.html") != key("http://s.example/2009/f99.html")


def test_a_redirect_says_by_itself_what_becomes_of_a_form():
    """All of them show one page, so that their number proves nothing but what the redirects say."""
    pages = {f"http://s.example/item/{n}": n for n in range(100)}
    asked = {
        f"http://s.example/item/{n}/edit": f"http://s.example/login?next=/item/{n}/edit" for n in range(60)
    }
    login = {url: "login" for pair in asked.items() for url in pair}
    key = learn_edits({**pages, **login}, EditParams(), asked).function.key
    assert key("http://s.example/item/98/edit") == key("http://s.example/item/99/edit")
    assert key("http://s.example/item/98") != key("http://s.example/item/99")


def test_a_session_in_the_path_is_a_parameter_as_any_other():
    key = learned(
        *([f"http://s.example/p{n};jsessionid={n:04x}{k:04x}?q=1" for k in range(3)] for n in range(40)),
        [f"http://s.example/list;jsessionid={n:08x}" for n in range(3)],
    )
    assert key("http://s.example/p7;jsessionid=abcd0123?q=1") == "http://s.example/p7?q=1"


def test_the_end_of_a_query_that_is_no_parameter():
    key = learned(
        *([f"http://s.example/man?1+tool{n}-im6", f"http://s.example/man?1+tool{n}"] for n in range(30))
    )
    assert key("http://s.example/man?1+other-im6") == key("http://s.example/man?1+other")


CANONICAL = {f"http://s.example/p/{n}?ref={n}": f"http://s.example/p/{n}" for n in range(20)}


def test_what_pages_call_canonical_is_believed_sooner_where_their_contents_bear_it_out():
    log = shown(*CANONICAL.items())
    some = {url: log[url] for url in list(log)[:10]} | {f"http://s.example/q/{n}": -n for n in range(1, 200)}
    alone, told = (learn_edits(some, EditParams(), canonicals=one).function for one in ({}, CANONICAL))
    assert told.key("http://s.example/p/99?ref=5") == "http://s.example/p/99"
    assert not alone.rules


def test_what_pages_call_canonical_is_not_believed_against_their_contents():
    log = shown(*([url] for url in CANONICAL), *([url] for url in set(CANONICAL.values())))
    assert not learn_edits(log, EditParams(), canonicals=CANONICAL).learned


LOGS = st.lists(st.tuples(urls, st.integers(0, 6)), max_size=40).map(dict)


@settings(deadline=None)
@given(log=LOGS, data=st.data())
def test_the_order_of_the_log_does_not_matter(log, data):
    turned = dict(data.draw(st.permutations(sorted(log.items()))))
    here, there = (learn_edits(one, EditParams(budget=1.0, max_risk=1.0)).function for one in (log, turned))
    assert here.rules == there.rules


@settings(deadline=None)
@given(log=LOGS)
def test_no_two_known_contents_get_one_key_unless_the_budget_says_so(log):
    function = learn_edits(log, EditParams(budget=1.0)).function
    shown_by_key = {function.key(url): content for url, content in log.items()}
    assert all(shown_by_key[function.key(url)] == content for url, content in log.items())


@settings(deadline=None)
@given(log=LOGS)
def test_where_every_content_has_one_url_nothing_is_learned(log):
    once = {url: number for number, url in enumerate(log)}
    assert learn_edits(once, EditParams(budget=1.0)).learned == ()


def test_names_of_a_directorys_page_are_one_edit_where_several_were_seen():
    several = {
        f"http://s.example/d{n}/{name}": n for n in range(20) for name in ("", "index.html", "index.php")
    }
    one_name = {url: n for url, n in several.items() if not url.endswith(".php")}
    unseen, directory = "http://s.example/other/index.shtml", "http://s.example/other/"
    assert learn_edits(several, EditParams()).function.key(unseen) == directory
    assert learn_edits(one_name, EditParams()).function.key(unseen) == unseen
    assert learn_edits(one_name, EditParams()).function.key("http://s.example/other/index.html") == directory


def test_what_leads_to_a_login_says_nothing_of_pages_that_show_themselves():
    users = [f"http://s.example/user/u{n}x/" for n in range(30)]
    targets = [f"http://s.example/login/?next=/user/u{n}x/" for n in range(30)]
    others = [f"http://s.example/login/?next=/topic/{n}/" for n in range(60)]
    pages = [[f"http://s.example/user/{name}/"] for name in ("register", "help", "lost-password")]
    log = shown([*users, *targets, *others], *pages)
    function = learn_edits(log, EditParams(), dict(zip(users, targets, strict=True))).function
    assert function.key("http://s.example/user/terms/") == "http://s.example/user/terms/"
    assert function.key("http://s.example/login/?next=/topic/77/") == function.key(others[0])


def test_parameters_that_stand_together_in_any_way_do_not_make_learning_endless(monkeypatch):
    """Each pair of URLs of a content proposes an edit of its own, and each of these may touch any URL."""
    made = []
    begin = Classes.__post_init__

    def remembered(classes):
        made.append(classes)
        begin(classes)

    monkeypatch.setattr(Classes, "__post_init__", remembered)
    chance = random.Random(3)
    contents = {}
    while len(contents) < 1000:
        product = chance.randrange(5)
        facets = {f"{name}={chance.choice('abc')}" for name in ("a", "b", "c", "d") if chance.random() < 0.5}
        values = ["xyz"] * 8 + [range(10**6)] * 2
        others = [f"p{n}={chance.choice(of)}" for n, of in enumerate(values) if chance.random() < 0.3]
        others += [f"order={chance.choice('npd')}"] if chance.random() < 0.75 else []
        said = [*sorted(facets), *others]
        chance.shuffle(said)
        contents[f"http://s.example/cat/{product}?{'&'.join(said)}"] = (product, frozenset(facets))
    learn_edits(contents, EditParams())
    assert sum(one.work for one in made) < 270 * len(contents)
