"""Requests as rules see them: which URL is requested, whether rules apply to it, and its canonical form.

All facts about other packages stand in this module. None of these packages but Scrapy is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from scrapy import Request
from scrapy.http.request import NO_CALLBACK

#: The names of renderers in the crawl log.
Renderer = Literal["playwright", "splash"]

# The keys in a request's meta. By the user:
OPT_OUT = "dust"  #: False: no rule is applied to it
# By us, for spiders to read:
#: Marks a canary: a rule would have filtered it, and it is fetched to test the rule. Has the canary's URL, the URL that
#: was fetched in its stead, if known, and the key of their class.
CANARY = "dust_canary"
ORIGINAL_URL = "dust_original_url"  #: the URL that was written where the request's own was put instead
#: Marks a request of scrapy-dust's validation, fetched to judge a rule. It is not recorded, since a log of URLs that were made up to try a rule
#: would teach that rule again.
TRIAL = "dust_trial"
# Internal, of which those that name a URL have the request's own, since spiders copy meta from one request to the next:
BEYOND = (
    "_dust_beyond"  #: a canary's URL, where it is one because the rules have still to show themselves there
)
ITSELF = "_dust_itself"  #: its URL, where it was asked for before and the project wants it again
SHADOW = "_dust_shadow"  #: as `CANARY`, of a URL that a rule would have filtered if rules were enforced
AFTER_FAILURE = (
    "_dust_after_failure"  #: its URL, where one that has its key was asked for and brought no page
)
AS_WRITTEN = "_dust_as_written"  #: its URL is fetched as it was written, since the canonical one failed
LINKED_BY = "_dust_linked_by"  #: the other site whose page links to it
#: The classes that it stands for, each as its name in hex and the number of the URL let through for it; several after a
#: redirect from one class to another. In meta, because retries, renderers, proxies and disk queues keep nothing else.
STANDS_FOR = "_dust_stands_for"
ASKED_BY = (
    "_dust_asked_by"  #: until the dupefilter has judged it: the number of the answer from which it was taken
)
ASKED = "_dust_asked"  #: a digest of what it says beside its URL, where that is anything
ALONE = "alone"  #: in the place of that digest: the request is like no other
LET_THROUGH = (
    "_dust_let_through"  #: the keys with which it was let through, in hex, while rules are being learned
)

#: Added to the priority of requests that come last: far below the priorities that spiders set.
LAST = -1_000_000


def follows_rules(request: Request) -> bool:
    """Whether rules may change the key of *request*."""
    if is_plain(request):
        return True
    meta = request.meta
    return (
        request.method in ("GET", "HEAD")
        and meta.get(OPT_OUT) is not False
        and not meta.get("verbatim_url")
        # Images, files, robots.txt: they never pass the dupefilter, and each URL is its own file.
        and request.callback is not NO_CALLBACK
        # scrapy-splash sends each request twice, the second time to the renderer. If both had the key of
        # the page, the second would be a duplicate of the first.
        and not is_rendered(request)
    )


# Names in meta without which the URL alone says which rules apply.
_SPECIAL = frozenset((OPT_OUT, "verbatim_url", "splash", "_splash_processed", "playwright"))


def is_plain(request: Request) -> bool:
    """Whether rules may change the key of *request* and need its URL alone: true of nearly every request, and quick to see."""
    return (
        request.method == "GET" and _SPECIAL.isdisjoint(request.meta) and request.callback is not NO_CALLBACK
    )


def may_be_rewritten(request: Request) -> bool:
    """Whether another URL may be fetched in the place of *request*'s.

    Not after a redirect: the site itself said which URL it wants. Not for ``scrapy parse``, which shows the page of
    the URL that was typed; ``scrapy fetch`` sets ``dont_filter``.
    """
    meta = request.meta
    return (
        follows_rules(request)
        and not request.dont_filter
        and not meta.get(AS_WRITTEN)
        and not meta.get("redirect_urls")
        and not ("_depth" in meta and "_callback" in meta)
    )


def spider_request(request: Request) -> Request | None:
    """The spider's request in whose place *request* was put; None if *request* is in no other's place."""
    written = request.meta.get(ORIGINAL_URL)
    if written is None or request.meta.get("redirect_urls"):
        return None
    meta = {name: value for name, value in request.meta.items() if name != ORIGINAL_URL}
    return request.replace(url=written, meta={**meta, AS_WRITTEN: True})


def redirect_chain(request: Request) -> list[Request]:
    """The requests that redirects led from to *request*, the first one first."""
    try:
        return [request.replace(url=url) for url in request.meta.get("redirect_urls", ())]
    except (TypeError, ValueError):  # a subclass of Request that wants more, with meta copied from another
        return []


def is_retry(request: Request) -> bool:
    """Whether Scrapy sends *request* again after a failure."""
    return bool(request.meta.get("retry_times"))


def canary_of(request: Request, named: str = CANARY) -> dict[str, Any] | None:
    """The canary's data in the meta of *request*, or of the request it was redirected from; None if there is no
    canary.

    Spiders copy meta from one request to the next, so the data must name this URL.
    """
    mark = request.meta.get(named)
    if not isinstance(mark, dict):
        return None
    is_its_own = mark["url"] == target_url(request) or mark["url"] in request.meta.get("redirect_urls", ())
    return mark if is_its_own else None


def target_url(request: Request) -> str:
    """The URL of the page that is wanted, also where *request* goes to a renderer."""
    return (_splash_url(request.meta) if is_rendered(request) else None) or request.url


def is_rendered(request: Request) -> bool:
    """Whether *request* goes to a renderer, which is asked for the page of another URL."""
    return bool(request.meta.get("_splash_processed"))


def rendered_by(request: Request) -> Renderer | None:
    """The browser whose scripts make the page for *request*; None if no browser does."""
    if is_rendered(request):
        return "splash"
    return "playwright" if request.meta.get("playwright") else None


def runs_scripts(request: Request) -> bool:
    """Whether a browser makes the page, so that scripts may read the URL's fragment."""
    return bool(request.meta.get("playwright")) or isinstance(request.meta.get("splash"), dict)


def fragment_for_scripts(request: Request) -> str:
    """The fragment that the page's scripts may read; empty where no script runs."""
    if is_rendered(request) or not runs_scripts(request):
        return ""
    return (_splash_url(request.meta) or request.url).partition("#")[2]


def without_fragment(request: Request) -> Request:
    """*request* for the same page without the fragment, for a browser whose scripts ignore it."""
    return _with_urls(request, lambda url: url.partition("#")[0])


def canonical_request(request: Request, canonize: Callable[[str], str]) -> Request:
    """The request that *request* shares its key with; *request* itself where no rule changes it."""
    if not follows_rules(request):
        return request
    if "#" in request.url and not runs_scripts(request):
        return _with_urls(request, lambda url: beside_fragment(url, canonize))
    return _with_urls(request, canonize)


def beside_fragment(url: str, canonize: Callable[[str], str]) -> str:
    """*url* as *canonize* changes it, without its fragment: no server sees the fragment, so no rule does either."""
    plain, mark, fragment = url.partition("#")
    return canonize(plain) + mark + fragment


def _with_urls(request: Request, change: Callable[[str], str]) -> Request:
    """*request* with the URL of its page changed by *change*; *request* itself if the URL stays the same."""
    changes: dict[str, Any] = {}
    url = change(request.url)
    if url != request.url:
        changes["url"] = url
    # scrapy-splash keeps the URL here too, and fingerprints what it finds here.
    rendered = _splash_url(request.meta)
    if rendered is not None and (form := change(rendered)) != rendered:
        splash = request.meta["splash"]
        changes["meta"] = {**request.meta, "splash": {**splash, "args": {**splash["args"], "url": form}}}
    return request.replace(**changes) if changes else request


def without_url(splash: object) -> object:
    """The options of scrapy-splash in *splash* without the URL: the key of the request has it."""
    args = splash.get("args") if isinstance(splash, dict) else None
    if not isinstance(splash, dict) or not isinstance(args, dict):
        return splash
    return {**splash, "args": {name: value for name, value in args.items() if name != "url"}}


def _splash_url(meta: dict[str, Any]) -> str | None:
    """The URL that scrapy-splash is asked to render; None if *meta* names none."""
    splash = meta.get("splash")
    args = splash.get("args") if isinstance(splash, dict) else None
    url = args.get("url") if isinstance(args, dict) else None
    return url if isinstance(url, str) else None


#: In meta, of one fetch and not of how pages are fetched; and a browser's page, which nobody would close.
OF_ONE_FETCH = {"redirect_times", "redirect_ttl", "redirect_urls", "redirect_reasons", "retry_times"}
_ITS_OWN = OF_ONE_FETCH | {"playwright_page", "playwright_include_page"}


def asked_again(request: Request, url: str) -> Request:
    """*request* for another fetch, of *url*, which is no part of the crawl."""
    meta = {
        name: value
        for name, value in request.meta.items()
        if name not in _ITS_OWN and not str(name).startswith(("_", "dust_"))
    }
    meta |= {OPT_OUT: False, TRIAL: True, "dont_cache": True}
    return request.replace(
        url=url, callback=NO_CALLBACK, errback=None, dont_filter=True, meta=meta, cb_kwargs={}
    )
