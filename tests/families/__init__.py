"""Generated sites whose truth is known: pages that must be told apart, and pages that must be seen to be one.

Each family is a function of chance: words, markup, names of parameters, forms of URLs and the share of pages that something is
about are drawn, so that nothing can be recognised by its spelling. `running` crawls them as a user would.
"""
