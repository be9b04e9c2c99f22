"""``scrapy dustcompletion``: what a shell needs to complete our commands, options and settings.

Only the standard library and Scrapy's own command class are imported here: every ``scrapy`` command imports
this module to list it.
"""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext
from typing import ClassVar

from scrapy_dust.commands.actions import Action, ActionCommand


class Command(ActionCommand):
    name = "dustcompletion"
    subject = "completion in shells"
    actions: ClassVar[dict[str, Action]] = {
        shell: Action("", f"print the completion for {shell}") for shell in ("bash", "zsh", "fish")
    }
    examples = (
        'eval "$(scrapy dustcompletion bash)"       in ~/.bashrc',
        'eval "$(scrapy dustcompletion zsh)"        in ~/.zshrc, after compinit',
        "scrapy dustcompletion fish > ~/.config/fish/completions/scrapy-dust.fish",
    )

    def short_desc(self) -> str:
        return "Print what a shell needs to complete the commands of scrapy-dust"

    def long_desc(self) -> str:
        return (
            "Prints a script that completes the commands, options and settings of scrapy-dust in bash, zsh or fish,"
            " beside whatever completes scrapy already."
        )

    def context(self, opts: argparse.Namespace) -> AbstractContextManager[None]:
        """No context: an action only needs the declarations of the commands."""
        return nullcontext()

    def act(self, context: None, name: str, arguments: list[str], opts: argparse.Namespace) -> None:
        """Print the script for the shell *name*."""
        from scrapy_dust.commands.shells import SCRIPTS  # noqa: PLC0415

        print(SCRIPTS[name](), end="")
