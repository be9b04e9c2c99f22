"""What the learner of edits adds to phases 1 to 3: edits that a site's log bears out, as rules to put on trial.

What an edit was admitted by here, contents that are equal in the log, is evidence for its trial too; what the
log leaves open is asked of the site there, as it is for any other rule.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.edits.learning import EditParams, learn_edits
from scrapy_dust.dust.edits.pooling import NOTHING_POOLED, Pool, Tallies
from scrapy_dust.dust.edits.queries import AnyValue, DropParameter
from scrapy_dust.dust.edits.sampling import sample
from scrapy_dust.dust.edits.substituting import Substitute
from scrapy_dust.dust.pages import SiteLog, with_redirects
from scrapy_dust.dust.rules import ParameterRule, Rule, SubstringRule


@dataclass(frozen=True, slots=True)
class LikelyEdit:
    """An edit that was learned from the log, as plain a rule as can say it."""

    rule: Rule
    support: int  #: different contents that it was seen to make one
    weighed: bool = True  #: admitted within the budget, by what the log shows; else only proposed


@dataclass(frozen=True, slots=True)
class Detected:
    """What the learner found in the log of one site."""

    edits: Sequence[LikelyEdit] = ()
    tallies: Tallies = field(default_factory=dict)  #: what it shows of edits of a kind, for other sites


def detect_edits(log: SiteLog, params: EditParams, pool: Pool = NOTHING_POOLED) -> Detected:
    """By descending support, and of equal support what spares more first. Without digests of contents nothing is learned.

    *pool*: what other sites have shown. It says how soon an edit is put on trial, and puts none there by itself.
    """
    if not any(page.text_digest for page in log.pages):
        return Detected()
    contents: dict[str, Hashable | None] = sample(
        {page.url: None if page.volatile else page.text_digest for page in with_redirects(log)}
    )
    # As for trials: a loss of less than one URL cannot be told from none.
    params = replace(params, budget=max(params.budget, 1 / len(contents)))
    site = learn_edits(contents, params, log.redirects, pool, canonicals=canonicals_of(log))
    learned = sorted(site.learned, key=lambda one: (-one.contents, -one.saves, str(one.edit)))
    found = dict.fromkeys(LikelyEdit(rule_of(one.edit), one.contents) for one in learned if one.contents)
    return Detected(tuple(found), site.tallies)


def canonicals_of(log: SiteLog) -> dict[str, str]:
    """URL → what its page calls its canonical URL."""
    return {page.url: page.canonical for page in log.pages if page.canonical}


def rule_of(edit: Edit) -> Rule:
    """The plain rule that says what *edit* does, where there is one; else *edit*, written in one way only."""
    if len(edit.operations) == 1 and not edit.guard:
        match edit.operations[0]:
            case Substitute(rule=rule):
                return rule
            case DropParameter(name=name, value=None):
                return ParameterRule(name)
    operations = tuple(
        Substitute(one.rule) if isinstance(one, Substitute) else one for one in edit.operations
    )
    return Edit(operations, tuple(sorted(set(edit.guard), key=str)))


def families_of(rule: Rule) -> tuple[str, ...]:
    """The families of edits that *rule* is of. Of directories are also the papers' rules that speak of a slash."""
    match rule:
        case Edit():
            return tuple(sorted({operation.family for operation in rule.operations}))
        case ParameterRule(name=name, value=value):
            return ((DropParameter(name) if value is None else AnyValue(name)).family,)
        case SubstringRule(alpha=alpha, beta=beta):
            return (Substitute(rule, of_directory="/" in alpha + beta).family,)
