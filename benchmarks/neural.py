"""The network of SIGIR 2017 among the other methods, and behind the gate: the tables of docs/neural.md.

    python -m benchmarks.neural DATA [--lists A,B,…] [--methods A,B,…] [--output docs/neural.md]

DATA is as for `benchmarks/evaluation.py`. On each list the first three quarters are learned from and the rest is
crawled, which is the paper's 15,000 and 5,000 (table 2); then its five cases (table 3), on a site made for them; then the
seconds it takes to learn from 15,000 URLs, and how many are canonized in a second. One thread, unless OMP_NUM_THREADS
says otherwise; all needs `scrapy-dust[neural]`. ``--output`` replaces what follows the page's marker, and draws the
losses beside it.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import fmean

from benchmarks.curves import Curve, drawing
from benchmarks.logs import EXACT, STRICT, lists_in, load, name_of
from benchmarks.table3 import SITE, case_urls, log_of_cases
from scrapy_dust.learners.evaluation import Protocol, Score, Task, score_method, tasks_of, teach
from scrapy_dust.learners.interface import Learner
from scrapy_dust.learners.registry import LEARNERS, NETWORKS
from scrapy_dust.learners.seq2seq import Seq2Seq, ValidatedSeq2Seq
from scrapy_dust.neural.params import PAPER, PLUS
from scrapy_dust.neural.trained_models import trained_model
from scrapy_dust.neural.training_state import Epoch
from scrapy_dust.visits.pages import merge_visits

METHODS = {**LEARNERS, **NETWORKS}
_URLS = 15_000
_MARKER = "<!-- measured: benchmarks/neural.py -->\n"

Losses = dict[tuple[str, str], list[Epoch]]  #: by method and list


def table2(paths: Sequence[Path], methods: Sequence[str], losses: Losses) -> Iterator[str]:
    """The paper's table 2: precision, recall, F1; and what is lost, there and in the log that was learned from."""
    means: dict[str, list[Score]] = {method: [] for method in methods}
    for path in paths:
        visits, truths = load(path)
        tasks = tasks_of(visits, truths[EXACT], Protocol())
        seen = [
            replace(task, urls=[p.url for p in task.log.pages if p.url in truths[EXACT]]) for task in tasks
        ]
        yield f"### {name_of(path)}"
        yield ""
        yield "| method | precision | recall | F1 | lost | F1, strict | lost, strict | lost of what was learned from | CPU s to learn | URLs/s |"
        yield "|---|" + "---:|" * 9
        for method in methods:
            taught = list(teach(_watched(method, name_of(path), losses), tasks))
            exact, strict = (score_method(method, taught, truths[truth]) for truth in (EXACT, STRICT))
            again = [
                replace(one, task=task, keys={url: one.learned.key(url) for url in task.urls})
                for one, task in zip(taught, seen, strict=True)
            ]
            trained = score_method(method, again, truths[EXACT]).replay
            means[method].append(exact)
            crawl, per_second = exact.replay, 1e6 / exact.us_per_url if exact.us_per_url else 0.0
            yield (
                f"| {method} | {crawl.precision:.4f} | {crawl.recall:.4f} | {crawl.f1:.4f} | {crawl.lost:,} "
                f"| {strict.replay.f1:.4f} | {strict.replay.lost:,} | {trained.lost:,} | {exact.learn_seconds:.1f} | {per_second:,.0f} |"
            )
            print(name_of(path), method, crawl, f"{exact.learn_seconds:.1f} s", flush=True)
        yield ""
    yield from _means(means)


def _watched(method: str, name: str, losses: Losses) -> Learner:
    """The method, telling how its training goes."""
    learner = METHODS[method]()
    if isinstance(learner, Seq2Seq):
        told = losses.setdefault((method, name), [])
        return replace(learner, watch=lambda site, epoch, most: told.append(epoch))
    return learner


def _means(scores: dict[str, list[Score]]) -> Iterator[str]:
    yield "### All of them"
    yield ""
    yield "| method | mean precision | mean recall | mean F1 | lost |"
    yield "|---|" + "---:|" * 4
    for method, of_method in scores.items():
        crawls = [score.replay for score in of_method]
        cells = [
            f"{fmean(getattr(crawl, name) for crawl in crawls):.4f}" for name in ("precision", "recall", "f1")
        ]
        yield f"| {method} | {' | '.join(cells)} | {sum(crawl.lost for crawl in crawls):,} |"
    yield ""


_SAID = {
    1: "superfluous parameters",
    2: "substitution",
    3: "no substitution",
    4: "one constant page",
    5: "database mapping",
}


def table3(count: int = 20) -> Iterator[str]:
    """The paper's table 3: for how many URLs that the log has not a network writes the very URL that they should become.

    *Wrong* are those that become another page's; behind the gate there are keys, and no translations to compare.
    """
    log = log_of_cases()
    learned = [
        learner.learn(SITE, log)
        for learner in (Seq2Seq(PAPER), Seq2Seq(PLUS, "seq2seq-plus"), ValidatedSeq2Seq())
    ]
    cases = [case_urls(Random(seed)) for seed in range(count)]
    yield "| case | of | seq2seq | seq2seq-plus | wrong, seq2seq | wrong, seq2seq-plus | wrong, seq2seq-gated |"
    yield "|---|" + "---:|" * 6
    for number, said in _SAID.items():
        pairs = [case[number] for case in cases]
        right = [sum(one.key(source) == oracle for source, oracle in pairs) for one in learned[:2]]
        wrong = [sum(one.key(s) not in (s, o) for s, o in pairs) for one in learned[:2]]
        wrong.append(sum(learned[2].key(s) not in (s, learned[2].key(o)) for s, o in pairs))
        yield f"| {number} {said} | {count} | {' | '.join(map(str, [*right, *wrong]))} |"
    yield ""


def speed(path: Path) -> Iterator[str]:
    """Seconds to learn from 15,000 URLs, and URLs that get a key in a second."""
    visits, truths = load(path)
    site, of_site = max(visits.items(), key=lambda one: len(one[1]))
    urls = [page.url for page in merge_visits(of_site).pages]
    kept = set(urls[:_URLS])
    log = merge_visits(visit for visit in of_site if visit.url in kept)
    rest = [url for url in urls[_URLS : _URLS + 5000] if url in truths[EXACT]]
    task = Task(site, log, rest)
    yield f"From {len(kept):,} URLs of {name_of(path)}; then {len(rest):,} others, all at once and one by one."
    yield ""
    yield "| method | CPU s to learn | numbers | URLs/s, batched | URLs/s, one by one | URLs/s, each read for the first time |"
    yield "|---|" + "---:|" * 5
    for name, params in (("seq2seq", PAPER), ("seq2seq-plus", PLUS)):
        from scrapy_dust.neural.translator import Translator  # noqa: PLC0415  Needs PyTorch.

        began = time.process_time()
        model = trained_model(site, log, params)
        assert model is not None
        seconds = time.process_time() - began
        batched, single = Translator(model), Translator(model)
        rates = [
            len(rest) / _cpu(lambda batched=batched: batched.keys(rest)),
            len(rest) / _cpu(lambda single=single: [single.key(url) for url in rest]),
            200 / _cpu(lambda model=model: _unremembered(Translator(model), rest[:200])),
        ]
        yield (
            f"| {name} | {seconds:.1f} | {model.size:,} | "
            + " | ".join(f"{rate:,.0f}" for rate in rates)
            + " |"
        )
    [taught] = teach(METHODS["dust"](), [task])
    yield f"| dust | {taught.learn_seconds:.1f} | – | – | {len(rest) / taught.key_seconds:,.0f} | – |"
    yield ""


def _unremembered(translator: object, urls: Sequence[str]) -> None:
    for url in urls:
        translator._known.clear()  # type: ignore[attr-defined]
        translator.key(url)  # type: ignore[attr-defined]


def _cpu(work: object) -> float:
    began = time.process_time()
    work()  # type: ignore[operator]
    return time.process_time() - began


def draw(losses: Losses, folder: Path) -> Iterator[str]:
    """A drawing for each network: what is held out, as a share of its loss after the first epoch."""
    for method in dict.fromkeys(method for method, _ in losses):
        curves = []
        for (of_method, name), epochs in losses.items():
            held = [(one.number, one.held_out) for one in epochs if one.held_out is not None]
            if of_method == method and len(held) > 1 and held[0][1]:
                curves.append(Curve(name, [(float(x), min(1.0, y / held[0][1])) for x, y in held]))
        if curves:
            # As many as can be told apart, those that took longest.
            curves = sorted(curves, key=lambda one: -len(one.points))[:4]
            text = drawing("held-out loss, of the first epoch's", "epochs", curves)
            (folder / f"neural-{method}.svg").write_text(text, encoding="utf-8")
            yield f"![Losses of {method}](neural-{method}.svg)"
            yield ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--lists", help="A,B,… (default: all)")
    parser.add_argument("--methods", default=",".join(METHODS), help="A,B,… (default: all)")
    parser.add_argument("--parts", default="2,3,speed", help="of: 2,3,speed (default: all)")
    parser.add_argument("--output", type=Path, help="a Markdown page; the tables go below its marker")
    options = parser.parse_args()
    import torch  # noqa: PLC0415

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    paths = [p for p in lists_in(options.data) if not options.lists or name_of(p) in options.lists.split(",")]
    parts, losses, lines = options.parts.split(","), Losses(), list[str]()
    if "2" in parts:
        lines += ["## Table 2", "", *table2(paths, options.methods.split(","), losses)]
        if options.output:
            lines += ["## Losses", "", *draw(losses, options.output.parent)]
    if "3" in parts:
        lines += ["## Table 3", "", *table3()]
    if "speed" in parts:
        lines += ["## Speed", "", *speed(paths[-1])]
    if options.output:
        page = options.output.read_text(encoding="utf-8").partition(_MARKER)[0]
        options.output.write_text(page + _MARKER + "\n" + "\n".join(lines), encoding="utf-8")
    else:
        print("\n".join(lines))


if __name__ == "__main__":
    main()
