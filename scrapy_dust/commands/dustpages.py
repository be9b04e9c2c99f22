"""``scrapy dustpages``: look after the store of contents, ``DUST_CONTENT_STORE``.

Only the standard library and Scrapy's own command class are imported here: every ``scrapy`` command imports
this module to list it.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from typing import Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

#: Each action: what stands after it, how many of these there must be and may be, and what it does.
ACTIONS: dict[str, tuple[str, int, int | None, str]] = {
    "list": ("", 0, 0, "the pages, a line each: when seen, what they are worth, signatures, URL"),
    "stats": ("", 0, 0, "how many pages of each site, and of which kind"),
    "find": ("URL ...", 1, None, "what the store has of these URLs"),
    "merge": (
        "STORE ...",
        1,
        None,
        "take over the pages of other stores that were seen later, or are not known",
    ),
    "purge": (
        "[URL ...]",
        0,
        None,
        "forget these URLs, or all of --site, or what was not seen for --older DAYS",
    ),
}


class Command(ScrapyCommand):
    requires_project = False
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_LEVEL": "WARNING"}

    def syntax(self) -> str:
        return f"<{'|'.join(ACTIONS)}> [options] [args]"

    def short_desc(self) -> str:
        return "List, merge and purge the page signatures of scrapy-dust"

    def long_desc(self) -> str:
        told = (f"{name} {syntax}".rstrip() + f": {what}" for name, (syntax, _, _, what) in ACTIONS.items())
        return f"Looks after the store of contents. {'; '.join(told)}."

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        group = parser.add_argument_group(title="Pages")
        group.add_argument(
            "--store", metavar="STORE", help="a file or a redis:// URL (default: DUST_CONTENT_STORE)"
        )
        group.add_argument("--site", metavar="HOST", help="pages of this site only")
        group.add_argument("--older", metavar="DAYS", help="pages that were not seen for so many days only")
        group.add_argument("--json", action="store_true", help="print JSON, an object a line")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        action, arguments = _action(args)
        from scrapy_dust.commands.output import accept_any_text, give_up  # noqa: PLC0415
        from scrapy_dust.commands.page_store import open_desk  # noqa: PLC0415
        from scrapy_dust.errors import DustError  # noqa: PLC0415

        assert self.settings is not None
        accept_any_text()
        try:
            desk = open_desk(self.settings, opts)
            getattr(desk, action)(*arguments)
            sys.stdout.flush()
        except ValueError as error:  # a setting or an option that cannot be meant
            raise UsageError(str(error), print_help=False) from None
        except DustError as error:
            print(f"scrapy dustpages: {error}", file=sys.stderr)
            self.exitcode = 1
        except OSError as error:
            give_up("dustpages", error)
            self.exitcode = 1
        except KeyboardInterrupt:
            print("scrapy dustpages: interrupted.", file=sys.stderr)
            self.exitcode = 1


def _action(args: list[str]) -> tuple[str, list[str]]:
    # Scrapy passes on what its parser does not know.
    unknown = [arg for arg in args if arg.startswith("-")]
    if unknown:
        raise UsageError(f"unrecognized arguments: {' '.join(unknown)}", print_help=False)
    if not args:
        raise UsageError(f"say what to do: {', '.join(ACTIONS)}", print_help=False)
    name, *arguments = args
    if name not in ACTIONS:
        near = difflib.get_close_matches(name, ACTIONS, n=1)
        remedy = f"Did you mean {near[0]!r}?" if near else f"Use one of {', '.join(ACTIONS)}."
        raise UsageError(f"there is no action {name!r}. {remedy}", print_help=False)
    syntax, least, most, _ = ACTIONS[name]
    if len(arguments) < least or (most is not None and len(arguments) > most):
        usage = f"scrapy dustpages {name} {syntax}".rstrip()
        raise UsageError(f"{name!r} got {len(arguments)} arguments. Use: {usage}", print_help=False)
    return name, arguments
