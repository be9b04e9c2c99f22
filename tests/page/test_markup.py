from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from w3lib.url import safe_url_string

from scrapy_dust.page import addresses, markup
from scrapy_dust.page.markup import read_markup
from scrapy_dust.page.nesting import MAX_OPEN_TAGS

URL = "http://site.test/dir/page"


def read(html, url=URL):
    return read_markup(html, url, "utf-8")


def words(html):
    return read(html).text.split()


@pytest.mark.parametrize("tag", ["script", "style", "noscript", "template", "iframe", "noembed", "noframes"])
def test_what_browsers_do_not_show_is_no_text(tag):
    assert words(f"<body>seen <{tag}>unseen</{tag}> and seen") == ["seen", "and", "seen"]


def test_the_head_and_comments_are_no_text():
    assert words("<head><title>t</title><meta name=x content=y></head><!-- c --><p>seen") == ["seen"]


def test_blocks_end_a_word_and_inline_elements_do_not():
    assert words(
        "<ul><li>a</li><li>b</li></ul><b>H</b>el<wbr>l<i></i>o<br>x<table><tr><td>1<td>2</table>"
    ) == [*("a", "b", "Hello", "x", "1", "2")]


def test_highlighted_search_terms_do_not_change_the_words():
    plain = "<p>Write (rules), not code.</p>"
    marked = "<p>Write (<strong class='highlight'>rules</strong>), <a name=x></a>not <mark>co</mark>de.</p>"
    assert words(plain) == words(marked)


def test_entities_are_what_they_stand_for():
    assert words("<p>&lt;b&gt; &amp;amp; &eacute;&#x4e2d;") == ["<b>", "&amp;", "é中"]


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A &amp;\n  b </title>", "A & b"),
        ("<title></title>", None),
        ("<p>x", None),
        ("<body><svg><title>icon</title></svg>", None),
        ("<p>late</p><title>T</title>", "T"),
        ("<title>first</title><title>second</title>", "first"),
        (f"<title>{'x' * 5000}</title>", "x" * 1000),
    ],
)
def test_the_title_is_the_documents(html, title):
    assert read(html).title == title


@pytest.mark.parametrize(
    ("html", "canonical"),
    [
        ("<link rel=canonical href=/a>", "http://site.test/a"),
        ("<link rel='nofollow CANONICAL' href=' b?x=é '>", "http://site.test/dir/b?x=%C3%A9"),
        ("<base href='/base/'><link rel=canonical href=c>", "http://site.test/base/c"),
        ("<link rel=canonical href=c><base href='//other.test/'>", "http://other.test/c"),
        ("<head><noscript><img></noscript><link rel=canonical href=/a>", "http://site.test/a"),
        ("<link rel=canonical href=/a><link rel=canonical href='http://site.test/a'>", "http://site.test/a"),
        ("<link rel=canonical href=/a><link rel=canonical href=/b>", None),
        ("<link rel=canonical href=''>", None),
        ("<link rel=canonical>", None),
        ("<link rel=canonical href='javascript:x'>", None),
        ("<link rel=canonical href='http://[x/'>", None),
        ("<base href='http://[x/'><link rel=canonical href=a>", None),
        ("<link rel=alternate href=/a>", None),
        ("<!-- <link rel=canonical href=/a> -->", None),
    ],
)
def test_the_canonical_url_is_absolute_or_none(html, canonical):
    assert read(html).canonical == canonical


def test_outlinks_are_the_anchors_with_a_target():
    html = "<a href=1>x</a><a name=2>y</a><A HREF=''>z</a><area href=3><script>'<a href=4>'</script>"
    assert read(html).outlinks == 2


@pytest.mark.parametrize(
    ("html", "language"),
    [("<html lang=' en-GB '>", "en-gb"), ("<html lang>", None), ("<p lang=de>", None), ("", None)],
)
def test_the_language_is_what_the_root_says(html, language):
    assert read(html).language == language


def test_a_frameset_has_no_text():
    assert words("<frameset><frame src=a><noframes>Get a browser</noframes></frameset>") == []


tree = st.recursive(
    st.sampled_from(
        ["word", "two words", "&amp;", " ", "<br>", "<img alt='a>b'>", "<script>if (a<b) {}</script>"]
    ),
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag} class='x'>{''.join(parts)}</{tag}>",
        st.sampled_from(["div", "ul", "b", "span", "section"]),
        st.lists(inner, max_size=4),
    ),
    max_leaves=20,
)


@given(st.lists(tree, max_size=5))
def test_cutting_tags_out_gives_the_words_that_the_parser_gives(parts):
    html = f"<html><head><title>a title</title></head><body>{''.join(parts)}</body></html>"
    cut, parsed = markup._cut(html), read(html)
    assert cut.text.split() == parsed.text.split()
    assert cut.title == parsed.title


def test_a_document_with_too_many_open_tags_still_has_its_words_and_title():
    html = (
        "<title>T &amp; t</title>" + "<div>" * 20 * MAX_OPEN_TAGS + "<p>some <b>wo</b>rds<script>no</script>"
    )
    found = read(html)
    assert found.text.split() == ["some", "words"]
    assert (found.title, found.canonical, found.outlinks, found.language) == ("T & t", None, None, None)


def test_long_lists_of_tags_without_end_tags_are_parsed():
    html = "<html lang=en><ul>" + "<li>x<br><img src=y>\n" * 20 * MAX_OPEN_TAGS
    assert read(html).language == "en"


@given(st.text())
def test_any_text_is_a_document(text):
    read(text)
    markup._cut(text)


@given(
    st.lists(
        st.sampled_from(
            ["<", ">", "</", "<!--", "-->", "a", "script", "title", "=", "'", '"', "&", "\x00", " "]
        )
    )
)
def test_any_heap_of_tags_is_a_document(parts):
    read("".join(parts))
    markup._cut("".join(parts))


@given(st.from_regex(addresses._SAFE, fullmatch=True), st.sampled_from(("utf-8", "latin-1", "shift_jis")))
def test_a_canonical_url_that_is_taken_as_it_is_would_be_the_same_by_w3lib(url, encoding):
    assert safe_url_string(url, encoding) == url


def test_what_describes_pages_loads_neither_tls_nor_http_nor_openssl():
    code = f"""
import sys
import scrapy_dust.crawl_log.recording
from scrapy_dust.page.sketch import describe_each
page = b"<title>t</title><link rel=canonical href=/a>" + b"word " * 50
[said] = describe_each([(page, "text/html", "utf-8", {URL!r})])
assert said.canonical == "http://site.test/a", said
assert not {{"ssl", "http.client", "_hashlib", "numpy.random", "subprocess"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
