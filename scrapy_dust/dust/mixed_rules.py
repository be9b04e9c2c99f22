"""The rules of a site that has edits among them: plain rules and edits as one key function.

Plain rules come first, until they change nothing, as if there were no edits: who had rules goes on with what they
did. Then the edits, in their own order, until they change nothing; and again, as long as edits change something.
So the order in which rules came to a book does not matter more than it did before, and where a form comes to
rest, none of the rules changes it: it is its own key.

A URL costs the look that plain rules take, one for the words without which an edit changes nothing (`sought_words`),
and for the edits that are left, one for the texts: an edit's *needle*, and what its guard asks for. It is taken apart
only where they are found.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from scrapy_dust.dust.edits.anatomy import Anatomy, anatomy_of
from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.rules import GROWTH, Rule
from scrapy_dust.dust.site_rules import SiteRules, Step, Texts
from scrapy_dust.dust.sought_words import SoughtWords, asked_for

_SOME = (0,)  #: what `candidates` says where something may change


class MixedRules:
    """*plain* rules of *site* in the order to apply them, and *edits* in any; used as `SiteRules` are."""

    def __init__(
        self, site: str, plain: Sequence[Rule], edits: Iterable[Edit], texts: Texts | None = None
    ) -> None:
        self._plain = SiteRules(site, plain, texts)
        ordered = sorted(set(edits), key=lambda edit: edit.order)
        self._edits = [(*_sought(edit), edit) for edit in ordered]
        self._words = SoughtWords(site, ordered)

    def candidates(self, url: str) -> Sequence[int]:
        """Something where *url* may come to change, nothing where it does not."""
        for place in self._words.places(url):
            rarest, others, edit = self._edits[place]
            if rarest in url and (not others or _has(url, others)) and edit.may_concern(url):
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
        places, longest = self._words.places(text), 2 * len(text) + GROWTH
        last = -1  # the place of the edit that did something last: those after it have seen the text
        for _ in range(passes):
            before, until, at = text, last, 0
            while at < len(places) and (text is not before or until < 0 or places[at] <= until):
                place = places[at]
                at += 1
                rarest, others, edit = self._edits[place]
                if rarest in text and (not others or _has(text, others)):
                    anatomy = anatomy or anatomy_of(text)
                    edited = edit.edit(anatomy) if anatomy.has_authority else anatomy
                    if edited is not anatomy and (after := edited.url) != text:
                        if steps is not None:
                            steps.append((edit, text, after))
                        # Taken apart again: a form is its own key, and as a key it has but its text.
                        text, anatomy, last = after, None, place
                        if len(text) > longest:
                            return text, False
                        places = self._words.places(text)
                        at = bisect_right(places, place)
            if text == before:
                return text, True
        return text, False


def _has(text: str, all_of: tuple[str, ...]) -> bool:
    return all(one in text for one in all_of)


def _sought(edit: Edit) -> tuple[str, tuple[str, ...]]:
    """Texts that are all in a URL which *edit* changes: first the one that is probably in fewest, then the others."""
    texts = {text for condition in edit.guard if (text := asked_for(condition))}
    texts.update(edit.needles if len(edit.needles) == 1 else ())
    longest, *others = sorted(texts, key=lambda text: (-len(text), text)) or [""]
    return longest, tuple(one for one in others if one not in longest)
