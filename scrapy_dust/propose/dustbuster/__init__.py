"""Phases 1 to 3 of DustBuster (WWW'07): finds likely rules, redundant rules and likely parameters in the URLs of a log."""
