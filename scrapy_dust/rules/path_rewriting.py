"""The operation that changes a URL in several places at once.

``/print.pl?sid={0}`` → ``/newsvac/{0}.shtml``: the thesis names this as what substring substitution cannot say
(chapter 7), and KDD 2008 writes it as a reference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from scrapy_dust.rules.captures import CLASS_NAMES, Form, captures_of
from scrapy_dust.rules.operation import ANY, Need, Operation, operation
from scrapy_dust.rules.url_words import words_of
from scrapy_dust.url.parts import Parts, parts_of

#: The words of a text beside a capture that may go on into what is captured.
_FIRST_WORD, _LAST_WORD = re.compile("^[0-9A-Za-z]+"), re.compile("[0-9A-Za-z]+$")


@operation
@dataclass(frozen=True, slots=True)
class Rewrite(Operation):
    """The path and query, which have one form of texts and captures, get another form."""

    form: Form
    other: Form
    classes: tuple[str, ...]  #: of the captures
    do = "rewrite"
    rank = 21
    family = "rewrite"
    may_be_empty = frozenset(("other",))
    script = r"""(one, url) => {
      const named = { number: "[0-9]+", letters: "[A-Za-z]+", word: "[0-9A-Za-z]+",
        numbers: "[0-9]+(?:[/.:_-][0-9]+)+", name: "[^/?#&=;]+", path: "[^?#&=;]+" };
      const quoted = (piece) => piece.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
      const pieces = one.form.map((piece) => (typeof piece === "string" ? quoted(piece)
        : `(?<c${piece}>${named[one.classes[piece]]})`));
      const rest = text({ ...url, scheme: null, host: null });
      const match = url.scheme && url.host ? rest.match(new RegExp(`^(?:${pieces.join("")})$`)) : null;
      if (!match) return url;
      const found = match.groups || {};
      const made = one.other.map((piece) => (typeof piece === "string" ? piece : found[`c${piece}`])).join("");
      return made === rest ? url : parts(`${url.scheme}://${url.host}${made}`);
    }"""

    @property
    def is_of_one_part(self) -> bool:
        """Whether all paths of the form begin with the same segment."""
        return isinstance(self.form[0], str) and self.form[0].count("/") > 1

    @property
    def needle(self) -> str:
        """The longest fixed text of the form."""
        return max((piece for piece in self.form if isinstance(piece, str)), key=len, default="")

    @property
    def needs(self) -> tuple[Need, ...]:
        """All fixed texts of the form, each with the words that are whole words of a URL."""
        return tuple((piece, _inner_words(piece)) for piece in self.form if isinstance(piece, str))

    def apply(self, url: Parts) -> Parts:
        if not url.has_authority:
            return url
        rest = rest_of(url)
        found = captures_of(self.form, self.classes, rest)
        if found is None:
            return url
        text = "".join(one if isinstance(one, str) else found[one] for one in self.other)
        return url if text == rest else parts_of(f"{url.scheme}://{url.host}{text}")

    @property
    def leads_to_urls(self) -> bool:
        """Whether the changed URL can be fetched: not if the new form has ``*``, which stands for any value."""
        return not any(ANY in piece for piece in self.other if isinstance(piece, str))

    def check_fields(self) -> None:
        captured = [one for one in self.form if isinstance(one, int)]
        told = [one for one in self.other if isinstance(one, int)]
        if sorted(captured) != list(range(len(self.classes))) or not set(told) <= set(captured):
            raise ValueError("'form' must have each capture of 'classes' once, and 'other' none beside them")
        if any(told.count(one) > 2 for one in captured):
            raise ValueError("'other' must not have a capture more than twice")
        if any(isinstance(a, int) and isinstance(b, int) for a, b in pairwise(self.form)):
            raise ValueError("'form' must have a text between captures")
        if any(kind not in CLASS_NAMES for kind in self.classes):
            raise ValueError(f"'classes' must be of {', '.join(CLASS_NAMES)}, got {list(self.classes)}")
        self.check_differ("form", "other")

    def __str__(self) -> str:
        return f"{_form_in_words(self.form, self.classes)} → {_form_in_words(self.other, self.classes)}"


def _inner_words(text: str) -> list[bytes]:
    """The words of *text* without its first and last ones, which in a URL may be parts of longer words."""
    return words_of(_LAST_WORD.sub("", _FIRST_WORD.sub("", text)))


def _form_in_words(form: Form, classes: Sequence[str]) -> str:
    return "".join(one if isinstance(one, str) else f"{{{classes[one]} {one + 1}}}" for one in form)


def rest_of(url: Parts) -> str:
    """The part of *url* after the host."""
    return url._replace(scheme=None, host=None).url
