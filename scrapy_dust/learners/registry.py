"""All learners by name, in the order of tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scrapy_dust.dust.sketches import Similar
from scrapy_dust.learners.dustbuster import DustBuster
from scrapy_dust.learners.keep_all import KeepAll
from scrapy_dust.learners.learner import Learner
from scrapy_dust.learners.ours import Dust
from scrapy_dust.learners.standard import Standard, Surt

#: Each makes a learner with its source's parameters.
LEARNERS: Mapping[str, Callable[[], Learner]] = {
    "keepall": KeepAll,
    "standard": Standard,
    "surt": Surt,
    "dustbuster": DustBuster,
    "dustbuster-size": lambda: DustBuster(Similar.SIZE),
    "dust": Dust,
}
