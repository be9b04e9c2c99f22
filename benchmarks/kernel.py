"""Phases 1 and 2 on one site of many URLs: ``python -m benchmarks.kernel [URLS …] [--transcription URLS]``.

CPU time of each step and the peak memory of the process, each size in a process of its own. URLs have 25 tokens in
the mean; pages have several of them, by rules of the site, with numbers and session ids as sites have them. With
``--transcription``, the literal transcription of the papers' figures (`tests/oracle.py`) does the same for so many
URLs of the same site, and its rules must be the same.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import time

from scrapy_dust.propose.dustbuster.detection import DetectionParams, detect_likely_rules
from scrapy_dust.propose.dustbuster.elimination import EliminationParams, eliminate_redundant
from scrapy_dust.propose.dustbuster.likely_rules import LikelyRule
from scrapy_dust.propose.dustbuster.sketches import Similar
from scrapy_dust.propose.dustbuster.token_arrays import tokens_of
from scrapy_dust.visits.pages import Page
from tests import oracle

WORDS = tuple(f"w{number}" for number in range(400))


def site_urls(count: int) -> list[str]:
    """Of one site, in the order in which a crawl may find them."""
    chance = random.Random(7)
    made: dict[str, None] = {}
    while len(made) < count:
        for form in _forms(chance, count):
            host = chance.choice(("www.site.test", "www.site.test", "site.test"))
            made[f"http://{host}/{form}"] = None
            if chance.random() < 0.2:
                made |= dict.fromkeys((f"http://www.site.test/{form}", f"http://site.test/{form}"))
    return list(made)[:count]


def _forms(chance: random.Random, count: int) -> list[str]:
    folder = "/".join(chance.choices(WORDS, k=chance.choice((2, 3, 4))))
    number = chance.randrange(10 * count)
    kind = chance.randrange(3)
    if kind == 0:
        joints = ("_", "?id=", ".php?id=")[: chance.randint(1, 3)]
        forms = [f"{folder}/story{joint}{number}" for joint in joints]
    elif kind == 1:
        forms = [f"{folder}/list.php?cat={chance.choice(WORDS)}&page={chance.randrange(50)}"]
    else:
        forms = [f"{folder}/item-{chance.choice(WORDS)}-{number}.html"]
    if chance.random() < 0.3:
        forms.append(f"{forms[0]}{'&' if '?' in forms[0] else '?'}sid={chance.randrange(1000)}")
    return forms


def mine(urls: list[str]) -> tuple[list[LikelyRule], tuple[LikelyRule, ...], list[float]]:
    """Rules after phases 1 and 2, and the CPU seconds of each phase."""
    pages = [Page(url) for url in urls]
    begun = time.process_time()
    likely = detect_likely_rules(pages, DetectionParams(similar=Similar.NONE))
    detected = time.process_time()
    kept = eliminate_redundant(likely, EliminationParams()).kept
    return likely, kept, [detected - begun, time.process_time() - detected]


def measure(count: int) -> None:
    urls = site_urls(count)
    before = _peak()
    begun = time.process_time()
    tokens = tokens_of(urls)
    tokenized, mean = time.process_time() - begun, len(tokens.ids) / count - 2
    del tokens
    likely, kept, (phase_1, phase_2) = mine(urls)
    print(
        f"{count} URLs of {mean:.1f} tokens: phase 1 {phase_1:.2f} s of CPU, {phase_1 / count * 1e6:.1f} µs a URL "
        f"(of it {tokenized:.2f} s to read tokens), phase 2 {phase_2:.2f} s; {len(likely)} likely, {len(kept)} kept; "
        f"memory {before} MB with the URLs, {_peak()} MB at the peak",
        flush=True,
    )


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def transcribe(count: int) -> None:
    urls = site_urls(count)
    _, kept, taken = mine(urls)
    begun = time.process_time()
    records = oracle.unique_records([{"url": url} for url in urls])
    theirs = oracle.kept_rules(records, 35, 6, 11, 3, 0.05, 1, 1100, oracle.likely_similar_always)
    literal = time.process_time() - begun
    same = list(map(printed, kept)) == [pair.printed() for pair in theirs]
    print(
        f"{count} URLs: {sum(taken):.2f} s against {literal:.1f} s of the literal transcription, "
        f"{literal / sum(taken):.0f} times as fast; {len(kept)} and {len(theirs)} rules kept, "
        f"{'the same' if same else 'OTHERS'} in the same order"
    )


def printed(one: LikelyRule) -> tuple[str, str, bool, bool, int]:
    """As the transcription has it."""
    return one.rule.alpha, one.rule.beta, one.rule.start, one.rule.end, one.support


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernel", description=__doc__.splitlines()[0])
    parser.add_argument("urls", type=int, nargs="*")
    parser.add_argument("--transcription", type=int, metavar="URLS")
    options = parser.parse_args()
    tasks = [(measure, count) for count in options.urls]
    if options.transcription:
        tasks.append((transcribe, options.transcription))
    for task, count in tasks:
        process = multiprocessing.get_context("spawn").Process(target=task, args=(count,))
        process.start()
        process.join()


if __name__ == "__main__":
    main()
