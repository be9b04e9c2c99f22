"""A site that shows the five cases of table 3 of Xu, Liu, Callan (SIGIR 2017).

1. what follows a number does not matter; 2. one name of a page is short for another; 3. the same name with a topic after
it is not; 4. many URLs show one page; 5. which page is shown stands in a database.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from scrapy_dust.visits.pages import SiteLog, Visit, merge_visits

SITE = "forums.example"
_BASE = f"http://{SITE}"


def log_of_cases(count: int = 150, seed: int = 0) -> SiteLog:
    """*count* pages of each case, in a random order."""
    chance = Random(seed)
    visits = list(_visits(count, chance))
    chance.shuffle(visits)
    return merge_visits(visits)


def case_urls(chance: Random) -> dict[int, tuple[str, str]]:
    """Of each case a URL that the log has not, and what it should become."""
    n = chance.randrange(10**6, 10**7)
    name = f"user{n}"
    return {
        1: (f"{_BASE}/users/{n}/{name}", f"{_BASE}/users/{n}"),
        2: (f"{_BASE}/questions/{n}/", f"{_BASE}/q/{n}"),
        3: (f"{_BASE}/questions/tagged/{name}", f"{_BASE}/questions/tagged/{name}"),
        4: (f"{_BASE}/private-message/set/{name}", f"{_BASE}/private-message/set/anzer"),
        5: (f"{_BASE}/t/prev/{n}", f"{_BASE}/t/{n - 11_556}.aspx"),
    }


def _visits(count: int, chance: Random) -> Iterator[Visit]:
    for n in chance.sample(range(10**5, 10**6), count):
        word = f"w{n:x}"
        yield from _page(chance, f"/users/{n}", f"/users/{n}/{word}")
        yield from _page(chance, f"/q/{n}", f"/questions/{n}/")
        # Most questions are linked by their short name alone: so it is the one that stands for both.
        for more in range(1, 4):
            yield from _page(chance, f"/q/{10**6 * more + n}")
        yield from _page(chance, f"/questions/tagged/{word}", f"/questions/tagged/{word}?sort=newest")
        # The number before it in a database is any number.
        yield from _page(chance, f"/t/{chance.randrange(10**5)}.aspx", f"/t/prev/{n}")
    names = [f"/private-message/set/u{n:x}" for n in chance.sample(range(10**6), count)]
    yield from _page(chance, "/private-message/set/anzer", *names)


def _page(chance: Random, *paths: str) -> Iterator[Visit]:
    content = chance.getrandbits(60)
    for path in paths:
        yield Visit(
            _BASE + path,
            status=200,
            size=(2000, 2000),
            sketch=tuple(content + place for place in range(4)),
            text_digest=f"{content:x}",
            simhash=f"{content:016x}",
            title=f"page {content:x}",
        )
