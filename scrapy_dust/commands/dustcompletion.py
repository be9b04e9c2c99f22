"""``scrapy dustcompletion``: what a shell needs to complete our commands, options and settings.

Only the standard library and Scrapy's own command class are imported here: every ``scrapy`` command imports
this module to list it.
"""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext
from typing import ClassVar

from scrapy_dust.commands.actions import Action, ActionCommand
from scrapy_dust.commands.examples import add_examples


class Command(ActionCommand):
    name = "dustcompletion"
    subject = "completion in shells"
    actions: ClassVar[dict[str, Action]] = {
        shell: Action("", 0, 0, f"print the completion for {shell}") for shell in ("bash", "zsh", "fish")
    }

    def short_desc(self) -> str:
        return "Print what a shell needs to complete the commands of scrapy-dust"

    def long_desc(self) -> str:
        return (
            "Prints a script that completes the commands, options and settings of scrapy-dust in bash, zsh or fish,"
            " beside whatever completes scrapy already."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add_examples(
            parser,
            (
                'eval "$(scrapy dustcompletion bash)"       in ~/.bashrc',
                'eval "$(scrapy dustcompletion zsh)"        in ~/.zshrc, after compinit',
                "scrapy dustcompletion fish > ~/.config/fish/completions/scrapy-dust.fish",
            ),
        )

    def context(self, opts: argparse.Namespace) -> AbstractContextManager[None]:
        return nullcontext()

    def act(self, context: None, action: str, arguments: list[str], opts: argparse.Namespace) -> int:
        from scrapy_dust.commands.shells import SCRIPTS  # noqa: PLC0415

        print(SCRIPTS[action](), end="")
        return 0
