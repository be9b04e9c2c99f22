"""``scrapy dustpages``: look after the store of contents, ``DUST_CONTENT_STORE``.

Only the standard library and Scrapy's own command class are imported here: every ``scrapy`` command imports
this module to list it.
"""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, ClassVar

from scrapy_dust.commands.actions import Action, ActionCommand

if TYPE_CHECKING:
    from scrapy_dust.commands.page_store import Context

#: Options that say which pages are meant.
_WHICH = ("--site", "--older")


class Command(ActionCommand):
    name = "dustpages"
    subject = "the store of contents"
    actions: ClassVar[dict[str, Action]] = {
        "list": Action(
            "",
            "the pages, one a line: when last seen, kind (content, little or error), signature, URL",
            options=_WHICH,
        ),
        "stats": Action("", "the number of pages of each site, by kind", options=_WHICH),
        "find": Action("URL ...", "what the store has of these URLs", options=_WHICH),
        "merge": Action(
            "STORE ...", "add pages of other stores: unknown ones, and those that the other store saw later"
        ),
        "purge": Action(
            "[URL ...]",
            "remove these URLs, or all pages of --site, or pages not seen for --older DAYS",
            options=_WHICH,
        ),
    }
    examples = (
        "scrapy dustpages stats",
        "scrapy dustpages find https://www.example.org/",
        "scrapy dustpages purge --site example.org --older 90",
    )

    def short_desc(self) -> str:
        return "List, merge and purge the page signatures of scrapy-dust"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        group = parser.add_argument_group(title="Pages")
        group.add_argument(
            "--store", metavar="STORE", help="a file or a redis:// URL (default: DUST_CONTENT_STORE)"
        )
        group.add_argument("--site", metavar="HOST", help="pages of this site only")
        group.add_argument("--older", metavar="DAYS", help="pages that were not seen for so many days only")
        group.add_argument("--json", action="store_true", help="print JSON, an object a line")

    def context(self, opts: argparse.Namespace) -> AbstractContextManager[Context]:
        """The store of contents that the options name, open while the action runs."""
        from scrapy_dust.commands.page_store import open_context  # noqa: PLC0415

        assert self.settings is not None
        return open_context(self.settings, opts)
