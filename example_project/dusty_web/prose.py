"""Text that reads like prose and is made of nothing but a key: the same key, the same words, on every machine."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

_WORDS = {
    "adj": """quiet early bitter local former narrow public distant steady broken careful ancient modern familiar
        sudden patient hidden generous curious formal reluctant northern coastal weekly crowded empty heavy gentle
        stubborn ordinary remarkable disputed promising temporary expensive modest bright uneasy official""",
    "noun": """harbour council engine letter garden market bridge library winter theatre record station village
        committee season river journal debate kitchen factory window signal museum bargain orchard festival border
        treaty workshop lantern archive ballot tunnel chapel schedule quarry ferry notebook balcony voyage""",
    "verb": """surprised delayed followed described replaced admired avoided questioned remembered defended outlived
        rebuilt ignored measured welcomed divided supported borrowed collected painted forgot doubted imitated""",
    "adv": """slowly openly again seldom quietly often eventually abruptly accidentally privately repeatedly""",
    "name": """Amsel Barlow Corrigan Dunmore Eklund Farrow Gessler Halloran Ivens Jessop Kestrel Lindqvist Marlowe
        Novak Okafor Pemberton Quill Rosario Sandoval Thackeray Ulrich Vance Whitcombe Yarrow Zeller""",
    "place": """Aldermoor Brackwater Castleford Dunwick Elmhurst Fenbridge Greyport Hollowmere Inverlea Kingsholm
        Larkfield Millhaven Northgate Oakhampton Penrose Ravensea Stonebeck Thornbury Underhill Westmarsh""",
    "when": """yesterday tomorrow overnight afterwards meanwhile today lately twice beforehand nowadays""",
    "scifi": """starship android galaxy colony wormhole reactor cyborg nebula robot asteroid paradox clone""",
    "movies": """director screenplay actress sequel studio premiere trailer soundtrack comedy remake critic camera""",
    "politics": """minister coalition election budget senate referendum lobby cabinet reform mandate opposition veto""",
    "academic": """lemma theorem graph proof network protocol compiler algorithm circuit bound sampling matrix""",
    "world": """embassy summit refugee ceasefire envoy sanction parliament province airlift monsoon delegation""",
    "sport": """goalkeeper champion marathon referee stadium transfer penalty relay coach tournament striker""",
    "tech": """browser startup chip patent network prototype battery satellite software keyboard modem""",
    "money": """dividend merger pension inflation broker currency shareholder deficit mortgage auction bond""",
    "city": """tram mayor landlord bakery precinct fountain playground sewer plaza tenant rooftop borough""",
    "sports": """pitcher inning quarterback rookie league umpire playoff dugout roster bullpen trophy""",
    "opinion": """columnist reader editor argument nuisance principle habit virtue grievance apology proverb""",
    "live": """score update bulletin ticker reporter camera crowd delay whistle replay announcement""",
}

_SENTENCES = """
The {adj} {noun} near {place} {adv} {verb} a {topic}, and {name} {verb} the {adj} {noun}.
{name} of {place} {adv} {verb} the {topic} that every {noun} {verb} {when}.
Nobody in {place} {verb} the {adj} {topic} as {adv} as {name} and the {noun} did.
When the {noun} {verb} its {topic}, {name} asked whether a {adj} {noun} would do.
It was {when} that {name} {adv} {verb} both the {noun} and the {adj} {topic} of {place}.
A {adj} {topic} is no {noun}, said {name}, who {verb} {place} {when}.
Between {place} and {place} the {noun} {adv} {verb} one {topic} after another.
{name} and {name} {verb} a {noun}; the {adj} {topic} {adv} {verb} them both.
For a {topic} so {adj}, the {noun} of {place} {verb} surprisingly few {adj} people.
What {name} {verb} {when} was less a {topic} than a {adj} {noun} with {noun} and {noun}.
"""

_PIECE = re.compile(r"\{(\w+)\}")
_LISTS = {kind: tuple(words.split()) for kind, words in _WORDS.items()}
_FORMS = tuple(_PIECE.split(line) for line in _SENTENCES.strip().splitlines())


def drawing(*key: object) -> random.Random:
    """A source of choices that the parts of *key* decide. Strings seed `random.Random` through SHA-512."""
    return random.Random("|".join(map(str, key)))


def sentences(draw: random.Random, topic: str) -> Iterator[str]:
    """Sentences about *topic*, without end."""
    lists = {**_LISTS, "topic": _LISTS[topic]}
    while True:
        form = _chosen(draw, _FORMS)
        yield "".join([_chosen(draw, lists[piece]) if i % 2 else piece for i, piece in enumerate(form)])


def _chosen(draw: random.Random, things: Sequence[T]) -> T:
    """What `random.Random.choice` does, in a third of the time."""
    return things[int(draw.random() * len(things))]


def paragraphs(draw: random.Random, topic: str, words: int) -> list[str]:
    """Paragraphs of about *words* words in all."""
    made: list[str] = []
    current: list[str] = []
    written = 0
    for sentence in sentences(draw, topic):
        current.append(sentence)
        written += sentence.count(" ") + 1
        if written >= words or len(current) == 5:
            made.append(" ".join(current))
            current = []
        if written >= words:
            return made
    raise AssertionError("sentences() has no end")


def title(draw: random.Random, topic: str) -> str:
    adjective, noun, about, place = (draw.choice(_LISTS[kind]) for kind in ("adj", "noun", topic, "place"))
    return f"{adjective.capitalize()} {about} and the {noun} of {place}"


def names(draw: random.Random, count: int) -> list[str]:
    """*count* different family names, in lower case."""
    return [name.lower() for name in draw.sample(_LISTS["name"], count)]


def slugs(draw: random.Random, topic: str, count: int) -> list[str]:
    """*count* different pairs of words, as they stand in URLs."""
    pairs = [f"{adjective}-{noun}" for adjective in _LISTS["adj"] for noun in _LISTS[topic]]
    return draw.sample(pairs, count)
