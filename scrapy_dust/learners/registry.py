"""All learners by name, in the order of tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scrapy_dust.learners.crawl_keys import InCrawl, key_in_scrapy
from scrapy_dust.learners.dta import Dta
from scrapy_dust.learners.dust_learner import Dust
from scrapy_dust.learners.dustbuster import DustBuster
from scrapy_dust.learners.duster import Duster
from scrapy_dust.learners.entropy import Entropy
from scrapy_dust.learners.interface import FixedKeys, Learner
from scrapy_dust.learners.maybe_dont import MaybeDont
from scrapy_dust.learners.no_validation import NoValidation
from scrapy_dust.learners.pattern_tree import PatternTree
from scrapy_dust.learners.ra import Ra
from scrapy_dust.learners.seq2seq import Seq2Seq, ValidatedSeq2Seq
from scrapy_dust.learners.standard_keys import standard_key, surt_key
from scrapy_dust.neural.params import PLUS
from scrapy_dust.propose.dustbuster.sketches import Similar
from scrapy_dust.rule_book.priors import priors_of_package
from scrapy_dust.settings import DustSettings

#: Each makes a learner with its source's parameters.
LEARNERS: Mapping[str, Callable[[], Learner]] = {
    "keepall": lambda: FixedKeys("keepall"),
    "scrapy": lambda: FixedKeys("scrapy", key_in_scrapy),
    "standard": lambda: FixedKeys("standard", standard_key),
    "surt": lambda: FixedKeys("surt", surt_key),
    "dustbuster": DustBuster,
    "dustbuster-size": lambda: DustBuster(Similar.SIZE),
    "ra": Ra,
    "dta": Dta,
    "patterntree": PatternTree,
    "duster": Duster,
    "entropy": Entropy,
    "maybedont": MaybeDont,
    "dustmine": lambda: NoValidation(pool=priors_of_package()),
    "dustmine-plain": lambda: NoValidation(DustSettings(learner="dustbuster"), "dustmine-plain"),
    "dust": lambda: Dust(pool=priors_of_package()),
    "dust-crawl": lambda: InCrawl(Dust(pool=priors_of_package()), "dust-crawl"),
    "dust-near": lambda: Dust(near=True, pool=priors_of_package(), name="dust-near"),
    "dust-bold": lambda: Dust(max_loss=0.01, max_risk=0.25, pool=priors_of_package(), name="dust-bold"),
    "dust-alone": lambda: Dust(name="dust-alone"),
}

#: Learners that train a network, which needs PyTorch and minutes: they run only if a user names them.
NETWORKS: Mapping[str, Callable[[], Learner]] = {
    "seq2seq": Seq2Seq,
    "seq2seq-plus": lambda: Seq2Seq(PLUS, "seq2seq-plus"),
    "seq2seq-gated": lambda: ValidatedSeq2Seq(pool=priors_of_package()),
}
