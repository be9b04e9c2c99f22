"""Logs, URLs and rules for hypothesis: small alphabets, so that envelopes repeat and sketches collide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from scrapy_dust.rules.parameters import DropParameter, SetParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.visits.pages import Page, Visit, merge_visits

#: One line of a log, as the interchange format has it.
Line = dict[str, Any]

HOSTS = ("a.example", "www.a.example", "m.a.example")
SEGMENTS = (
    *("a", "b", "news", "story", "index", "index.html", "1", "2", "12", "story_1", "story_2", "~u", "people"),
    *("", "a.a", "a.a.a", "b/b", "a;x=1", ";a=2", "%7Eu", "é", "^", "$", "a^", "$a"),
)
NAMES = ("a", "b", "id", "sid", "PHPSESSID", "a[]")
VALUES = ("", "1", "2", "12", "a", "%20", "x=1", "1;b")


@st.composite
def _likely_urls(draw: st.DrawFn) -> str:
    scheme = draw(st.sampled_from(("http", "http", "https")))
    path = "/".join(draw(st.lists(st.sampled_from(SEGMENTS), max_size=4)))
    parameters = draw(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES)), max_size=3))
    separator = draw(st.sampled_from(("&", "&", ";")))
    query = "?" * bool(parameters) + separator.join(f"{name}={value}" for name, value in parameters)
    fragment = draw(st.sampled_from(("", "", "", "#top", "#")))
    return f"{scheme}://{draw(st.sampled_from(HOSTS))}/{path}{query}{fragment}"


def scraps(alphabet: str = "ab1/.?=&;^$ é", max_size: int = 12) -> st.SearchStrategy[str]:
    """Texts that are no URLs, dense in repeats and semiperiodic strings; tokens are all the phases see."""
    return st.text(alphabet, max_size=max_size)


def urls() -> st.SearchStrategy[str]:
    """URLs of one site, of several hosts."""
    return _likely_urls() | scraps().map(lambda path: f"http://a.example/{path}")


def any_urls() -> st.SearchStrategy[str]:
    """What a log may hold where a URL should be, besides URLs."""
    return urls() | scraps() | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def sketches() -> st.SearchStrategy[tuple[int, ...]]:
    """Of four hashes, two each, so that 0 to 4 of them agree."""
    return st.one_of(
        st.sampled_from(((0, 0, 0, 0), (1, 1, 1, 1), (0, 1, 2, 3), (3, 2, 1, 0))),
        st.tuples(*[st.sampled_from((0, 2**63 - 1))] * 4),
    )


def sizes() -> st.SearchStrategy[int | list[int]]:
    """A number, or a range, some of which only touch."""
    number = st.integers(0, 6)
    return number | st.tuples(number, st.integers(0, 3)).map(lambda r: [r[0], r[0] + r[1]])


STATUSES = (200, 200, 200, 200, 204, 299, 301, 302, 304, 404, 410, 500, 599, None)


@st.composite
def lines(draw: st.DrawFn, of: st.SearchStrategy[str] | None = None) -> Line:
    """One line; a field that is missing is absent or null."""
    line: Line = {"url": draw(urls() if of is None else of)}
    for name, values in (
        ("status", st.sampled_from(STATUSES)),
        ("size", st.none() | sizes()),
        ("sketch", st.none() | sketches().map(list)),
    ):
        if draw(st.integers(0, 5)):
            line[name] = draw(values)
    return line


@st.composite
def logs(draw: st.DrawFn, max_urls: int = 14) -> list[Line]:
    """Lines of one site; some URLs have several."""
    of = draw(
        st.sampled_from((urls(), _likely_urls(), scraps(max_size=7), scraps("a/", 6), scraps("ab1.", 5)))
    )
    known = draw(st.lists(of, min_size=2, max_size=max_urls, unique=True))
    again = draw(st.lists(st.sampled_from(known), max_size=5))
    return [draw(lines(st.just(url))) for url in draw(st.permutations(known + again))]


def visit_of(line: Line) -> Visit:
    """*line* as a reader of logs hands it to the core."""
    size, sketch = line.get("size"), line.get("sketch")
    return Visit(
        url=line["url"],
        status=line.get("status"),
        size=None if size is None else (size, size) if isinstance(size, int) else (size[0], size[1]),
        sketch=None if sketch is None else tuple(sketch),
        digest=line.get("digest"),
        text_digest=line.get("text_digest"),
        redirect_to=line.get("redirect_to"),
    )


def pages_of(log: list[Line]) -> tuple[Page, ...]:
    return tuple(merge_visits(visit_of(line) for line in log).pages)


def visits() -> st.SearchStrategy[list[Visit]]:
    return logs().map(lambda log: [visit_of(line) for line in log])


# --- rules ----------------------------------------------------------------------------------------------------


def substitutions(alphabet: str = "ab1/.?=&^$é", max_size: int = 4) -> st.SearchStrategy[Substitute]:
    side = st.text(alphabet, max_size=max_size) | st.sampled_from(SEGMENTS)
    return st.builds(Substitute, side, side, st.booleans(), st.booleans()).filter(
        lambda rule: rule.alpha != rule.beta
    )


def substring_rules(alphabet: str = "ab1/.?=&^$é", max_size: int = 4) -> st.SearchStrategy[Rule]:
    return substitutions(alphabet, max_size).map(Rule.of)


def parameter_rules() -> st.SearchStrategy[Rule]:
    name = st.sampled_from((*NAMES, "x"))
    value = st.sampled_from(("", "1", "12", "0"))
    return (st.builds(DropParameter, name) | st.builds(SetParameter, name, value)).map(Rule.of)


def rules() -> st.SearchStrategy[Rule]:
    """The papers'."""
    return substring_rules() | parameter_rules()


# --- sites whose rules are known ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DustySite:
    """A log, and the rules by which it was made."""

    log: list[Line]
    planted: tuple[Substitute, ...]


PLANTS = (
    Substitute("index.html", "", end=True),
    Substitute("http://www.", "http://", start=True),
    Substitute("story?id=", "story_"),
    Substitute("people/", "~"),
    Substitute("&sid=1", ""),
    Substitute("/", "", end=True),
)
BASES = (
    "http://www.a.example/{}/index.html",
    "http://www.a.example/people/{}/",
    "http://www.a.example/story?id={}",
    "http://www.a.example/view?id={}&sid=1",
    "http://www.a.example/people/index.html?p={}&sid=1",
)


@st.composite
def dusty_sites(draw: st.DrawFn) -> DustySite:
    """Pages of a few numbered families × aliases by planted rules × lines that are noise.

    Aliases share size and sketch; numbered pages share neither. Noise is what any log may hold.
    """
    planted = tuple(draw(st.lists(st.sampled_from(PLANTS), min_size=1, max_size=3, unique=True)))
    families = draw(st.lists(st.sampled_from(BASES), min_size=1, max_size=2, unique=True))
    log: list[Line] = []
    content = 0
    for family in families:
        for number in range(draw(st.integers(3, 5))):
            content += 1
            log += [
                {"url": url, "status": 200, "size": content, "sketch": [content] * 4}
                for url in _aliases(family.format(number), planted)
            ]
    noise = draw(st.lists(lines(), max_size=4))
    return DustySite(draw(st.permutations(log + noise)), planted)


def _aliases(url: str, planted: tuple[Substitute, ...]) -> list[str]:
    forms = {url: None}
    for rule in planted:
        forms |= dict.fromkeys(rule.in_text(form) for form in list(forms))
    return list(forms)
