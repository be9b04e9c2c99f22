"""Traps: parts of a site that have no end and bring nothing new, recognised by the forms of their URLs."""
