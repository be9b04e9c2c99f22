"""What all generated sites are made of: words, markup, addresses, pages, and hubs that link them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from tests.crawl.site import Answer

#: What a focused spider takes from a page, field by field.
Item = tuple[str, ...]
#: How many links a hub has.
_HUB = 40
_ONSETS = "b c d f g h k l m n p r s t v z br dr gl kr pl st tr".split()
_RIMES = "a e i o u an el in or um ai ea on ir ast".split()


@dataclass(frozen=True, slots=True)
class Fetch:
    """One request, as a page sees it."""

    chance: random.Random  #: its own, so that what is volatile differs from the last time
    times: int  #: that the page was asked for before, in this crawl


@dataclass(frozen=True, slots=True)
class Page:
    name: str  #: URLs of one name show the same page
    item: Item | None
    show: Callable[[Fetch], Answer]

    @property
    def shows(self) -> Item | str:
        """What a spider has of the page: its item; its name, where it takes none."""
        return self.item or self.name


@dataclass(frozen=True, slots=True)
class Take:
    """What one callback of the spider takes: of paths that begin so, what these XPaths give."""

    begins: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Web:
    pages: Mapping[str, Page]
    takes: tuple[Take, ...]
    wall: str = "//no-wall"  #: where this gives something, the spider asks again
    ignore: str = ""  #: what the user says does not count: a CSS selector

    def items(self) -> set[Item]:
        return {page.item for page in self.pages.values() if page.item is not None}

    def aliases(self) -> list[list[str]]:
        """Paths of pages that have several."""
        by_name: dict[str, list[str]] = {}
        for path, page in self.pages.items():
            by_name.setdefault(page.name, []).append(path)
        return [paths for paths in by_name.values() if len(paths) > 1]


@dataclass(frozen=True, slots=True)
class Address:
    """A form of URLs."""

    begins: str  #: as all of its URLs do, and no others of the site
    form: str

    def __call__(self, thing: str, variant: str) -> str:
        return self.form.format(thing=thing, variant=variant)


@dataclass
class Draft:
    """A site that is being drawn. All that it draws depends on its seed alone."""

    seed: str
    pages: dict[str, Page] = field(default_factory=dict)
    takes: list[Take] = field(default_factory=list)
    wall: str = "//no-wall"
    ignore: str = ""

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self._used: set[str] = set()
        self.classes = [self.word() for _ in range(8)]
        self.chrome = self.prose(self.chance.randint(5, 25)), self.prose(self.chance.randint(5, 25))

    def of(self, *names: object) -> random.Random:
        """Chance that depends on *names*, not on what was drawn before."""
        return random.Random(f"{self.seed} {names}")

    def word(self) -> str:
        """A word that nothing else on the site is."""
        for _ in count():
            word = _word(self.chance, self.chance.randint(2, 3))
            if word not in self._used:
                self._used.add(word)
                return word
        raise AssertionError

    def words(self, number: int) -> list[str]:
        return [self.word() for _ in range(number)]

    def prose(self, words: int, *names: object) -> str:
        """A text; the same one for the same *names*."""
        chance = self.of("prose", *names) if names else self.chance
        return " ".join(_word(chance, chance.randint(1, 4)) for _ in range(words))

    def values(self, number: int) -> list[str]:
        """Values of a parameter: numbers, words, codes."""
        kind = self.chance.randrange(4)
        if kind == 0:
            return [str(n) for n in range(1, number + 1)]
        if kind == 1:
            return self.words(number)
        if kind == 2:
            return [f"{self.chance.getrandbits(40):010x}" for _ in range(number)]
        first = self.chance.randint(100, 9000)
        return [str(first + 7 * n) for n in range(number)]

    def address(self) -> Address:
        """A form of URLs that name a thing and a variant of it."""
        one, other, name, variant = self.words(4)
        form = self.chance.choice(
            [
                f"/{one}?{name}={{thing}}&{variant}={{variant}}",
                f"/{one}/{other}?{variant}={{variant}}&{name}={{thing}}",
                f"/{one}/{{thing}}?{variant}={{variant}}",
                f"/{one}-{{thing}}.html?{variant}={{variant}}",
                f"/{one}/{{thing}}/{{variant}}",
                f"/{one}/{{variant}}/{other}/{{thing}}",
                f"/{one}/{{thing}};{variant}={{variant}}",
            ]
        )
        return Address(f"/{one}", form)

    def element(self) -> tuple[str, str]:
        """A tag and a class."""
        return self.chance.choice(["div", "span", "p", "b", "em", "dd"]), self.word()

    def take(self, *fields: str, begins: str = "/") -> None:
        self.takes.append(Take(begins, fields))

    def html(self, main: str, head: str = "", title: str = "") -> Answer:
        first, last = self.chrome
        classes = self.classes
        text = (
            f"<!DOCTYPE html><html><head><title>{title or classes[0]}</title>{head}</head><body>"
            f'<div class="{classes[1]}"><a href="/">{classes[2]}</a> {first}</div>'
            f'<div class="{classes[3]}">{main}</div><div class="{classes[4]}">{last}</div></body></html>'
        )
        return Answer(text.encode(), 200, {"Content-Type": "text/html; charset=utf-8"})

    def add(
        self, path: str, name: object, item: Item | None, answer: Answer | Callable[[Fetch], Answer]
    ) -> None:
        show = answer if callable(answer) else _always(answer)
        self.pages[path] = Page(str(name), item, show)

    def web(self, linked: Iterable[str] | None = None) -> Web:
        """The site, with a front page and hubs that link *linked* (else all pages), in any order."""
        paths = list(self.pages if linked is None else linked)
        self.chance.shuffle(paths)
        hubs = []
        for first in range(0, len(paths), _HUB):
            hubs.append(f"/{self.word()}")
            self.hub(hubs[-1], paths[first : first + _HUB])
        self.hub("/", hubs)
        return Web(self.pages, tuple(self.takes), self.wall, self.ignore)

    def hub(self, path: str, links: Sequence[str]) -> None:
        anchors = "".join(f'<li><a href="{escaped(link)}">{self.word()}</a></li>' for link in links)
        self.add(path, f"hub {path}", None, self.html(f"<h2>{self.prose(30)}</h2><ul>{anchors}</ul>"))


def escaped(link: str) -> str:
    return link.replace("&", "&amp;")


def _always(answer: Answer) -> Callable[[Fetch], Answer]:
    return lambda fetch: answer


def _word(chance: random.Random, syllables: int) -> str:
    return "".join(chance.choice(_ONSETS) + chance.choice(_RIMES) for _ in range(syllables))
