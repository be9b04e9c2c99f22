"""Finds contents that stand in the place of pages: logins, captchas, refusals, "not found" with status 200.

Walls are recognised by the URLs that show them, not by their words. On the URLs of one path template a content is a
wall if several URLs show it that have nothing in common to distinguish them from the others, while the others show
contents of their own. A content that all URLs of a path template show is a page: the login form of `/login?next=…`. A
content that shows up in the place of pages of several path templates is a wall there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from urllib.parse import unquote

#: URLs that show a wall, path templates that do where it has too few URLs of one, and contents that stand beside it.
LEAST_URLS, LEAST_TEMPLATES, LEAST_OTHERS = 3, 3, 3

_WORD = re.compile(r"[^\W_]+")


def walls(urls: Sequence[str], templates: Sequence[str], contents: Sequence[Hashable | None]) -> set[int]:
    """The positions of those *urls* that show a wall. Each URL has its path template and, if known, its content."""
    showing = _showing(templates, contents)
    varied = {
        template: by_content for template, by_content in showing.items() if len(by_content) > LEAST_OTHERS
    }
    words = _UrlWords(urls)
    found: set[int] = set()
    for by_content in varied.values():
        found.update(_within_template(by_content, words))
    return found | _across_templates(varied, words)


def alike(urls: Sequence[str], templates: Sequence[str], contents: Sequence[Hashable | None]) -> set[int]:
    """The positions of those *urls* whose content also shows at URLs with nothing in common. Arguments as in `walls`."""
    words = _UrlWords(urls)
    return {
        number
        for by_content in _showing(templates, contents).values()
        for number in _within_template(by_content, words)
    }


def _showing(
    templates: Sequence[str], contents: Sequence[Hashable | None]
) -> dict[str, dict[Hashable, list[int]]]:
    """For each content, the positions of the URLs that show it, by path template."""
    showing: dict[str, dict[Hashable, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, (template, content) in enumerate(zip(templates, contents, strict=True)):
        if content is not None:
            showing[template][content].append(number)
    return showing


class _UrlWords:
    """The words of URLs behind their hosts, in lower case: pages whose URLs share a word may rightly show one content."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = urls

    def of(self, number: int) -> frozenset[str]:
        """The words in the URL at position *number* of the list."""
        path = self._urls[number].partition("://")[2].partition("/")[2]
        return frozenset(_WORD.findall(unquote(path).lower()))

    def common_to(self, positions: Iterable[int]) -> frozenset[str]:
        """The words that all URLs at these *positions* of the list share."""
        listed = iter(positions)
        common = self.of(next(listed))
        for number in listed:
            common &= self.of(number)
            if not common:
                break
        return common


def _within_template(by_content: dict[Hashable, list[int]], words: _UrlWords) -> set[int]:
    """The positions of the URLs of one path template that show a wall. *by_content*: positions of URLs by content."""
    suspects = [numbers for numbers in by_content.values() if len(numbers) >= LEAST_URLS]
    if not suspects:
        return set()
    of_all = words.common_to(number for numbers in by_content.values() for number in numbers)
    return {number for numbers in suspects if words.common_to(numbers) <= of_all for number in numbers}


def _across_templates(varied: dict[str, dict[Hashable, list[int]]], words: _UrlWords) -> set[int]:
    """The positions of URLs that show one content under several path templates and have no word in common. *varied*: for
    each template with several contents, the positions by content.
    """
    spread: dict[Hashable, list[list[int]]] = defaultdict(list)
    for by_content in varied.values():
        for content, numbers in by_content.items():
            spread[content].append(numbers)
    found: set[int] = set()
    for parts in spread.values():
        numbers = [number for part in parts for number in part]
        if len(parts) >= LEAST_TEMPLATES and not words.common_to(numbers):
            found.update(numbers)
    return found
