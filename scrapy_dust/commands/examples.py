"""Prints examples at the end of a command's ``--help``, one a line, without wrapping them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from scrapy.commands import ScrapyHelpFormatter


class _WithExamples(ScrapyHelpFormatter):
    """Scrapy's formatter of help, which leaves the lines of examples as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith("Examples") else super()._fill_text(text, width, indent)


def add_examples(parser: argparse.ArgumentParser, examples: Sequence[str]) -> None:
    """Add *examples* to the help of *parser*."""
    parser.formatter_class = _WithExamples
    parser.epilog = "\n".join(["Examples", "========", *(f"  {example}" for example in examples)])
