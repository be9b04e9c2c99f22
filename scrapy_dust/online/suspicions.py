"""Keeps count, page by page, of edits that may be rules of a site.

Two URLs that show one content suggest edits that turn one into the other (`propose/edits/differences.py`). An edit that
two contents suggest is *suspected*: from then on each page counts for it or against it. A suspicion costs nothing
before, and afterwards only for the URLs that it changes.

This is the leave-one-out join of all single edits, made a page at a time: a table per suspicion, from the changed
form of a URL to the content shown there. The order in which pages come matters only for what the bounds leave out.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field

from scrapy_dust.propose.edits.candidates import edits_between
from scrapy_dust.rules.rule import Rule
from scrapy_dust.url.parts import parts_of

#: So many URLs of one content are compared with each further one.
_COMPARED = 2
#: URLs of one content that are remembered to be compared.
_KEPT = 12
#: Edits that were thought of once, and are waiting for a second content; the oldest go first.
_THOUGHTS = 4000
#: So many are followed at a time; of more, those that hold least are forgotten.
SUSPECTED = 64
#: A suspicion is probable as long as it holds so many times oftener than it fails.
_OFTENER = 10


@dataclass(slots=True)
class _Shown:
    """The contents of URLs to which an edit gives one form."""

    content: Hashable
    known: int = 1  #: how many of them are known
    mixed: bool = False


@dataclass(slots=True)
class Suspicion:
    """An edit, and the evidence of the pages seen so far."""

    edit: Rule
    failed: int = 0  #: forms under which it would put different contents
    _forms: dict[str, _Shown] = field(default_factory=dict)
    _holds: Counter[Hashable] = field(default_factory=Counter)  #: contents, by how many forms bear it out

    @property
    def held(self) -> int:
        """The number of different contents that URLs merged by the edit have shown, each without a contradiction."""
        return len(self._holds)

    @property
    def is_probable(self) -> bool:
        """Whether enough contents bear the edit out for it to hold probably."""
        return self.held > 1 and self.failed * _OFTENER <= self.held

    def see(self, form: str, content: Hashable, staying: Mapping[str, Hashable]) -> None:
        """Count a URL with this *form* and *content*. *staying*: the content of each form seen before."""
        target = self.edit.apply(form)
        if target == form:
            if form in self._forms:
                self._add(form, content)
            return
        if target not in self._forms and target in staying:
            self._add(target, staying[target])
        self._add(target, content)

    def _add(self, target: str, content: Hashable) -> None:
        shown = self._forms.get(target)
        if shown is None:
            self._forms[target] = _Shown(content)
            return
        shown.known += 1
        if shown.mixed:
            return
        if shown.content != content:
            shown.mixed = True
            self.failed += 1
            if shown.known > 2:
                self._holds[shown.content] -= 1
                self._holds += Counter()  # without what has come to nothing
        elif shown.known == 2:
            self._holds[content] += 1


class Suspicions:
    """The suspicions of one site. URLs are compared in the form that *key*, the rules in force, gives them."""

    def __init__(self, key: Callable[[str], str] = str) -> None:
        self._key = key
        self._shown: dict[str, Hashable] = {}  #: by form
        self._urls: dict[Hashable, list[str]] = {}  #: forms by content, the first few
        #: With the content that made us think of it. A plain dict would look for its oldest past all it has forgotten.
        self._thoughts: OrderedDict[Rule, Hashable] = OrderedDict()
        self._suspected: dict[Rule, Suspicion] = {}
        self.duplicates = 0  #: forms that showed what another one had shown

    def __iter__(self) -> Iterator[Suspicion]:
        return iter(self._suspected.values())

    def probable(self) -> list[Rule]:
        """The edits that probably hold; those with most contents come first."""
        found = [one for one in self if one.is_probable]
        return [one.edit for one in sorted(found, key=lambda one: (-one.held, one.edit.order))]

    def see(self, url: str, content: Hashable) -> None:
        """Count *url*, which shows *content*, for and against the suspicions. A form that was seen before adds
        nothing.
        """
        form = self._key(url)
        if form in self._shown:
            return
        self._shown[form] = content
        for suspicion in self:
            suspicion.see(form, content, self._shown)
        self._think(form, content)

    def _think(self, form: str, content: Hashable) -> None:
        known = self._urls.setdefault(content, [])
        self.duplicates += bool(known)
        here = parts_of(form)
        for other in known[:1] + known[-_COMPARED + 1 :] if len(known) > 1 else known:
            for edit in edits_between(here, parts_of(other)):
                self._thought_of(edit, content)
        if len(known) < _KEPT:
            known.append(form)

    def _thought_of(self, edit: Rule, content: Hashable) -> None:
        if edit in self._suspected:
            return
        first = self._thoughts.setdefault(edit, content)
        if first != content:
            del self._thoughts[edit]
            self._suspect(edit)
        elif len(self._thoughts) > _THOUGHTS:
            self._thoughts.popitem(last=False)

    def _suspect(self, edit: Rule) -> None:
        suspicion = self._suspected[edit] = Suspicion(edit)
        for form, content in self._shown.items():
            suspicion.see(form, content, self._shown)
        if len(self._suspected) > SUSPECTED:
            least = min(self, key=lambda one: (one.is_probable, one.held - one.failed))
            del self._suspected[least.edit]
