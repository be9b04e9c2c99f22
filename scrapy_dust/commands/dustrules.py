"""``scrapy dustrules``: look after the rule book.

Only the standard library and Scrapy's own command class are imported here: every ``scrapy`` command imports
this module to list it.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

if TYPE_CHECKING:
    from scrapy_dust.commands.desk import Desk

#: Each action: what stands after it, how many of these there must be and may be, and what it does.
ACTIONS: dict[str, tuple[str, int, int | None, str]] = {
    "list": ("", 0, 0, "the rules, a line each"),
    "show": ("[ID ...]", 0, None, "rules with all their evidence"),
    "explain": ("URL", 1, 1, "the key of a URL, the rules that lead there, and what became of it in crawls"),
    "keys": (
        "[FILE|-]",
        0,
        1,
        "key<TAB>URL for each URL of a file or stdin; URLs of one key are fetched once",
    ),
    "test": ("FILE", 1, 1, "whether each line 'URL, URL, same|different' holds"),
    "disable": ("ID ...", 1, None, "never apply these rules again"),
    "enable": ("ID ...", 1, None, "apply these rules again"),
    "forget": ("ID ...", 1, None, "take these rules and their evidence out of the book"),
    "requeue": ("ID ...", 1, None, "print what these rules suppressed, and have the next crawl fetch it"),
}


class Command(ScrapyCommand):
    requires_project = False
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_LEVEL": "WARNING"}

    def syntax(self) -> str:
        return f"<{'|'.join(ACTIONS)}> [options] [args]"

    def short_desc(self) -> str:
        return "List, explain, test and switch the rules of scrapy-dust"

    def long_desc(self) -> str:
        told = (f"{name} {syntax}".rstrip() + f": {what}" for name, (syntax, _, _, what) in ACTIONS.items())
        return f"Looks after the rule book. {'; '.join(told)}."

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        group = parser.add_argument_group(title="Rules")
        group.add_argument("--rules", metavar="PATH", help="the rule book (default: those of DUST_RULES)")
        group.add_argument(
            "--spider", metavar="NAME", help="requeue: only what crawls of this spider suppressed"
        )
        group.add_argument("--dry-run", action="store_true", help="requeue: print it, and do nothing else")
        group.add_argument("--json", action="store_true", help="print JSON, an object a line")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        action, arguments = _action(args)
        from scrapy_dust.commands.desk import desk_of  # noqa: PLC0415
        from scrapy_dust.commands.output import accept_any_text, give_up  # noqa: PLC0415
        from scrapy_dust.errors import DustError  # noqa: PLC0415

        assert self.settings is not None
        accept_any_text()
        try:
            desk = desk_of(self.settings, opts.rules, as_json=opts.json)
        except ValueError as error:  # a setting that cannot be meant
            raise UsageError(str(error), print_help=False) from None
        try:
            if action == "requeue":
                from scrapy_dust.commands.journals import requeue  # noqa: PLC0415

                requeue(desk, arguments, spider=opts.spider, dry_run=opts.dry_run)
            else:
                self.exitcode = _act(desk, action, arguments)
            sys.stdout.flush()
        except DustError as error:
            print(f"scrapy dustrules: {error}", file=sys.stderr)
            self.exitcode = 1
        except OSError as error:
            give_up("dustrules", error)
            self.exitcode = 1
        except KeyboardInterrupt:
            print("scrapy dustrules: interrupted.", file=sys.stderr)
            self.exitcode = 1


def _action(args: list[str]) -> tuple[str, list[str]]:
    # Scrapy passes on what its parser does not know.
    unknown = [arg for arg in args if arg.startswith("-") and arg != "-"]
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
        usage = f"scrapy dustrules {name} {syntax}".rstrip()
        raise UsageError(f"{name!r} got {len(arguments)} arguments. Use: {usage}", print_help=False)
    return name, arguments


def _act(desk: Desk, action: str, arguments: list[str]) -> int:
    """Do it; gives the exit status. Raises `DustError`."""
    from scrapy_dust.commands import changing, reviewing  # noqa: PLC0415
    from scrapy_dust.rule_book import Status  # noqa: PLC0415

    match action, arguments:
        case "list", _:
            reviewing.list_rules(desk)
        case "show", ids:
            reviewing.show(desk, ids)
        case "explain", [url]:
            reviewing.explain(desk, url)
        case "keys", names:
            reviewing.keys(desk, *names)
        case "test", [name]:
            return reviewing.test(desk, name)
        case "forget", ids:
            changing.forget(desk, ids)
        case _, ids:
            changing.switch(desk, ids, Status.DISABLED if action == "disable" else Status.VALID)
    return 0
