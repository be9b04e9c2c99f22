"""The rules of a site that has edits among them: plain rules and edits as one key function.

Plain rules come first, until they change nothing, as if there were no edits: who had rules goes on with what they
did. Then the edits, in their own order, until they change nothing; and again, as long as edits change something.
So the order in which rules came to a book does not matter more than it did before, and where a form comes to
rest, none of the rules changes it: it is its own key.

A URL costs the look that plain rules take, and one for the *needle* of each edit, a text without which it changes
nothing. It is taken apart only where one is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scrapy_dust.dust.edits.anatomy import Anatomy, anatomy_of
from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.rules import Rule
from scrapy_dust.dust.site_rules import SiteRules, Step

_SOME = (0,)  #: what `candidates` says where something may change


class MixedRules:
    """*plain* rules of *site* in the order to apply them, and *edits* in any; used as `SiteRules` are."""

    def __init__(self, site: str, plain: Sequence[Rule], edits: Iterable[Edit]) -> None:
        self._plain = SiteRules(site, plain)
        self._edits = sorted(set(edits), key=lambda edit: edit.order)

    def candidates(self, url: str) -> Sequence[int]:
        """Something where *url* may come to change, nothing where it does not."""
        if any(edit.may_concern(url) for edit in self._edits):
            return _SOME
        return self._plain.candidates(url)

    def apply(
        self, url: str, candidates: Sequence[int], passes: int, steps: list[Step] | None = None
    ) -> tuple[str, bool]:
        """See `SiteRules.apply`. What *candidates* are is looked up again: edits make other ones."""
        form = url
        for _ in range(passes):
            found = self._plain.candidates(form)
            if found:
                form, is_settled = self._plain.apply(form, found, passes, steps)
                if not is_settled:
                    return form, False
            edited, is_settled = self._edited(form, passes, steps)
            if edited == form or not is_settled:
                return edited, is_settled
            form = edited
        return form, False

    def _edited(self, text: str, passes: int, steps: list[Step] | None) -> tuple[str, bool]:
        anatomy: Anatomy | None = None
        for _ in range(passes):
            before = text
            for edit in self._edits:
                if not edit.may_concern(text):
                    continue
                if anatomy is None:
                    anatomy = anatomy_of(text)
                edited = edit.edit(anatomy) if anatomy.has_authority else anatomy
                if edited is not anatomy and (after := edited.url) != text:
                    if steps is not None:
                        steps.append((edit, text, after))
                    # Taken apart again: a form is its own key, and as a key it has but its text.
                    text, anatomy = after, None
            if text == before:
                return text, True
        return text, False
