"""Tells which URLs are plausible: URLs with the form of a URL of the log, with any arguments, and the URL itself.

Forms are kept as a tree of symbols, in which any argument is one and the same. While the network spells a translation,
the tree says what may follow, so that no translation mixes two forms.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from scrapy_dust.neural.vocabulary import EOS, Reading, Symbols, Vocabulary

_ARGUMENT = -1


@dataclass(slots=True)
class Forms:
    """The forms of a site's URLs, as a tree of symbols.

    A node maps each symbol that may follow to the next node; `EOS` in a node says that a form may end there.
    """

    root: dict[int, dict] = field(default_factory=dict)  # type: ignore[type-arg]  # it holds itself

    def allowed(self, so_far: Symbols, own: Symbols, copying: Collection[int]) -> set[int]:
        """The symbols that may follow *so_far*. *own*: those of the URL as it is; *copying*: of its arguments."""
        found: set[int] = set()
        node = self._node_after(so_far, copying)
        for symbol in node or ():
            found.update(copying if symbol == _ARGUMENT else (symbol,))
        if own[: len(so_far)] == so_far:
            found.add(own[len(so_far)] if len(so_far) < len(own) else EOS)
        return found

    def _node_after(self, so_far: Symbols, copying: Collection[int]) -> dict[int, dict] | None:  # type: ignore[type-arg]
        """The node that *so_far* leads to; None if no form begins so. *copying*: the symbols of arguments."""
        node = self.root
        for symbol in so_far:
            following = node.get(_ARGUMENT if symbol in copying else symbol)
            if following is None:
                return None
            node = following
        return node


def form_of(vocabulary: Vocabulary, reading: Reading) -> Symbols:
    """The form of the URL in *reading*: its symbols, with the same symbol for every argument."""
    places = set(reading.places)
    return tuple(_ARGUMENT if place in places else number for place, number in enumerate(reading.ids))


def forms_of(found: Iterable[Symbols]) -> Forms:
    """The tree of the forms *found*."""
    forms = Forms()
    for form in found:
        node = forms.root
        for symbol in form:
            node = node.setdefault(symbol, {})
        node.setdefault(EOS, {})
    return forms
