"""Phase 1 against the same in DuckDB's SQL and in Polars: ``python -m benchmarks.engines 200000 [--engine duckdb polars]``.

Needs ``duckdb`` and ``polars``, which the package itself does without. Each engine does what figure 1 says, in joins:
the envelopes of all substrings, buckets of 2 to 11, their pairs, and what has support. Where tokens begin is handed
to the engines, and only hashes of what stands between is compared; ours reads tokens, proves what hashes say, and makes
rules. All must find as many rules, with the same supports. CPU time, wall time and memory of a process each.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections import Counter
from collections.abc import Callable

from benchmarks.kernel import site_urls
from scrapy_dust.propose.dustbuster.detection import DetectionParams, detect_likely_rules
from scrapy_dust.propose.dustbuster.sketches import Similar
from scrapy_dust.url.tokens import tokenize
from scrapy_dust.visits.pages import Page

Supports = Counter[int]
PARAMS = DetectionParams(similar=Similar.NONE)


def ours(urls: list[str]) -> Callable[[], Supports]:
    return lambda: Counter(
        likely.support for likely in detect_likely_rules([Page(url) for url in urls], PARAMS)
    )


def _cuts(urls: list[str]) -> dict[str, list[object]]:
    """Each URL with an anchor on both sides, and where its tokens begin; the last entry is its end."""
    columns: dict[str, list[object]] = {"id": [], "text": [], "cuts": []}
    for number, url in enumerate(urls):
        tokens = ["\x02", *tokenize(url), "\x03"]
        cuts = [0]
        for token in tokens:
            cuts.append(cuts[-1] + len(token))
        columns["id"].append(number)
        columns["text"].append("".join(tokens))
        columns["cuts"].append(cuts)
    return columns


# DuckDB's own `hash` is the same for '?cat=w399&page=45' and '?cat=w309&page=35', and for more pairs of this kind.
_SQL = f"""
with cut as (select id, text, len(cuts) - 1 as n, unnest(cuts) as place, unnest(range(len(cuts))) as i from urls),
prefixes as (select id, n, i as p, md5_number_lower(substr(text, 1, place)) as before from cut),
suffixes as (select id, i as e, md5_number_lower(substr(text, place + 1)) as after from cut),
envelopes as (
    select id, p, e, before, after, n from prefixes join suffixes using (id)
    where e between p and p + {PARAMS.max_substring}
),
shared as (
    select before, after, p, n - e as s, count(*) as size from envelopes group by all
    having count(*) between 2 and {PARAMS.bucket_high}
),
members as (
    select before, after, p, s, size, id, md5_number_lower(substr(text, cuts[p + 1] + 1, cuts[e + 1] - cuts[p + 1])) as key
    from (select *, n - e as s from envelopes) join shared using (before, after, p, s) join urls using (id)
),
pairs as (
    select least(a.key, b.key) as one, greatest(a.key, b.key) as other, a.size <= {PARAMS.bucket_low} as low
    from members a join members b using (before, after, p, s) where a.id < b.id
),
rules as (select count(*) filter (low) as support from pairs group by one, other)
select support, count(*) from rules where support >= {PARAMS.min_support} group by support
"""


def duckdb(urls: list[str]) -> Callable[[], Supports]:
    import duckdb as engine  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415

    connection = engine.connect()
    connection.execute("set threads = 2")
    connection.register("given", pa.table(_cuts(urls)))
    connection.execute("create table urls as select * from given")
    return lambda: Counter(dict(connection.execute(_SQL).fetchall()))


def polars(urls: list[str]) -> Callable[[], Supports]:
    import polars as pl  # noqa: PLC0415

    frame = pl.DataFrame(_cuts(urls), schema={"id": pl.UInt32, "text": pl.String, "cuts": pl.List(pl.UInt32)})
    return lambda: _in_polars(frame)


def _in_polars(frame):
    import polars as pl  # noqa: PLC0415

    cut = (
        frame.lazy()
        .with_columns(
            n=pl.col("cuts").list.len() - 1, i=pl.int_ranges(pl.col("cuts").list.len(), dtype=pl.UInt32)
        )
        .explode("cuts", "i")
    )
    prefixes = cut.select(
        "id", "n", p="i", before=pl.col("text").str.slice(0, pl.col("cuts")).hash(), begin="cuts"
    )
    suffixes = cut.select("id", e="i", after=pl.col("text").str.slice(pl.col("cuts")).hash(), end="cuts")
    where = (pl.col("e") >= pl.col("p")) & (pl.col("e") - pl.col("p") <= PARAMS.max_substring)
    envelope = ["before", "after", "p", "s"]
    envelopes = prefixes.join(suffixes, on="id").filter(where).with_columns(s=pl.col("n") - pl.col("e"))
    shared = (
        envelopes.group_by(envelope)
        .agg(size=pl.len())
        .filter(pl.col("size").is_between(2, PARAMS.bucket_high))
    )
    members = (
        envelopes.join(shared, on=envelope)
        .join(frame.lazy().select("id", "text"), on="id")
        .select(
            *envelope,
            "id",
            "size",
            key=pl.col("text").str.slice(pl.col("begin"), pl.col("end") - pl.col("begin")).hash(),
        )
    )
    pairs = (
        members.join(members, on=envelope, suffix="_b")
        .filter(pl.col("id") < pl.col("id_b"))
        .select(
            one=pl.min_horizontal("key", "key_b"),
            other=pl.max_horizontal("key", "key_b"),
            low=pl.col("size") <= PARAMS.bucket_low,
        )
    )
    rules = pairs.group_by("one", "other").agg(support=pl.col("low").sum())
    found = rules.filter(pl.col("support") >= PARAMS.min_support).group_by("support").len()
    return Counter(dict(found.collect(engine="streaming").rows()))


ENGINES = {"ours": ours, "duckdb": duckdb, "polars": polars}


def measure(engine: str, count: int, results) -> None:
    run = ENGINES[engine](site_urls(count))
    begun, at = time.process_time(), time.perf_counter()
    supports = run()
    cpu, wall = time.process_time() - begun, time.perf_counter() - at
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    results.put((engine, cpu, wall, peak, dict(supports)))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engines", description=__doc__.splitlines()[0])
    parser.add_argument("urls", type=int)
    parser.add_argument("--engine", nargs="+", choices=("duckdb", "polars"), default=["duckdb", "polars"])
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    found = []
    for engine in ("ours", *options.engine):
        process = context.Process(target=measure, args=(engine, options.urls, results))
        process.start()
        found.append(results.get())
        process.join()
    (_, cpu_of_ours, wall_of_ours, _, supports) = found[0]
    for engine, cpu, wall, peak, theirs in found:
        same = "the same" if theirs == supports else "OTHER"
        print(
            f"{engine}, {options.urls} URLs: {cpu:.1f} s of CPU, {cpu / cpu_of_ours:.1f} times ours; {wall:.1f} s, "
            f"{wall / wall_of_ours:.1f} times; {peak} MB; {sum(theirs.values())} rules, {same} supports",
            flush=True,
        )


if __name__ == "__main__":
    main()
