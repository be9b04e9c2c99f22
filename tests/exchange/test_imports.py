"""Files as other programs have them. What they say is made up; their forms are those of the programs."""

from __future__ import annotations

import json
import time

import pytest

from scrapy_dust.exchange import IMPORTS, imported
from scrapy_dust.exchange.finite_expressions import MOST, texts_of
from scrapy_dust.exchange.transfer import BY_AMPERSAND, NO_SITE, ExchangeError, name_left_out
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.sites import site_of

SITE = "a.example"
SID = Rule((DropParameter("sid"),), (BY_AMPERSAND,))


def read(text, *sites, path="file", name="auto"):
    return imported(path, text.encode() if isinstance(text, str) else text, sites, name)


def names(found, site=SITE):
    return [name for of, rule in found.rules if of == site and (name := name_left_out(rule)) is not None]


def whys(found):
    return [one.why for one in found.unsaid]


# --- duplicate-url-discarder ----------------------------------------------------------------------------------


def dud(processor, args, *include, **more):
    return {"order": 1, "processor": processor, "args": args, "urlPattern": {"include": list(include)} | more}


def test_parameters_to_remove_are_taken_in_for_whole_sites():
    found = read(json.dumps([dud("queryRemoval", ["sid", "ref"], SITE, "b.example")]))
    assert names(found) == names(found, "b.example") == ["sid", "ref"]
    assert not found.unsaid


def applied(found, url):
    by_site = {}
    for site, rule in found.rules:
        by_site.setdefault(site, []).append(rule)
    return Canonizer(by_site, site_of).canonize(url)


@pytest.mark.parametrize(
    ("pattern", "concerned", "others"),
    [
        ("shop.a.example", ["shop.a.example/x"], ["a.example/x", "www.a.example/x"]),
        (
            "a.example/dp",
            ["a.example/dp", "www.a.example/dp/1"],
            ["a.example/", "m.a.example/dp", "a.example/x/dp"],
        ),
        ("a.example/*/dp", ["a.example/x/dp/1"], ["a.example/dp", "a.example/x/y"]),
        ("a.example/dp/", ["a.example/dp/", "a.example/dp/1"], ["a.example/dp"]),
        ("a.example:8080", ["a.example:8080/x"], ["a.example/x"]),
    ],
)
def test_what_is_about_a_part_of_a_site_stays_there(pattern, concerned, others):
    found = read(json.dumps([dud("queryRemoval", ["sid"], pattern)]))
    assert not found.unsaid
    for rest in concerned:
        assert applied(found, f"http://{rest}?sid=1") == f"http://{rest}"
    for rest in others:
        assert applied(found, f"http://{rest}?sid=1") == f"http://{rest}?sid=1"


def test_what_keeps_a_few_parameters_and_what_spells_urls_is_taken_in():
    rules = [dud("queryRemovalExcept", ["id"], SITE), dud("normalizer", None, SITE)]
    found = read(json.dumps(rules))
    assert applied(found, "http://www.a.example/x/?id=1&a=2") == "http://a.example/x?id=1"
    assert whys(found) == ["'www.' and slashes at the end are said"]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([dud("queryRemoval", ["sid"], SITE)]),
        "# site: a.example\nClean-param: sid",
        '# site: a.example\nNo-Vary-Search: params=("sid")',
        json.dumps({"providers": {"a": {"urlPattern": r"^https?:\/\/a\.example", "rules": ["sid"]}}}),
    ],
)
def test_only_an_ampersand_separates_parameters_and_one_needs_no_value(text):
    found = read(text)
    for same in ("?a=1&sid=2", "?sid&a=1", "?sid=1;b&a=1"):
        assert applied(found, f"http://{SITE}/{same}") == f"http://{SITE}/?a=1"
    for other in ("?a=1;sid=2", "?sid=2;a=1", "?sid=1;b=2&a=1", ";sid=2?a=1", ";b=1?sid=2", "?a=1#sid=2"):
        assert applied(found, f"http://{SITE}/{other}") == f"http://{SITE}/{other}"
    assert "URLs with a parameter after a ;" in found.stays[0]


def test_what_cannot_be_said_is_left():
    found = read(
        json.dumps(
            [
                dud(
                    "queryRemoval",
                    ["sid"],
                    "http://a.example",
                    "a.example/x?y",
                    "a.example/x|",
                    "a.example/d*p",
                ),
                dud("queryRemoval", ["sid"], SITE, exclude=["a.example/x"]),
                dud("subpathRemoval", [0], SITE),
                dud("queryRemoval", ["", 1], SITE),
            ]
        )
    )
    assert not found.rules
    assert len(found.unsaid) == 4 + 1 + 1 + 2


def test_rules_for_all_sites_are_meant_for_those_that_are_named_and_have_none_of_their_own():
    text = json.dumps([dud("queryRemoval", ["utm"]), dud("queryRemoval", ["sid"], f"{SITE}/x")])
    found = read(text, SITE, "b.example")
    assert names(found, "b.example") == ["utm"]
    assert applied(found, f"http://{SITE}/x?sid=1&utm=2") == f"http://{SITE}/x?utm=2"
    assert not whys(found)
    (why,) = whys(read(text, SITE))
    assert why.startswith("it is about all sites without rules of their own")


# --- ClearURLs ------------------------------------------------------------------------------------------------


def clearurls(**providers):
    return json.dumps({"providers": providers})


HOST = r"^https?:\/\/(?:[a-z0-9-]+\.)*?a\.example"


def test_literal_and_few_names_are_taken_in():
    found = read(clearurls(a={"urlPattern": HOST, "rules": ["sid", "(?:%3F)?r[ef]", "utm_[a-z]+", "x?y?"]}))
    assert names(found) == ["sid", "%3Fre", "%3Frf", "re", "rf", "xy", "x", "y"]
    assert whys(found) == [
        "its expression stands for too many names",
        "'name' of 'drop parameter' must not be empty",
    ]


def test_a_suffix_that_is_left_open_is_meant_for_sites_that_are_named():
    pattern = r"^https?:\/\/(?:[a-z0-9-]+\.)*?shop(?:\.[a-z]{2,}){1,}"
    text = clearurls(a={"urlPattern": pattern, "rules": ["sid"]})
    assert read(text, "shop.example", SITE).rules == (("shop.example", SID),)
    assert whys(read(text, SITE)) == ["none of its sites was named; name one with --site"]


@pytest.mark.parametrize(
    ("exception", "is_left"),
    [
        (r"^https?:\/\/(?:[a-z0-9-]+\.)*?a\.example\/api", True),
        (r"^https?:\/\/(?:[a-z0-9-]+\.)*?b\.example\/api", False),
        (r"^https?:\/\/(?:[a-z0-9-]+\.)*?[ab]\.example", True),
        (r".*", True),
    ],
)
def test_where_there_may_be_exceptions_nothing_is_taken_in(exception, is_left):
    found = read(clearurls(a={"urlPattern": HOST, "rules": ["sid"], "exceptions": [exception]}))
    assert (not found.rules) == bool(found.unsaid) == is_left


def test_what_is_no_parameter_is_counted_with_its_reason():
    lists = {"rawRules": [r"\/ref=.*"], "referralMarketing": ["tag"], "redirections": ["u=(.*)"]}
    found = read(clearurls(a={"urlPattern": HOST, **lists}, b={"urlPattern": HOST, "completeProvider": True}))
    assert (len(found.rules), len(found.unsaid)) == (0, 4)


# --- Nutch ----------------------------------------------------------------------------------------------------


def nutch(*pairs):
    regexes = "".join(
        f"<regex><pattern>{pattern}</pattern><substitution>{by}</substitution></regex>"
        for pattern, by in pairs
    )
    return f'<?xml version="1.0"?><!-- a comment --><regex-normalize>{regexes}</regex-normalize>'


def test_session_ids_of_nutch_are_spelled_out():
    pattern = r"(?i)(;?\b_?(l|j|bv_)?(sid|phpsessid|sessionid)=.*?)(\?|&amp;|#|$)"
    found = read(nutch((pattern, "$4")), SITE)
    assert {"sid", "jsessionid", "phpsessid", "_bv_sid"} <= set(names(found))
    assert len(names(found)) == 2 * 4 * 3
    assert whys(read(nutch((pattern, "$4")))) == [NO_SITE]


def test_literal_texts_are_taken_in_and_other_expressions_counted():
    found = read(
        nutch(("&amp;amp;", "&amp;"), (r"\?&amp;", r"\?"), (r"[?&amp;]#.*", ""), ("(a+)+", "$1")), SITE
    )
    assert [rule for _, rule in found.rules] == [
        Rule.of(Substitute("&amp;", "&")),
        Rule.of(Substitute("?&", "?")),
    ]
    assert whys(found) == ["its expression stands for too many texts"] * 2


def test_an_xml_bomb_is_refused():
    bomb = '<!DOCTYPE a [<!ENTITY b "bbbbbbbb">]><regex-normalize>&b;</regex-normalize>'
    with pytest.raises(ExchangeError, match="document type"):
        read(bomb)


@pytest.mark.parametrize("encoding", ["utf-16", "cp037"])
def test_an_xml_bomb_in_another_encoding_is_no_way_around(encoding):
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    bomb = '<!DOCTYPE a [<!ENTITY b "bbbbbbbb">]><regex-normalize>&b;</regex-normalize>'
    for content in (head.encode() + bomb.encode(encoding), (head + bomb).encode(encoding)):
        with pytest.raises(ExchangeError):
            imported("rules.xml", content, (), "regex")


# --- robots.txt and headers -----------------------------------------------------------------------------------

ROBOTS = """\
User-agent: *
Disallow: /private
clean-param: sid&ref
Clean-Param: sort /forum/   # a part
Clean-param: lang /
"""


def test_clean_param_is_read_from_a_robots_txt():
    found = read(ROBOTS, SITE, path="robots.txt")
    assert names(found) == ["sid", "ref", "lang"]
    assert not found.unsaid
    assert applied(found, "http://a.example/forum/?sort=1") == "http://a.example/forum/"
    assert applied(found, "http://a.example/blog/?sort=1") == "http://a.example/blog/?sort=1"
    assert len(whys(read(ROBOTS))) == 3


def test_no_vary_search_is_read_from_headers():
    text = 'No-Vary-Search: key-order, params=("sid" "a\\"b")\nNo-Vary-Search: params, except=("id")\nNo-Vary-Search: ?'
    found = read(text, SITE)
    assert names(found) == ["sid", 'a"b']
    assert str(found.rules[-1][1]) == "parameters other than id → (left out), where the separator is &"
    assert whys(found) == ["it is no No-Vary-Search header"]


# --- whatever comes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe", b"{", b"[1]", b"<a>", b'{"format": 1}', b"hello", b'[{"processor": 1}]', b"<a/>"],
)
def test_a_file_that_is_none_of_ours_is_refused_in_a_sentence(content):
    with pytest.raises(Exception, match=r"\S+: .+\.") as caught:
        read(content)
    assert type(caught.value).__name__ in ("ExchangeError", "RuleBookError")


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("a", ("a",)),
        ("a|b", ("a", "b")),
        ("(?:a|b)?c", ("ac", "bc", "c")),
        ("[ab]c", ("ac", "bc")),
        (r"a\.b", ("a.b",)),
        ("a(b|)", ("ab", "a")),
    ],
)
def test_an_expression_of_few_texts_is_spelled_out(pattern, texts):
    assert texts_of(pattern) == texts


@pytest.mark.parametrize(
    "pattern",
    [
        *("a*", "a+", ".", "[^a]", "[a-z]", r"\d", "(?=a)", "(a", "a)", "a??", "a{2}", "^a", "a$"),
        *("[", "(", "\\", "(?:", "(a|b)" * 7, "(" * 50 + ")" * 50, "[" + "ab" * MOST, "a?" * 10),
    ],
)
def test_any_other_expression_is_not(pattern):
    assert texts_of(pattern) is None


@pytest.mark.parametrize(
    "part", ["(", "(?:", "a|", "a?", "[a", "[?&;]", "\\", "(\\|", "|?", "=", ";?", "a=.*"]
)
@pytest.mark.parametrize("name", ["regex", "clearurls"])
def test_no_expression_takes_long(name, part):
    pattern = part * 20_000 if name == "clearurls" else part * (490 // len(part))
    escaped = pattern.replace("&", "&amp;")
    text = nutch((escaped, "")) if name == "regex" else clearurls(a={"urlPattern": HOST, "rules": [pattern]})
    begin = time.process_time()
    read(text, SITE)
    assert time.process_time() - begin < 1


def test_each_format_can_be_named():
    for name in IMPORTS:
        with pytest.raises(Exception, match=r"\S+: .+\."):
            read(b"\xff", name=name)
