"""A rule: operations that are made together where a guard holds.

A rule is directed: it turns a URL into another that should show the same page. Rules are values: comparable,
hashable, and without any evidence. The papers' rules have one operation: `Substitute`, `DropParameter` or
`SetParameter`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from scrapy_dust.rules.guards import Condition, Guard, guard_in_words, holds, required_texts, without_implied
from scrapy_dust.rules.operation import Need, Operation, in_plain_query, is_plain
from scrapy_dust.rules.parameters import DropParameter, SetParameter
from scrapy_dust.rules.substitution import Substitute, pair_refines
from scrapy_dust.rules.url_words import words_of
from scrapy_dust.url.parts import Parts, parts_of
from scrapy_dust.url.value_classes import is_id


@dataclass(frozen=True)
class Rule:
    """The operations that change a URL, one after the other, where the guard holds."""

    operations: tuple[Operation, ...]
    guard: Guard = ()

    @classmethod
    def of(cls, *operations: Operation, where: Guard = ()) -> Rule:
        """A rule with these *operations* under the guard *where*."""
        return cls(operations, where)

    # --- what it does

    def apply(self, url: str) -> str:
        """The text *url* changed by the rule; the very same *url* where nothing changes."""
        return self.apply_to_parts(url, None) if self.may_change(url) else url

    def apply_to_parts(self, url: str, parts: Parts | None) -> str:
        """`apply` for a *url* that contains the texts which the rule needs. *parts*: those of *url*, if they are known."""
        if self.only_operation is not None:
            return self.only_operation.in_text(url)
        if self._is_of_query and is_plain(url):
            made = in_plain_query(url, self.operations)
            return made if made is not url and holds(self.guard, parts or parts_of(url)) else url
        parts = parts or parts_of(url)
        changed = self.change(parts)
        return url if changed is parts else changed.url

    def change(self, url: Parts) -> Parts:
        """*url*, in parts, changed by the rule; the very same object where nothing changes."""
        changed = url
        for operation in self.operations:
            before, changed = changed, operation.apply(changed)
            # Most URLs are left alone by most operations: guards are asked when the first operation changes one.
            if before is url and changed is not url and self.guard and not holds(self.guard, url):
                return url
        return changed

    @cached_property
    def _is_of_query(self) -> bool:
        """Whether all operations change nothing but parameters."""
        return all(operation.is_of_query for operation in self.operations)

    # --- where it may do something

    def may_change(self, text: str) -> bool:
        """Whether *text* contains the texts without which the rule changes nothing."""
        for texts in self._texts:
            for one in texts:
                if one not in text:
                    break
            else:
                return True
        return False

    @cached_property
    def _texts(self) -> tuple[tuple[str, ...], ...]:
        """Alternative lists of texts, as in `needs`."""
        return tuple(tuple([text for text, _ in texts]) for texts in self.needs)

    @cached_property
    def needs(self) -> tuple[tuple[Need, ...], ...]:
        """Alternative lists of texts: a URL that changes contains all texts of one list."""
        guarded = [(text, words_of(text)) for one in self.guard for text in required_texts(one)]
        return tuple((*operation.needs, *guarded) for operation in self.operations)

    # --- what it is

    @cached_property
    def order(self) -> tuple[int, int, bool, str]:
        """The rank of the rule among the rules of a site, whenever they were learned.

        The papers' rules come first: parameters, since a rule that turns a query into a path leaves no parameters;
        then texts, which were found in URLs as they are written.
        """
        rank = min(operation.rank for operation in self.operations)
        stage = 0 if self.dropped_parameter or self.fixed_value_operation else 1 if self.substitution else 2
        return stage, rank, not self.guard, str(self)

    @cached_property
    def families(self) -> tuple[str, ...]:
        """The families of the rule's operations."""
        return tuple(sorted({operation.family for operation in self.operations}))

    @property
    def family(self) -> str:
        """The name of the rule's family, made of those of its operations."""
        return " + ".join(self.families)

    @cached_property
    def leads_to_urls(self) -> bool:
        """Whether the changed URL can be fetched, and is not only good as a key."""
        return all(operation.leads_to_urls for operation in self.operations)

    @cached_property
    def names_an_id(self) -> bool:
        """Whether the rule names the id of one thing among many: a commit, a session, a release.

        A rule about one id (the newest commit is the tip) says nothing about the next id, and nothing about tomorrow.
        """
        said = (condition.value or "" for condition in self.guard)
        made = (text for operation in self.operations for text in operation.texts)
        return any(is_id(word.decode()) for text in chain(said, made) for word in words_of(text))

    @cached_property
    def only_operation(self) -> Operation | None:
        """The operation of a rule that has one operation and no guard; None for all other rules."""
        return self.operations[0] if len(self.operations) == 1 and not self.guard else None

    @cached_property
    def substitution(self) -> Substitute | None:
        """The substitution, if the rule is one and has no guard; else None."""
        return self.only_operation if isinstance(self.only_operation, Substitute) else None

    @property
    def dropped_parameter(self) -> str | None:
        """The parameter that the rule leaves out wherever it stands, whatever its value; None for other rules."""
        return (
            self.only_operation.name
            if isinstance(self.only_operation, DropParameter) and self.only_operation.value is None
            else None
        )

    @property
    def fixed_value_operation(self) -> SetParameter | None:
        """The operation that gives a parameter one value wherever it stands; None for other rules."""
        return self.only_operation if isinstance(self.only_operation, SetParameter) else None

    # --- other rules

    @property
    def reverse(self) -> Rule | None:
        """The rule that undoes this one; None where there is none."""
        return None if self.substitution is None else Rule.of(self.substitution.reversed())

    def refines(self, wide: Rule) -> bool:
        """Whether the rule *wide* merges all URLs that this rule could merge, as far as the two rules tell (Lemma 5.3)."""
        if self.substitution is not None and wide.substitution is not None:
            return pair_refines(self.substitution, wide.substitution)
        return self == wide

    def under_guard(self, guard: Guard) -> Rule:
        """The rule under an additional *guard*. Conditions stand in a fixed order."""
        return Rule(self.operations, without_implied((*self.guard, *guard)))

    @property
    def unguarded(self) -> Rule:
        """The rule without its guard."""
        return Rule(self.operations) if self.guard else self

    # --- how it is narrowed

    @property
    def wide_operation(self) -> Operation | None:
        """The first operation that makes any value of a parameter or segment irrelevant; None for a rule about given texts."""
        return next((one for _, one in self.wide_operations), None)

    @cached_property
    def wide_operations(self) -> tuple[tuple[int, Operation], ...]:
        """The operations that make any value of a parameter or segment irrelevant, each with its number among the
        operations that have such a place; without those whose place the guard gives one value.
        """
        pinned = {one.name for one in self.guard if one.holds and one.value is not None}
        of_values = enumerate((one for one in self.operations if one.slot is not None), 1)
        return tuple((number, one) for number, one in of_values if one.slot not in pinned)

    def for_value(self, value: str) -> Rule | None:
        """The narrower rule that applies only where the irrelevant parameter or segment has this *value*; None if no
        rule can say so.
        """
        wide = self.wide_operation
        if wide is None or not wide.slot:
            return None
        narrow = wide.for_value(value)
        if narrow is None:
            return self.under_guard((Condition(wide.slot, value),))
        return Rule(tuple(narrow if one is wide else one for one in self.operations), self.guard)

    def __str__(self) -> str:
        text = "; ".join(map(str, self.operations))
        return f"{text}, where {guard_in_words(self.guard)}" if self.guard else text
