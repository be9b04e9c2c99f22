"""Whether anything takes more than linear time on what a stranger wrote: ``python -m benchmarks.growth [--quick]``.

URLs and documents made of one piece repeated, in sizes that grow fourfold to 1 MB, through all that looks at every
URL or page. Given is how the time grows from a size to the next, 4 being linear and 16 quadratic: of each function
the worst of all pieces, in CPU time. Times below a millisecond say nothing and are left out.

Mining looks at URLs of 500 words and signs at most. What it takes for paths that repeat themselves up to there is told last.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from scrapy_dust.crawl_log.hiding import Hider, is_hidden
from scrapy_dust.engines.local import mine_log
from scrapy_dust.page.content import content_of
from scrapy_dust.page.site_log import site_log
from scrapy_dust.page.sketch import describe
from scrapy_dust.propose.dustbuster.likely_parameters import parameters
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.captures import captures_of
from scrapy_dust.rules.parameters import DropParameter, SetParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of
from scrapy_dust.trials.actions import ActionWords
from scrapy_dust.url.parts import parts_of
from scrapy_dust.url.tokens import tokenize
from scrapy_dust.url.value_classes import value_class
from scrapy_dust.visits.pages import Visit
from scrapy_dust.visits.strata import template_of

SIZES = (16_384, 65_536, 262_144, 1_048_576)
HOME = "http://a.example/"

URL_PIECES = (*"a1A/-?&;=#%:@[é", "a=1&", ";a=1", "a;", "%41", "%2541", "1/", "a.", "a-", "x=a&")
MARKUP_PIECES = (
    *("<", "&", "漢", "ab ", "a", "<a ", "<!--", "&#1", "<input ", "<title>", "<script>", "<table>", "<b><p>", "<svg><p>"),
    *("<div>", "<select><option>", '<a b="', "<a><b><i><u>", '<link rel=canonical href="/a">', '<base href="http://b/">'),
)  # fmt: skip

RULES = (
    *(
        Rule.of(DropParameter("a")),
        Rule.of(SetParameter("x", "1")),
        Rule.of(Substitute("a", "b")),
        Rule.of(Substitute("aa", "b")),
    ),
    *(
        Rule.of(Substitute("1/", "2/")),
        Rule.of(Substitute("--", "-")),
        Rule.of(Substitute("/", "", end=True)),
    ),
)


@dataclass(frozen=True, slots=True)
class Growth:
    what: str
    piece: str
    seconds: Sequence[float]

    @property
    def fourfold(self) -> float:
        """By how much it grows from a size to the next, from the first that takes long enough to the last."""
        told = [second for second in self.seconds if second > 0.001]
        return float((told[-1] / told[0]) ** (1 / (len(told) - 1))) if len(told) > 1 else 0.0


def of_urls() -> Mapping[str, Callable[[str], object]]:
    words = ActionWords(["logout", "delete", "cart"])
    hider = Hider(["token", "a"], b"k" * 16)
    form, classes = ("/", 0, "-", 1, "-", 2, "-", 3, "!"), ("name", "numbers", "path", "word")
    return {
        "tokens": tokenize,
        "parameters": lambda url: list(parameters(url)),
        **{f"rule {rule}": rule.apply for rule in RULES},
        "all rules": Canonizer({"a.example": RULES}, site_of).canonize,
        "parts": parts_of,
        "class of a value": value_class,
        "captures": lambda url: captures_of(form, classes, url[len(HOME) - 1 :] + "!"),
        "site": site_of,
        "template": template_of,
        "action words": lambda url: url in words,
        "hiding": hider.hide,
        "hidden": is_hidden,
    }


def of_markup() -> Mapping[str, Callable[[str], object]]:
    def bodies(look: Callable[[bytes], object]) -> Callable[[str], object]:
        return lambda text: look(text.encode())

    return {
        "description": bodies(lambda body: describe(body, "text/html", None, HOME)),
        "content": bodies(lambda body: content_of(body, "text/html", None, HOME)),
    }


def measured(
    functions: Mapping[str, Callable[[str], object]],
    pieces: Sequence[str],
    made: Callable[[str, int], str],
    sizes: Sequence[int],
    rounds: int,
) -> Iterator[Growth]:
    for what, function in functions.items():
        grown = []
        for piece in pieces:
            texts = [made(piece, size) for size in sizes]
            grown.append(
                Growth(what, piece, [min(_timed(function, text) for _ in range(rounds)) for text in texts])
            )
        yield max(grown, key=lambda growth: growth.fourfold)


def _timed(function: Callable[[Any], object], text: object) -> float:
    # As timeit does: collections come by the number of objects, and look at all there are.
    gc.disable()
    began = time.process_time()
    function(text)
    taken = time.process_time() - began
    gc.enable()
    return taken


def _url(piece: str, size: int) -> str:
    return HOME + ("?" if "=" in piece or piece in "&;=#" else "") + piece * (size // len(piece))


def repeating(segments: int, names: Sequence[str]) -> Iterator[Visit]:
    """Of each of sixty pages three URLs, whose paths go round in *names* once or thrice more."""
    for page in range(60):
        path = "".join(f"/{names[(page + at) % len(names)]}" for at in range(segments))
        for more in (0, 1, 3):
            shown = f"{page}"
            yield Visit(
                f"{HOME[:-1]}{path}{f'/{names[0]}' * more}/{page}.html",
                200,
                (1000, 1000),
                (page, page + 1, page + 2, page + 3),
                shown,
                shown,
            )


def mining() -> Iterator[str]:
    """Of 180 URLs in paths that repeat one, two and three names: seconds by the number of segments."""
    for names in ("a", "ab", "abc"):
        taken = []
        for segments in (60, 120, 240):
            visits = list(repeating(segments, names))
            taken.append(_timed(lambda of: mine_log("a.example", site_log(of), DustSettings()), visits))
        times = ", ".join(f"{second:.2f}" for second in taken)
        yield f"mining 180 URLs of 60, 120, 240 segments /{'/'.join(names)}/…: {times} s"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="up to a quarter of a megabyte, one round")
    quick = parser.parse_args().quick
    sizes, rounds = (SIZES[:3], 1) if quick else (SIZES, 2)
    print(f"{'ms at ' + ', '.join(f'{size // 1024}' for size in sizes) + ' kB':<36} {'growth':>6}  piece")
    for growth in chain(
        measured(of_urls(), URL_PIECES, _url, sizes, rounds),
        measured(of_markup(), MARKUP_PIECES, lambda piece, size: piece * (size // len(piece)), sizes, rounds),
    ):
        times = " ".join(f"{1000 * second:8.1f}" for second in growth.seconds)
        print(f"{times:<36} {growth.fourfold:6.1f}  {growth.piece!r:<12} {growth.what}", flush=True)
    if not quick:
        for told in mining():
            print(told, flush=True)


if __name__ == "__main__":
    main()
