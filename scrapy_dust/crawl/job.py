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

if TYPE_CHECKING:
    from scrapy import Request, Spider

    from scrapy_dust.crawl.filtering import Filtering
    from scrapy_dust.crawl.succession import Succession

logger = logging.getLogger(__name__)

STATE_FILE = "dust-classes.pickle"


def save(jobdir: str, spider: Spider, succession: Succession, filtering: Filtering) -> None:
    classes = succession.at_rest().dump(lambda heir: _frozen(heir, spider))
    state = {"classes": classes, "asked": array("Q", filtering.asked).tobytes()}
    unfinished = Path(jobdir, f"{STATE_FILE}.new")
    unfinished.write_bytes(pickle.dumps(state))
    unfinished.replace(Path(jobdir, STATE_FILE))


def restore(jobdir: str, spider: Spider, succession: Succession, filtering: Filtering) -> None:
    try:
        # No less safe than what lies beside it: Scrapy's queues there are pickles too.
        state: dict[str, Any] = pickle.loads(Path(jobdir, STATE_FILE).read_bytes())  # noqa: S301
    except FileNotFoundError:
        return
    succession.classes.load(state["classes"], lambda heir: request_from_dict(heir, spider=spider))
    asked = array("Q")
    asked.frombytes(state["asked"])
    filtering.asked.update(asked)


def _frozen(heir: Request, spider: Spider) -> dict[str, Any] | None:
    """*heir* as Scrapy's disk queues keep it; None if its callback is no method of the spider."""
    try:
        frozen = heir.to_dict(spider=spider)
        pickle.dumps(frozen)
    except (ValueError, TypeError, AttributeError, pickle.PicklingError) as error:
        logger.debug("Not kept for later: %(request)s (%(error)s).", {"request": heir, "error": error})
        return None
    return frozen
