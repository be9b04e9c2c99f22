"""Adds the edits that a site's log supports to the rules of phases 1 to 3, as rules to put on trial.

Contents that are equal in the log are evidence in the trial too; the site is asked about the rest, as for any other
rule.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from scrapy_dust.propose.edits.edit_learning import EditParams, learn_edits
from scrapy_dust.propose.edits.edit_proposals import EVERYWHERE
from scrapy_dust.propose.edits.edit_weighing import contents_needed
from scrapy_dust.propose.edits.joined_rules import joined_rules
from scrapy_dust.propose.edits.log_sampling import sample
from scrapy_dust.propose.edits.pooling import NOTHING_POOLED, Answers, Consulted, Pool, Tallies
from scrapy_dust.rules.rule import Rule
from scrapy_dust.url.parts import parts_of
from scrapy_dust.visits.pages import Page, SiteLog, texts_of


@dataclass(frozen=True, slots=True)
class LikelyEdit:
    """A rule that was learned from the log."""

    rule: Rule
    support: int  #: different contents that it was seen to make one
    saves: int = 0  #: URLs of the log that it would have spared
    weighed: bool = True  #: admitted within the budget, by what the log shows; else only proposed


@dataclass(frozen=True, slots=True)
class Detected:
    """The edits found in the log of one site."""

    edits: Sequence[LikelyEdit] = ()
    tallies: Tallies = field(default_factory=dict)  #: what it shows of edits of a kind, for other sites
    asked: Answers = field(default_factory=dict)  #: what other sites were asked, and said


def detect_edits(log: SiteLog, params: EditParams, pool: Pool = NOTHING_POOLED) -> Detected:
    """The edits by descending support; of equal support, those that save more first. None without digests of
    contents.

    *pool*: evidence of other sites. It says how soon an edit is put on trial, and puts none on trial by itself.
    """
    if not any(page.text_digest for page in log.pages):
        return Detected()
    contents = sample(texts_of(log))
    # As for trials: a loss of less than one URL cannot be told from none.
    params = replace(params, budget=max(params.budget, 1 / len(contents)))
    consulted = Consulted(pool.sites)
    site = learn_edits(contents, params, log.redirects, consulted, canonicals=canonicals_of(log))
    learned = sorted(site.learned, key=lambda one: (-one.contents, -one.saves, str(one.edit)))
    found = dict.fromkeys(
        LikelyEdit(as_rule(one.edit), one.contents, one.saves) for one in learned if one.contents
    )
    known = {one.rule for one in found}
    wider = [
        LikelyEdit(rule, seen, saves, weighed=seen > contents_needed(rule.families, params.max_risk))
        for rule, seen, saves in joined_rules(contents, [one.edit for one in site.learned])
        if rule not in known
    ]
    everywhere = _edits_for_equal_words([page for page in log.pages if page.url in contents], known)
    return Detected((*wider, *found, *everywhere), site.tallies, consulted.given)


#: Pairs of different pages with the same words that suggest an edit, and with other words beside each of them at the most.
_ALIKE, _UNLIKE = 3, 0.1


def _edits_for_equal_words(pages: Iterable[Page], known: Collection[Rule]) -> list[LikelyEdit]:
    """Edits of kinds that hold on every site, where it is left to trials whether pages with the same words are one.

    Two hosts of one site link to themselves: as long as a log does not have the ends of these links, it does not tell
    whether the pages differ in them.
    """
    forms = [(parts_of(page.url), page) for page in pages if page.sketch]
    by_url = {form.url: page for form, page in forms}
    found = []
    for rule in (Rule((operation,)) for operation in EVERYWHERE):
        if rule in known or as_rule(rule) in known:
            continue
        moved: dict[str, Page] = {}
        alike = unlike = 0
        for form, page in forms:
            if (changed := rule.change(form)) is form:
                continue
            other = by_url.get(changed.url) or moved.setdefault(changed.url, page)
            if other is page or page.text_digest == other.text_digest:
                continue  # what the learner has weighed
            is_alike = page.sketch == other.sketch and page.title == other.title
            alike, unlike = alike + is_alike, unlike + (not is_alike)
        if alike >= _ALIKE and unlike <= _UNLIKE * alike:
            found.append(LikelyEdit(as_rule(rule), alike, alike, weighed=False))
    return found


def canonicals_of(log: SiteLog) -> dict[str, str]:
    """For each URL, the canonical URL that its page names."""
    return {page.url: page.canonical for page in log.pages if page.canonical}


def as_rule(edit: Rule) -> Rule:
    """*edit* in its standard form: equal edits are equal rules."""
    return Rule(tuple(one.as_written() for one in edit.operations)).under_guard(edit.guard)
