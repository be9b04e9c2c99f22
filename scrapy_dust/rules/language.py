"""All operations of the language, by their names in a rule book."""

from __future__ import annotations

from scrapy_dust.rules import parameters, path_rewriting, paths, queries, spellings, substitution
from scrapy_dust.rules.operation import OPERATIONS

#: The modules that define operations.
ROOMS = (parameters, paths, queries, path_rewriting, spellings, substitution)

__all__ = ["OPERATIONS", "ROOMS"]
