"""Takes over the results of an earlier run for a site whose log has not changed.

The rules of phases 1 to 3 and the edits are taken over separately, since edits also depend on the evidence of other
sites: they are taken over where the other sites give the same answers again. The unit is the site: one more record can make an
envelope's bucket too large, or a rule the narrower of two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scrapy_dust.engines.input_digests import Circumstances, circumstances_of
from scrapy_dust.engines.kept_results import FILE, Memory, Part
from scrapy_dust.engines.local import Known, Mined
from scrapy_dust.engines.results_as_bytes import Ruled, edits_read, edits_written, rules_read, rules_written
from scrapy_dust.propose.edits.edit_detection import Detected
from scrapy_dust.propose.edits.pooling import Answers, Pool
from scrapy_dust.settings import DustSettings
from scrapy_dust.visits.pages import SiteLog


@dataclass(frozen=True, slots=True)
class Remembered:
    """The results of earlier runs that are valid in this one."""

    memory: Memory
    circumstances: Circumstances

    def of(self, site: str, log: SiteLog, pool: Pool) -> Known:
        """The results of earlier runs for *site*, if they are for exactly this *log*. *pool*: the evidence of the other
        sites.
        """
        key = self.circumstances.key(site, log)
        found = self.memory.find(site, {"rules": key, "edits": key})
        rules = rules_read(found["rules"]) if "rules" in found else None
        edits = edits_read(found["edits"]) if "edits" in found else None
        return Known(key, rules, edits if edits is not None and is_told_the_same(pool, edits.asked) else None)


def is_told_the_same(pool: Pool, asked: Answers) -> bool:
    """Whether *pool*, the evidence of other sites, would give again the answers *asked*, by which edits were found."""
    return pool.answers(asked) == asked


def remembered_in(state: Path, settings: DustSettings, *, redirects_count: bool) -> Remembered:
    """The results in the folder *state* that are valid with these settings."""
    return Remembered(Memory(str(state / FILE)), circumstances_of(settings, redirects_count=redirects_count))


def parts_of(mined: Mined) -> Iterator[Part]:
    """The parts of *mined* to save. Never raises: a part that cannot be written is mined again."""
    if mined.key is None:
        return
    known = mined.taken_over
    rules = (
        None if "rules" in known else rules_written(Ruled(mined.likely, mined.elimination, mined.parameters))
    )
    edits = None if "edits" in known else edits_written(Detected(mined.edits, mined.tallies, mined.asked))
    if rules is not None or "rules" in known:
        yield Part(mined.site, "rules", mined.key, rules)
    if edits is not None or "edits" in known:
        yield Part(mined.site, "edits", mined.key, edits)
