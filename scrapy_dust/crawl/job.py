"""What a paused job must not forget: the classes without a page, their heirs, and which URLs were asked for.

Kept in the JOBDIR beside Scrapy's own files and, as its disk queues are, as pickles. It is written when the
crawl stops; a crawl that is killed forgets what Scrapy's memory queue forgets. An older state does no harm: the
worst it does is to fetch an alias again.
"""

from __future__ import annotations

import logging
import pickle
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.utils.request import request_from_dict

from scrapy_dust.crawl.heirs import freeze

if TYPE_CHECKING:
    from scrapy import Request, Spider

    from scrapy_dust.crawl.filtering import Filtering
    from scrapy_dust.crawl.succession import Succession
    from scrapy_dust.crawl.unfiltered import Unfiltered

logger = logging.getLogger(__name__)

STATE_FILE = "dust-classes.pickle"


def save(
    jobdir: str, spider: Spider, succession: Succession, filtering: Filtering, unfiltered: Unfiltered
) -> None:
    forgotten: list[Request] = []

    def frozen(heir: Request) -> dict[str, Any] | None:
        kept = freeze(heir, spider)
        if kept is None:
            forgotten.append(heir)
        return kept

    state = {
        "classes": succession.at_rest().dump(frozen),
        "asked": array("Q", filtering.asked).tobytes(),
        "unfiltered": unfiltered.callbacks,
    }
    unfinished = Path(jobdir, f"{STATE_FILE}.new")
    unfinished.write_bytes(pickle.dumps(state))
    unfinished.replace(Path(jobdir, STATE_FILE))
    if forgotten:
        logger.warning(
            "%(count)d aliases of pages that have not come are forgotten with this pause, the first is %(first)s: "
            "only requests whose callback is a method of the spider can be kept, as in Scrapy's own queues.",
            {"count": len(forgotten), "first": forgotten[0]},
            extra={"spider": spider},
        )


def restore(
    jobdir: str, spider: Spider, succession: Succession, filtering: Filtering, unfiltered: Unfiltered
) -> None:
    try:
        # No less safe than what lies beside it: Scrapy's queues there are pickles too.
        state: dict[str, Any] = pickle.loads(Path(jobdir, STATE_FILE).read_bytes())  # noqa: S301
    except FileNotFoundError:
        return
    succession.classes.load(state["classes"], lambda heir: request_from_dict(heir, spider=spider))
    asked = array("Q")
    asked.frombytes(state["asked"])
    filtering.asked.update(asked)
    unfiltered.callbacks.update(state["unfiltered"])
