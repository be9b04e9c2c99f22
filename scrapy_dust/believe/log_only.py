"""The evidence by which a rule is believed from the log alone, where nothing can be fetched or fetches have shown nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from scrapy_dust.believe.candidates import Candidate
from scrapy_dust.believe.validation import Pair, TrialParams
from scrapy_dust.propose.edits.edit_learning import EditParams
from scrapy_dust.propose.edits.edit_weighing import contents_needed
from scrapy_dust.rules.rule import Rule
from scrapy_dust.visits.outcomes import Outcome


def params_for_log_only(
    params: TrialParams,
    candidate: Candidate,
    rule: Rule,
    pairs: Sequence[Pair],
    saves: int,
    shows_elsewhere: Callable[[str], bool],
) -> TrialParams:
    """The parameters for a trial of *rule* by the log alone: how much support it needs, since no fetch tests it.

    Of an edit that the log has weighed, as much as its learner asks; of other rules, as many contents as prove a rule.
    *shows_elsewhere*: whether a text has several keys when the rule is in force.
    """
    params = replace(params, log_only=True)
    if candidate.accepted:
        return params
    texts = {pair.content for pair in pairs if pair.known is Outcome.SAME} - {None}
    if candidate.enough is None:
        needed = contents_needed(rule.families, EditParams().max_risk)
        return replace(params, min_support=max(params.min_support, needed))
    if len(texts) > 1:
        return replace(params, min_support=candidate.enough)
    is_one_page = _is_one_page(saves) and not any(shows_elsewhere(text) for text in texts if text)
    return replace(params, min_support=1) if texts and is_one_page else params


def _is_one_page(saves: int) -> bool:
    """Whether *saves* URLs that showed one text are enough to believe that the next URL shows it too.

    If n URLs all showed it, the next one does not with a probability of 1 / (n + 2) (Laplace). A text that other URLs
    show too may be a wall in front of pages: a captcha, a login.
    """
    return 1 / (saves + 3) <= EditParams().max_risk
