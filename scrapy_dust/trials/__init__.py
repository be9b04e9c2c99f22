"""Trials of rules: pages are fetched, politely and within a budget, until each rule is proved or refuted."""
