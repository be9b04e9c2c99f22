"""Every element of the five papers, and where it is: the one list that `docs/generate.py` makes the table of."""

from __future__ import annotations

from dataclasses import dataclass

WWW, THESIS, POSTER, XXHASH, SIGIR = "WWW'07", "thesis", "WWW'06", "XXHASH", "SIGIR'17"
EXACT = "exact"


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a paper."""

    paper: str
    section: str
    what: str
    #: ``module:name`` below `scrapy_dust`, or below `benchmarks`; none: it is not built.
    where: tuple[str, ...]
    how: str = EXACT  #: or how it deviates
    said: str = ""  #: the page, below `docs`, that says so


# fmt: off
ELEMENTS = (
    # -- DustBuster: the problem
    Element(WWW, "§3; thesis 3", "tokens, ^ and $", ("url.tokens:tokenize", "propose.dustbuster.token_arrays:tokens_of"), "ASCII letters and digits; anchors are ids, never text", "method.md"),
    Element(WWW, "§3", "URL list: URL, status, size, sketch; valid URLs", ("visits.pages:merge_visits",), "redirects are no pages of phases 1 and 2", "method.md"),
    Element(WWW, "§3, definition 3.1", "substring substitution rules and their instances", ("rules.substitution:Substitute",)),
    Element(WWW, "§3; thesis 3", "parameter substitution rules: one value, or none", ("rules.parameters:DropParameter", "rules.parameters:SetParameter")),
    Element(WWW, "§3", "similar documents: resemblance by shingles", ("believe.paper_validation:sketches_agree",), 'with the test "paper"; else all that a spider could take', "validation.md"),
    Element(WWW, "§3", "canonization as a dominating set, which is NP-hard", ("rules.canonizer:Canonizer",), "a key need be no URL of the site, so that nothing is dominated", "method.md"),
    Element(WWW, "§3", "precision", ("learners.measures:precision_at",)),
    Element(WWW, "§3", "discovered redundancy", ("learners.measures:Replay.redundancy",)),
    Element(WWW, "§3", "coverage", ("learners.measures:Replay.coverage",)),
    Element(THESIS, "3", "complexity: time, storage, memory, pages fetched", ("engines.laps:Laps",), "measured", "speed.md"),
    # -- the heuristics
    Element(WWW, "§4; thesis 4.1", "large support", ("propose.dustbuster.detection:detect_likely_rules",)),
    Element(WWW, "§4, theorem 4.1", "support as shared envelopes", ("propose.dustbuster.envelopes:bare_instances",)),
    Element(WWW, "§4; thesis 4.1", "semiperiodic and empty strings overestimate", ("propose.dustbuster.growth:Growth",)),
    Element(WWW, "§4; thesis 4.2", "small buckets: T", ("propose.dustbuster.detection:DetectionParams",)),
    Element(WWW, "§4; thesis 4.3", "similarity likeliness by sketches", ("propose.dustbuster.sketches:Likeness",)),
    Element(WWW, "§4; thesis 4.3", "similarity likeliness by ranges of sizes", ("propose.dustbuster.sketches:Likeness",)),
    Element(POSTER, "§1", "URLs of many rules' instances have less credibility", ("propose.dustbuster.detection:DetectionParams",), "as the later papers have it: small buckets", "method.md"),
    # -- phases 1 to 3
    Element(WWW, "figure 1; thesis 5.1", "DetectLikelyRules", ("propose.dustbuster.detection:detect_likely_rules",), "same result without a table of substrings", "method.md"),
    Element(WWW, "§5.1", "S and MS", ("propose.dustbuster.detection:DetectionParams",)),
    Element(WWW, "proposition 5.1", "time and space quasi-linear", ("propose.dustbuster.detection:detect_likely_rules",), "measured", "speed.md"),
    Element(WWW, "§5.2, definition 5.2, lemma 5.3", "refinement", ("rules.substitution:refines", "rules.substitution:pair_refines")),
    Element(WWW, "§5.2", "T_low and T_high", ("propose.dustbuster.detection:detect_in_sites",), "in one pass", "method.md"),
    Element(WWW, "figure 2; thesis 5.2", "EliminateRedundancies", ("propose.dustbuster.elimination:eliminate_redundant",), "same result, by hashes", "method.md"),
    Element(WWW, "§5.2", "MRD, MAD and MW", ("propose.dustbuster.elimination:EliminationParams",)),
    Element(THESIS, "5.3", "likely parameters, from buckets", ("propose.dustbuster.likely_parameters:detect_likely_parameters",), "`;` separates too; a bucket of n values costs n", "method.md"),
    # -- phase 4
    Element(WWW, "figure 3; thesis 5.3", "ValidateRule", ("believe.paper_validation:LiteralTrial", "judge.inquiry:fetch_both"), 'with the test "paper"; else a bet', "validation.md"),
    Element(WWW, "§5.3", "N and ε", ("believe.paper_validation:LiteralParams",), 'with the test "paper"', "validation.md" ),
    Element(THESIS, "5.4, remark", "the standard way of applying a rule: the first occurrence", ("rules.substitution:Substitute.in_text",)),
    Element(WWW, "§5.3", "α > β: shrinking rules first", ("rules.substitution:shrinking",)),
    Element(WWW, "figure 4; thesis 5.4", "Validate", ("believe.paper_validation:LiteralCampaign",), "line 13 of the thesis names the wrong direction; WWW'07 is followed", "method.md"),
    Element(THESIS, "5.4", "each parameter rule by figure 5.3 alone", ("believe.paper_validation:LiteralCampaign",)),
    Element(THESIS, "6.1", "validation by another log", ("trials.learning:on_another_log",), "`dustmine --validate-on`", "method.md"),
    # -- phase 5
    Element(THESIS, "figure 5.5; WWW'07 §5.4", "Canonize", ("rules.canonizer:Canonizer",), "rules have an order of their own; a form that is not finished is not taken", "method.md"),
    Element(THESIS, "5.5", "MA = 10 passes", ("rules.site_rules:SiteRules",)),
    # -- experiments
    Element(THESIS, "6.3", "shingles of ten words, four hash functions", ("page.shingles:shingles_of", "page.shingles:sketch_of")),
    Element(THESIS, "6.3", "two of four shingles", ("believe.paper_validation:LiteralParams",), "`DUST_SKETCH_MATCHES`", "method.md"),
    Element(THESIS, "6.3", "binary documents by MD5", ("page.shingles:sketch_of_bytes",), "xxHash instead", "content.md"),
    Element(THESIS, "tables 6.1, 6.2; WWW'07 1, 2", "log sizes, and elimination", ("benchmarks.papers:sizes_of_logs",), "on other sites", "papers.md"),
    Element(THESIS, "figure 6.1; WWW'07 5 a; WWW'06 1", "precision@k on four logs", ("benchmarks.papers:four_logs",), "on other sites", "papers.md"),
    Element(THESIS, "figures 6.2, 6.3; WWW'07 5 b, c", "the impact of sizes and of shingles", ("benchmarks.papers:filters",), "on other sites", "papers.md"),
    Element(THESIS, "figure 6.4; WWW'07 6; WWW'06 2", "precision against N", ("benchmarks.papers:validations",), "on other sites", "papers.md"),
    Element(THESIS, "tables 6.3, 6.4; WWW'07 3, 4", "valid rules; reduction", ("benchmarks.papers:savings",), "on other sites", "papers.md"),
    Element(THESIS, "figure 6.5; WWW'07 7", "valid rules of a forum", ("benchmarks.papers:rules_shown",), "on other sites", "papers.md"),
    Element(THESIS, "figure 6.6; WWW'07 8", "what duplicates are", ("benchmarks.papers:classes",), "on other sites", "papers.md"),
    # -- future work
    Element(THESIS, "7", "rules that change a URL in two places", ("propose.edits.rewrite_proposals:rewrites",), "built: guarded edits", "method.md"),
    Element(THESIS, "7", "containment, and documents of several pages", (), "not built: a spider takes one item from a page that contains others, and several from these, so that neither stands for the other", "papers.md"),
    Element(THESIS, "2.3", "mirrors across sites", (), "out of the papers' scope, and of ours", "papers.md"),
    # -- the two-way check
    Element(XXHASH, "5, steps 1 to 3", "seed, frontier, standard normalization", ("crawl.two_way_check:TwoWayMiddleware",), 'with DUST_CONTENT_DEDUP = "paper"; else the rules of the site', "content.md"),
    Element(XXHASH, "5, step 4", "signature of the URL, in a database, before the fetch", ("crawl.two_way_check:TwoWayMiddleware", "crawl.known_pages:KnownMiddleware"), 'with "paper"; else known from when the spider has taken the page', "content.md"),
    Element(XXHASH, "5, step 5", "signature of the text after the fetch", ("crawl.two_way_check:TwoWayMiddleware", "crawl.content_dedup:ContentDedupMiddleware"), 'with "paper"; else all that a spider could take, of addresses of one page', "content.md"),
    Element(XXHASH, "5, steps 6 and 7", "unique pages alone are left", ("crawl.two_way_check:TwoWayMiddleware",), 'with "paper"', "content.md"),
    # -- the network
    Element(SIGIR, "§2.1", "static and dynamic delimiters", ("neural.url_tokens:split_url",), "more of them", "neural.md" ),
    Element(SIGIR, "§2.1, figure 2", "function and argument tokens by document frequency", ("neural.vocabulary:vocabulary_of", "benchmarks.equal_labels:frequencies"), "a token that stands for missing ones is a function token too", "neural.md"),
    Element(SIGIR, "§2.1", "placeholders that are copied back", ("neural.vocabulary:Vocabulary.url_of",), "thirty of them", "neural.md"),
    Element(SIGIR, "§2.2", "clusters: simhash within 3 bits, equal titles", ("neural.training_pairs:clusters_of", "neural.simhashes:centres"), "stars, not chains", "neural.md"),
    Element(SIGIR, "§2.2", "the precision of pairs", ("benchmarks.equal_labels:statistics",), "told by exact texts, not by people", "equal-labels.md"),
    Element(SIGIR, "§2.3", "the canonical form", ("neural.training_pairs:targets_of",)),
    Element(SIGIR, "§2.4", "GRU, 512, shared embeddings", ("neural.network:Network",)),
    Element(SIGIR, "formula 3", "the loss", ("neural.training:train",)),
    Element(SIGIR, "§2.4", "SGD, batches of 20", ("neural.params:NetworkParams",), "rate and clipping, which the paper does not say", "neural.md"),
    Element(SIGIR, "§2.4", "bidirectional encoder, attention", (), "not built as in the paper, which saw no gain; `seq2seq-plus` points at what it copies", "neural.md"),
    Element(SIGIR, "§2.4", "greedy translation until <EOS>", ("neural.decoding:Decoder",)),
    Element(SIGIR, "§3.1", "the first 15,000 pages learned, 5,000 tested", ("learners.evaluation:Protocol",), "`dusteval --train 0.75`", "evaluation.md"),
    Element(SIGIR, "§3.1", "RA, DTA, KeepAll", ("learners.ra:Ra", "learners.dta:Dta", "learners.interface:FixedKeys"), "from descriptions, with choices of ours", "evaluation.md"),
    Element(SIGIR, "§3.1", "one training set for all methods", ("learners.labelling:labelled",)),
    Element(SIGIR, "§3.2", "precision, recall and F1 of a replayed crawl", ("learners.measures:Replay.f1",)),
    Element(SIGIR, "§3.3", "the weighted F1", ("learners.measures:Replay.f",)),
    Element(SIGIR, "tables 1, 2", "statistics of the sites, and methods compared", ("benchmarks.equal_labels:measured",), "on other sites", "equal-labels.md"),
    Element(SIGIR, "table 3", "five cases", ("benchmarks.table3:case_urls",), "a site made up of them", "neural.md"),
)
# fmt: on
