"""Shops that chance has drawn: lists with filters that combine, in pages of several sizes and kinds, some of which show little by themselves."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.traps.sites import MARKS, Shown, Site, words

#: How the pages of a list are linked: not at all, by "next" alone, by numbers around the page, or all of them.
_LINKED = ("none", "next", "next", "window", "all")
#: Where the number of a page stands.
_WRITTEN = ("page", "page", "start", "path")
#: Lists that show things: all; those with a filter at least, or with two; those of a section at least.
_BARE = ("all", "all", "all", "filter", "two")

Chosen = tuple[tuple[str, int], ...]


@dataclass
class Shop(Site):
    """A shop that *seed* draws."""

    seed: int = 0
    cache: dict[Chosen, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        chance = random.Random(f"shop {self.seed}")
        self.items = chance.choice((60, 150, 400, 1000, 2000))
        self.facets = chance.randint(3, 8)
        self.values = [chance.choice((2, 3, 4, 4, 6)) for _ in range(self.facets)]
        self.skew = chance.choice((1, 1, 2))  #: the larger, the more things have the first values
        self.size = chance.choice((10, 24, 48))
        self.linked = chance.choice(_LINKED)
        self.written = chance.choice(_WRITTEN)
        self.bare = chance.choice(_BARE)
        self.sections = chance.choice(
            (0, 0, 0, 5, 12)
        )  #: lists beside each other, of which none has all things
        self.orders = chance.choice((0, 2, 3))
        self.ahead = chance.choice((0, 0, 0, 3))  #: pages of each list that begin it with the same things
        self.related = chance.choice((0, 0, 4))  #: things that each thing links to
        self.marks = chance.choice((*[""] * 8, *MARKS[1:]))
        self.order = list(range(self.items))
        if chance.random() < 0.5:
            chance.shuffle(self.order)
        self.things = {n: tuple(self._value(chance, count) for count in self.values) for n in self.order}
        self.section = {n: chance.randrange(self.sections or 1) for n in self.order}

    def _value(self, chance: random.Random, count: int) -> int:
        return min(chance.randrange(count) for _ in range(self.skew))

    def answer(self, url: str) -> str | None:
        self.entrance = ()
        return super().answer(url)

    def _shop(self, path: str, query: dict[str, str]) -> Shown | None:
        front, _, rest = path[1:].partition("/")
        if front == "item":
            number = int(rest)
            near = random.Random(f"near {number}")
            links = [f"/item/{near.randrange(self.items)}" for _ in range(self.related)]
            return f"{words(path, 20)} {number * 37 % 1000} EUR", ["/list", *links], f"thing {rest}"
        if front != "list":
            return super()._shop(path, query)
        section, number = self._parts(rest, query)
        if self.sections and section is None:
            return "Sections", [f"/list/s{n}" for n in range(self.sections)], ""
        chosen = tuple((name, int(query[name])) for name in sorted(query) if name[0] == "f")
        found = self._found(section or 0, chosen)
        pages = -(-len(found) // self.size) if self.linked != "none" else 1
        part = found if pages == 1 else found[number * self.size : (number + 1) * self.size]
        if len(chosen) < {"all": 0, "filter": 1, "two": 2}[self.bare]:
            part, pages = [], 1
        links = [f"/item/{n}" for n in part]
        links += self._choices(section, chosen, query)
        links += [self._list(section, {**query, "": str(n)}) for n in self._others(number, pages)]
        return f"{len(found)} things, page {number + 1}", links, ""

    def _parts(self, rest: str, query: dict[str, str]) -> tuple[int | None, int]:
        """The section, and the number of a page from 0."""
        parts = rest.split("/") if rest else []
        section = int(parts.pop(0)[1:]) if self.sections and parts else None
        if self.written == "path":
            return section, int(parts[0]) - 1 if parts else 0
        if self.written == "start":
            return section, int(query.get("start", 0)) // self.size
        return section, int(query.get("page", 1)) - 1

    def _found(self, section: int, chosen: Chosen) -> list[int]:
        key = (("", section), *chosen)
        if key not in self.cache:
            if chosen:
                name, value = chosen[-1]
                at = ord(name[1]) - ord("a")
                before = self._found(section, chosen[:-1])
                self.cache[key] = [n for n in before if self.things[n][at] == value]
            else:
                own = [n for n in self.order if self.section[n] == section]
                first = self.order[: self.ahead * self.size]
                self.cache[key] = [*first, *(n for n in own if n not in first)] if first else own
        return self.cache[key]

    def _choices(self, section: int | None, chosen: Chosen, query: dict[str, str]) -> Iterator[str]:
        kept = {name: value for name, value in query.items() if name[0] in "fo"}
        for at, count in enumerate(self.values):
            for value in range(count):
                yield self._list(section, {**kept, f"f{chr(97 + at)}": str(value)})
        for order in range(self.orders):
            yield self._list(section, {**kept, "orderby": str(order)})

    def _others(self, number: int, pages: int) -> Iterator[int]:
        if self.linked in ("next", "window") and number + 1 < pages:
            yield number + 1
        if self.linked == "window":
            yield from (n for n in (number - 1, number + 2, number + 3) if 0 < n < pages)
        if self.linked == "all":
            yield from range(1, min(pages, 100))
            yield from range(number + 1, min(pages, number + 3))

    def _list(self, section: int | None, query: dict[str, str]) -> str:
        said = {name: value for name, value in query.items() if name and name[0] in "fo"}
        path = "/list" if section is None else f"/list/s{section}"
        number = int(query.get("", 0))
        if number and self.written == "path":
            path = f"{path}/{number + 1}"
        elif number:
            is_page = self.written == "page"
            said |= {"page": str(number + 1)} if is_page else {"start": str(number * self.size)}
        return path + ("?" + "&".join(f"{name}={said[name]}" for name in sorted(said)) if said else "")

    @property
    def least(self) -> int:
        """Pages that one who knows the shop asks for."""
        sections = self.sections or 1
        deep = {"all": 0, "filter": 1, "two": 2}[self.bare]
        lists = sections
        for count in sorted(self.values)[:deep]:
            lists *= count
        more = 0 if self.linked == "none" else self.items // self.size
        return 2 + self.items + lists + more + (1 if self.sections else 0)
