"""Makes proposals for `dustmine` by a network: it is trained on a site's log, asked about the log's URLs, and read as
edits.

Proposed is what would merge at least as many pages as any likely rule must, and few that the log shows to be
different. That spares the trials what they would refute at once; whether it is true they decide, as of any rule.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from scrapy_dust.neural.distilling import proposals_of
from scrapy_dust.neural.params import VARIANTS, NetworkParams
from scrapy_dust.neural.trained_models import Watch, ignore_progress, trained_model
from scrapy_dust.neural.training_pairs import clusters_of
from scrapy_dust.propose.edits.classes import Effect, classes_of
from scrapy_dust.propose.edits.edit_detection import LikelyEdit, as_rule
from scrapy_dust.rules.rule import Rule
from scrapy_dust.visits.pages import SiteLog

#: Edits of a site at most.
_MOST = 100
#: So many pages must be merged rightly for each that is merged wrongly. Simhashes miss pages that are one, so that not all
#: that seems wrong is: the trials look closer.
_RIGHTLY = 2


def params_of(variant: str, epochs: int | None) -> NetworkParams:
    """The parameters of a *variant*, with so many *epochs* if given."""
    params = VARIANTS[variant]
    return params if epochs is None else replace(params, epochs=epochs)


def proposed_edits(
    site: str,
    log: SiteLog,
    params: NetworkParams,
    *,
    least: int,
    folder: Path | None = None,
    watch: Watch = ignore_progress,
) -> list[LikelyEdit]:
    """Edits by descending support of *least* or more, from a model that is trained, or taken from *folder*."""
    model = trained_model(site, log, params, folder=folder, watch=watch)
    if model is None:
        return []
    from scrapy_dust.neural.translator import Translator  # noqa: PLC0415  Needs PyTorch.

    clusters = clusters_of(log)
    keys = Translator(model).keys(url for urls in clusters for url in urls)
    contents = {url: number for number, urls in enumerate(clusters) for url in urls}
    return likely_edits(keys, contents, least)


def likely_edits(keys: Mapping[str, str], contents: Mapping[str, Hashable], least: int) -> list[LikelyEdit]:
    """Edits that explain *keys*, the network's translation of each URL. *contents*: the page of each URL."""
    classes = classes_of(contents)
    found: dict[frozenset[tuple[str, str]], tuple[Rule, Effect]] = {}
    for proposal in proposals_of(keys):
        effect = classes.effect(proposal.edit)
        if effect.contents >= least and len(effect.good) >= _RIGHTLY * len(effect.bad):
            # Of edits that do the same, the first in order says it in the plainest way.
            found.setdefault(frozenset(effect.moved.items()), (proposal.edit, effect))
    return _best_edits(list(found.values()))


def _best_edits(found: Sequence[tuple[Rule, Effect]]) -> list[LikelyEdit]:
    """The edits that would merge most pages, as likely edits."""
    ordered = sorted(found, key=lambda one: (-one[1].contents, -one[1].saves, one[0].order))
    return [
        LikelyEdit(as_rule(edit), effect.contents, effect.saves, weighed=False)
        for edit, effect in ordered[:_MOST]
    ]
