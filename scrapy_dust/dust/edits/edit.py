"""An edit: operations that are made together where a guard holds; and a key function of many edits.

An `Edit` is a rule like the others: `apply` turns a URL into another, `str` is a line for a person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from scrapy_dust.dust.edits.anatomy import Anatomy, anatomy_of
from scrapy_dust.dust.edits.guards import Guard, holds, said
from scrapy_dust.dust.edits.operation import ANY, Operation

#: Families that put a mark in the place of what does not matter.
_MARKING = frozenset(("any segment", "any value"))


def _written(operation: Operation) -> str:
    """What *operation* puts into a URL; an edit that was learned after a mark was put there has the mark too."""
    other = getattr(operation, "other", "")
    rule = getattr(operation, "rule", None)
    return getattr(rule, "beta", "") + "".join(piece for piece in other if isinstance(piece, str))


@dataclass(frozen=True)
class Edit:
    """All of *operations*, in their order, where *guard* holds."""

    operations: tuple[Operation, ...]
    guard: Guard = ()

    def apply(self, url: str) -> str:
        """*url* itself where nothing changes, and where it is none with a scheme and a host."""
        if not self.may_concern(url):
            return url
        anatomy = anatomy_of(url)
        edited = self.edit(anatomy) if anatomy.has_authority else anatomy
        return url if edited is anatomy else edited.url

    def edit(self, url: Anatomy) -> Anatomy:
        """The same object where nothing changes."""
        edited = url
        for operation in self.operations:
            edited = operation.apply(edited)
        # Most URLs are left alone by most operations: guards are asked last.
        if edited is url or (self.guard and not holds(self.guard, url)):
            return url
        return edited

    @cached_property
    def needles(self) -> tuple[str, ...]:
        """A URL that has none of these stays as it is; an empty one says nothing."""
        return tuple(operation.needle for operation in self.operations)

    def may_concern(self, text: str) -> bool:
        needles = self.needles
        if len(needles) == 1:
            return needles[0] in text
        return any(needle in text for needle in needles)

    @cached_property
    def leads_to_urls(self) -> bool:
        """Whether what it makes of a URL can be asked for, and is not only good as a key."""
        return not any(one.family in _MARKING or ANY in _written(one) for one in self.operations)

    @cached_property
    def family(self) -> str:
        return " + ".join(sorted({operation.family for operation in self.operations}))

    @cached_property
    def order(self) -> tuple[int, bool, str]:
        return min(operation.rank for operation in self.operations), not self.guard, str(self)

    def __str__(self) -> str:
        text = "; ".join(map(str, self.operations))
        return f"{text}, where {said(self.guard)}" if self.guard else text


@dataclass(frozen=True, slots=True)
class Step:
    """One edit at work."""

    edit: Edit
    before: str
    after: str


class KeyFunction:
    """Edits, ready to be applied: again and again until nothing changes.

    A URL on which they come to no end stays as it is, so that a key is always its own key. The order in which
    edits were learned does not matter: they are sorted.
    """

    def __init__(
        self, edits: Iterable[Edit], *, passes: int = 10, stays: Callable[[str, str], bool] | None = None
    ) -> None:
        self.edits: Sequence[Edit] = sorted(set(edits), key=lambda edit: edit.order)
        self._passes = passes
        self._stays = stays or (lambda url, key: True)  #: whether a key is still of the URL's site

    def __call__(self, url: str) -> str:
        if not self.edits:
            return url
        anatomy = anatomy_of(url)
        if not anatomy.has_authority:
            return url
        end = self.end_of(anatomy)
        if end is None or end is anatomy:
            return url
        key = end.url
        return key if self._stays(url, key) else url

    def end_of(self, url: Anatomy, extra: Edit | None = None) -> Anatomy | None:
        """Where *url* comes to rest under the edits and *extra*; None where it never does."""
        edits = self.edits if extra is None else [*self.edits, extra]
        text = url.url
        for _ in range(self._passes):
            before = url
            for edit in edits:
                # Most edits have nothing to do with most URLs, which a look for their needles tells.
                if edit.may_concern(text):
                    edited = edit.edit(url)
                    if edited is not url:
                        url, text = edited, edited.url
            if url is before or url == before:
                return url
        return None

    def touching(self, url: str) -> frozenset[Edit]:
        """The edits that change something on the way of *url*, to wherever it leads."""
        found: set[Edit] = set()
        form = anatomy_of(url)
        for _ in range(self._passes):
            before = form
            for edit in self.edits:
                after = edit.edit(form)
                if after != form:
                    found.add(edit)
                form = after
            if form == before:
                break
        return frozenset(found)

    def explain(self, url: str) -> tuple[Step, ...]:
        """Each edit that changed something on the way to the key; empty where the URL is its own."""
        if self(url) == url:
            return ()
        steps: list[Step] = []
        anatomy, before = anatomy_of(url), None
        while anatomy != before:
            before = anatomy
            for edit in self.edits:
                after = edit.edit(anatomy)
                if after != anatomy:
                    steps.append(Step(edit, anatomy.url, after.url))
                    anatomy = after
        return tuple(steps)
