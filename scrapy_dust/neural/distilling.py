"""Distilling: reads edits, which people understand, off the translations of a network.

Where the network gives several URLs one key, each of these URLs is compared with the URL that stands for them: edits
that could make the two the same are read off the pair as they are read off two URLs of one page. An edit that only
one translation suggests is no rule. Whether any of them is true, the log and the site decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from scrapy_dust.propose.edits.edit_proposals import Proposal, edits_between, pairs_of
from scrapy_dust.propose.edits.rewrite_proposals import rewrites
from scrapy_dust.rules.rule import Rule
from scrapy_dust.url.parts import parts_of

#: Edits that are read off translations at most, those that most translations suggest.
_MOST = 2000


def proposals_of(keys: Mapping[str, str]) -> list[Proposal]:
    """Edits that explain *keys*, the network's translation of each URL; always in the same order."""
    classes: dict[str, set[str]] = {}
    for url, key in keys.items():
        classes.setdefault(key, set()).add(url)
    seen: Counter[Rule] = Counter()
    pairs = []
    for key, urls in sorted(classes.items()):
        forms = [parts_of(url) for url in sorted(urls | {key})]
        if len(forms) > 1:
            of_class = list(pairs_of(forms))
            pairs += [(one, other, key) for one, other in of_class]
            seen.update({edit for one, other in of_class for edit in edits_between(one, other)})
    seen.update({Rule((rule,)): 2 for rule in rewrites(pairs)})
    often = sorted(
        (edit for edit, count in seen.items() if count > 1), key=lambda edit: (-seen[edit], edit.order)
    )
    # The pages that bear an edit out are those that the network has learned it from: one of them proves nothing.
    return [Proposal(edit, seen[edit]) for edit in sorted(often[:_MOST], key=lambda edit: edit.order)]
