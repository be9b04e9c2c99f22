"""The network of Xu, Liu and Callan (SIGIR 2017) as a learner, alone and with its proposals validated.

As published, what the network says is the key, and nothing asks whether it is true. Behind the gate it only suggests:
what it maps together is read as edits, and those are believed that contents bear out, within what `dust` leaves of
the loss budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from scrapy_dust.learners.dust_learner import Dust
from scrapy_dust.learners.interface import Learned, key_unchanged, learned_by_rules
from scrapy_dust.neural.distilling import proposals_of
from scrapy_dust.neural.params import PAPER, PLUS, NetworkParams
from scrapy_dust.neural.torch_extra import require_torch
from scrapy_dust.neural.trained_models import Watch, ignore_progress, trained_model
from scrapy_dust.propose.edits.edit_detection import canonicals_of
from scrapy_dust.propose.edits.edit_learning import EditParams, learn_edits
from scrapy_dust.propose.edits.edit_proposals import Proposal
from scrapy_dust.propose.edits.pooling import NOTHING_POOLED, Pool
from scrapy_dust.visits.pages import SiteLog, texts_of, with_redirects


@dataclass(frozen=True, slots=True)
class Seq2Seq:
    """The network of the paper as a learner."""

    params: NetworkParams = PAPER
    name: str = "seq2seq"
    watch: Watch = ignore_progress  #: is told of each epoch

    def learn(self, site: str, log: SiteLog) -> Learned:
        """Train the network on *log*. Its translation of a URL is the URL's key, whether or not that is true."""
        require_torch()
        model = trained_model(site, log, self.params, watch=self.watch)
        if model is None:
            return Learned(key_unchanged)
        from scrapy_dust.neural.translator import Translator  # noqa: PLC0415  Needs PyTorch.

        told = f"a network of {model.size:,} numbers and {len(model.vocabulary.functions):,} tokens"
        return Learned(Translator(model).key, (told,))


@dataclass(frozen=True, slots=True)
class ValidatedSeq2Seq:
    """The rules that the learner `dust` finds, followed by the rules that the network proposes."""

    params: NetworkParams = PLUS
    pool: Pool = NOTHING_POOLED
    name: str = "seq2seq-gated"
    edits: EditParams = field(default_factory=EditParams)

    def learn(self, site: str, log: SiteLog) -> Learned:
        """Learn the rules of the learner `dust`, then those that the trained network proposes and *log* bears out."""
        require_torch()
        proposed = _network_proposals(site, log, self.params)
        if not proposed:
            return Dust(pool=self.pool).learn(site, log)
        contents = texts_of(log)
        pool, canonicals = self.pool.without(site), canonicals_of(log)
        first = learn_edits(contents, self.edits, log.redirects, pool, canonicals=canonicals)
        left = self.edits.budget - sum(one.risk * one.saves for one in first.learned) / max(1, len(contents))
        rest = replace(self.edits, budget=max(0.0, left))
        found = learn_edits(contents, rest, pool=pool, before=first.function.rules, more=proposed).function
        return learned_by_rules(site, found.rules)


def _network_proposals(site: str, log: SiteLog, params: NetworkParams) -> Sequence[Proposal]:
    """The edits that a network proposes which is trained on *log*; none where *log* has nothing to learn from."""
    model = trained_model(site, log, params)
    if model is None:
        return ()
    from scrapy_dust.neural.translator import Translator  # noqa: PLC0415

    return proposals_of(Translator(model).keys([page.url for page in with_redirects(log)]))
