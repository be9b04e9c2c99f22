"""Promises 6 and 7: what is at rest costs what it held at most, and nothing of ours ends a crawl or a job."""

from __future__ import annotations

import resource
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.exceptions import CloseSpider
from scrapy.http import Response

from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.life.both import SID, Both, Reader
from tests.life.test_alike_handled import LANGUAGES, VARYING
from tests.life.web import Answer, Asked, error, index, page

PAGES = range(6)


def where_only_the_last_works(asked: Asked) -> Answer:
    if asked.path == "/":
        return index(*(f"/p{n}?sid={sid}" for sid in "abc" for n in PAGES))
    return page(asked.path) if asked.sid == "c" else error(404)


def where_all_work(asked: Asked) -> Answer:
    found = where_only_the_last_works(asked)
    return page(asked.path) if found.status == 404 else found


class Locked(Reader):
    """Carries what cannot be written with its requests."""

    def links(self, response: Response):
        for request in super().links(response):
            yield request.replace(meta={"lock": threading.Lock(), "how": lambda: 1})

    def items(self, response: Response, **more):
        locked = response.url == self.url("/") or response.meta["lock"].acquire(blocking=False)
        return super().items(response, locked=locked)


@pytest.mark.parametrize("job", [False, True])
@pytest.mark.parametrize("site", [where_only_the_last_works, where_all_work])
def test_requests_with_meta_that_cannot_be_pickled_are_lost_to_nobody(both, job, site):
    both(Locked, site, job=job).check(wanted=6)


@pytest.mark.once
def test_of_requests_that_cannot_be_pickled_none_is_lost_where_thousands_wait(both):
    """So many that no memory is meant to hold them."""

    def site(asked: Asked) -> Answer:
        if asked.path == "/":
            return index(*(f"/p{n}?sid={sid}" for sid in range(500) for n in range(3)))
        return page(asked.path) if asked.sid == "499" else error(404)

    both(Locked, site, CONCURRENT_REQUESTS=16).check(wanted=3)


class Closures(Reader):
    """Its callbacks are closures, of which nobody knows the name."""

    def parse(self, response: Response):
        for request in self.links(response):
            kind = "x"
            yield request.replace(callback=lambda response, kind=kind: self.items(response, kind=kind))


@pytest.mark.parametrize("job", [False, True])
def test_callbacks_without_a_name_are_called(both, job):
    both(Closures, where_only_the_last_works, job=job).check(wanted=6)


class KindsOfClosures(Closures):
    """Closures that share their code, and not what they close over."""

    def parse(self, response: Response):
        for request in self.links(response):
            kind = request.url[-1]
            yield request.replace(callback=lambda response, kind=kind: self.items(response, kind=kind))


def test_two_closures_of_one_line_are_two_callbacks(both):
    both(KindsOfClosures, where_all_work).check(wanted=18)


class Pausing(Reader):
    """Pauses the job when the hub has been read: all of its links are queued, or wait."""

    def __init__(self, homes, run, **more):
        super().__init__(homes)
        self.run = run

    def parse(self, response: Response):
        yield from super().parse(response)
        if self.run == 0:
            raise CloseSpider("pause")


@pytest.mark.parametrize("site", [where_only_the_last_works, where_all_work])
@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_job_that_was_paused_while_aliases_waited_goes_on(both, site, concurrency):
    both(Pausing, site, runs=2, CONCURRENT_REQUESTS=concurrency).check(wanted=6)


def test_one_request_that_cannot_be_pickled_takes_no_other_with_it_at_a_pause(both):
    class Mixed(Pausing):
        def links(self, response: Response):
            for request in super().links(response):
                locked = {"lock": threading.Lock()} if request.url[-1] == "b" else {}
                yield request.replace(meta=locked)

    both(Mixed, where_only_the_last_works, runs=2).check(wanted=6)


@pytest.mark.parametrize("site", [where_only_the_last_works, where_all_work])
def test_a_job_that_is_paused_after_each_page_comes_to_its_end(both, site):
    settings = {"CLOSESPIDER_PAGECOUNT": 1, "CONCURRENT_REQUESTS": 2}
    found: Both = both(Pausing, site, runs=26, **settings)
    assert found.lost == []
    assert len(found.plain.items) == 6
    assert found.ours.reasons[-1] == "finished"


def test_a_paused_job_still_tells_callbacks_apart(both):
    class TwoCallbacks(Pausing):
        def parse(self, response: Response):
            for request in self.links(response):
                yield request.replace(callback=self.price if request.url[-1] == "a" else self.text)
            if self.run == 0:
                raise CloseSpider("pause")

        def price(self, response: Response):
            yield from self.items(response, kind="price")

        def text(self, response: Response):
            yield from self.items(response, kind="text")

    both(TwoCallbacks, where_all_work, runs=2).check(wanted=12)


#: What Scrapy itself keeps in a job's folder.
SCRAPYS = ("requests.seen", "spider.state", "requests.queue")


def _ours(folder: Path) -> list[Path]:
    """All files that are ours, of the job and beside it."""
    found = [*(folder / "job").rglob("*"), *(folder / "dust").rglob("*")]
    return [path for path in found if path.is_file() and not set(SCRAPYS) & set(path.parts)]


def empty(path: Path) -> None:
    path.write_bytes(b"")


def tear(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def tear_off_a_byte(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def fill_with_zeros(path: Path) -> None:
    """As file systems leave a file behind that was being written when the power went."""
    path.write_bytes(bytes(path.stat().st_size))


def fill_with_noise(path: Path) -> None:
    path.write_bytes(bytes(range(251)) * 40)


def make_a_folder_of(path: Path) -> None:
    path.unlink()
    path.mkdir()


def all_by(damage: Callable[[Path], None]) -> Callable[[Path], None]:
    def damage_all(folder: Path) -> None:
        for path in _ours(folder):
            damage(path)

    return damage_all


@pytest.mark.parametrize(
    "damage", [empty, tear, tear_off_a_byte, fill_with_zeros, fill_with_noise, make_a_folder_of, Path.unlink]
)
def test_a_job_whose_files_are_damaged_resumes(both, damage):
    """What Scrapy itself has in its queue is fetched."""
    found: Both = both(Pausing, where_all_work, runs=2, between=all_by(damage))
    found.check(wanted=6)


@pytest.mark.once
@pytest.mark.parametrize("damage", [empty, tear, fill_with_noise])
def test_a_job_of_which_one_file_is_damaged_resumes_whichever(both, tmp_path, damage):
    both(Pausing, where_all_work, runs=2)
    files = [path.relative_to(tmp_path / "ours") for path in _ours(tmp_path / "ours")]
    assert files, "a job of ours has files"
    for at, file in enumerate(files):
        (tmp_path / str(at)).mkdir()

        def one_by(folder: Path, file: Path = file) -> None:
            if (folder / file).is_file():
                damage(folder / file)

        found: Both = both(Pausing, where_all_work, folder=tmp_path / str(at), runs=2, between=one_by)
        assert (file, found.lost, found.ours.reasons) == (file, [], ["pause", "finished"])


@pytest.mark.parametrize("damage", [empty, tear, fill_with_noise])
def test_what_was_lost_with_a_damaged_file_is_said_once(both, damage):
    found: Both = both(Pausing, where_only_the_last_works, runs=2, between=all_by(damage))
    assert found.ours.reasons[-1] == "finished"
    assert len(found.ours.said) == len(set(found.ours.said))


class Growing(Reader):
    """Its requests are large, and come one after the other."""

    def parse(self, response: Response):
        yield from self.items(response)
        for request in self.links(response):
            yield request.replace(meta={"state": "x" * 20_000})


@pytest.fixture
def no_file_larger_than():
    """Files cannot grow beyond so many bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(size: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))

    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("limit", [0, 100, 50_000])
@pytest.mark.parametrize("site", [where_only_the_last_works, where_all_work])
def test_a_full_disk_costs_no_item(both, no_file_larger_than, tmp_path, limit, site):
    class OnAFullDisk(Growing):
        async def start(self):
            no_file_larger_than(limit)
            async for request in super().start():
                yield request

        def closed(self, reason: str):
            no_file_larger_than(resource.RLIM_INFINITY)

    both(OnAFullDisk, site).check(wanted=6)


def test_a_disk_that_is_full_for_a_moment_costs_a_job_nothing(both, no_file_larger_than):
    """Scrapy itself writes nothing meanwhile: all requests are queued, and the job is paused later."""

    class FullForAMoment(Pausing):
        got = 0

        def parse(self, response: Response):
            yield from super(Pausing, self).parse(response)
            self.got += 1
            is_full = self.run == 0 and 3 <= self.got < 12
            no_file_larger_than(0 if is_full else resource.RLIM_INFINITY)
            if self.run == 0 and self.got == 14:
                raise CloseSpider("pause")

    def site(asked: Asked) -> Answer:
        if asked.path == "/":
            return index(*(f"/p{n}?sid={sid}" for sid in "ab" for n in range(24)))
        return page(asked.path)

    found: Both = both(FullForAMoment, site, runs=2)
    found.check(wanted=24)


MATTERS = Rule.of(DropParameter("x"))


class GivenBack(Reader):
    """Asks for each page in three languages, some of which a false rule suppresses until it is found out."""

    def parse(self, response: Response):
        for link in response.css("a::attr(href)").getall():
            for language in LANGUAGES:
                yield response.follow(link, callback=self.translated, headers={"Accept-Language": language})

    def translated(self, response: Response):
        yield from self.items(response)


@pytest.mark.once
def test_what_a_false_rule_suppressed_is_given_back_as_often_as_the_projects_fingerprinter_tells(both):
    def site(asked: Asked) -> Answer:
        if asked.path == "/":
            return index(*(f"/p{n}?x={x}" for x in range(18) for n in range(4)))
        return page(f"{asked.url} in {asked.headers['accept-language']}")

    found = both(
        GivenBack, site, rules=(MATTERS, SID), DUST_CANARY_RATE=0.3, CONCURRENT_REQUESTS=4, **VARYING
    )
    # Finding out costs requests.
    found.check(wanted=216, saved=-216)


class GivenBackToTwo(Reader):
    def parse(self, response: Response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, callback=self.price, cb_kwargs={"link": link})
            yield response.follow(link, callback=self.text, dont_filter=True, meta={"kind": link})

    def price(self, response: Response, link: str):
        yield from self.items(response, kind="price", link=link)

    def text(self, response: Response):
        yield from self.items(response, kind=response.meta["kind"])


@pytest.mark.parametrize("runs", [1, 3])
def test_what_is_given_back_has_its_callback_arguments_and_meta(both, runs):
    def site(asked: Asked) -> Answer:
        if asked.path == "/":
            return index(*(f"/p{n}?x={x}" for x in range(18) for n in range(4)))
        return page(asked.url)

    settings = {"DUST_CANARY_RATE": 0.3} | ({"CLOSESPIDER_PAGECOUNT": 40} if runs > 1 else {})
    found: Both = both(GivenBackToTwo, site, rules=(MATTERS, SID), runs=runs + 2 * (runs > 1), **settings)
    assert found.lost == []
    assert len(found.plain.items) == 144


def test_the_deepest_pickle_is_not_looked_into(both):
    """Meta that nests deeper than Python recurses."""

    class Nesting(Reader):
        def links(self, response: Response):
            for request in super().links(response):
                deep: list = []
                for _ in range(100_000):
                    deep = [deep]
                yield request.replace(meta={"deep": deep})
                # Or Python itself recurses when it lets go of it.
                self.__dict__.setdefault("kept", []).append(deep)

    both(Nesting, where_only_the_last_works).check(wanted=6)


class OddMeta(Reader):
    """Its requests hold what cannot be compared, copied or shown."""

    class Odd:
        def __eq__(self, other):
            raise TypeError("not comparable")

        def __hash__(self):
            raise TypeError("not hashable")

        def __repr__(self):
            raise TypeError("not to be shown")

        def __reduce__(self):
            raise RuntimeError("not to be copied")

        def __getattr__(self, name):
            raise RuntimeError("not to be looked into")

    def links(self, response: Response):
        for request in super().links(response):
            yield request.replace(meta={"odd": self.Odd()}, cb_kwargs={"odd": self.Odd()})

    def parse(self, response: Response, odd=None):
        return super().parse(response)


@pytest.mark.parametrize("site", [where_only_the_last_works, where_all_work])
def test_requests_that_hold_what_raises_when_it_is_looked_at_are_fetched(both, site):
    both(OddMeta, site).check(wanted=6)


def test_a_request_at_rest_comes_as_it_was_made(both):
    class Full(Reader):
        def links(self, response: Response):
            for at, request in enumerate(super().links(response)):
                yield request.replace(
                    callback=self.told,
                    cb_kwargs={"at": at},
                    meta={"mine": [at], "download_timeout": 7.0, "handle_httpstatus_list": [418]},
                    headers={"X-Mine": str(at)},
                    cookies={"mine": str(at)},
                    priority=at,
                    flags=["mine"],
                )

        def told(self, response: Response, at: int):
            mine = response.request
            yield {
                "at": at,
                "meta": response.meta["mine"],
                "timeout": response.meta["download_timeout"],
                "header": mine.headers["X-Mine"].decode(),
                "cookie": mine.headers["Cookie"].decode(),
                "priority": mine.priority,
                "flags": mine.flags,
            }

    def site(asked: Asked) -> Answer:
        if asked.path == "/":
            return index(*(f"/p?sid={n}" for n in range(8)))
        return page(asked.path) if asked.sid == "7" else error(404)

    both(Full, site).check(wanted=1)


class Filling(Reader):
    """All callbacks fill one list, and who finds it full yields an item."""

    def links(self, response: Response):
        bag: list[str] = []
        for request in super().links(response):
            yield request.replace(callback=self.fill, cb_kwargs={"bag": bag})

    def fill(self, response: Response, bag: list[str]):
        bag.append(response.css("h1::text").get(""))
        yield {"got": len(set(bag))}


def test_what_callbacks_share_is_shared_with_those_that_come_late(both):
    both(Filling, where_only_the_last_works).check(wanted=6)


class Refused(Exception):
    """As many exceptions are: it can be pickled, and not made again."""

    def __init__(self, code: int, why: str):
        super().__init__(f"{code} {why}")


@pytest.mark.parametrize("job", [False, True])
def test_requests_with_what_can_be_pickled_and_not_made_again_are_lost_to_nobody(both, job):
    class Telling(Reader):
        def links(self, response: Response):
            for request in super().links(response):
                yield request.replace(meta={"why": Refused(1, "busy")})

    # Scrapy itself cannot go on with what its queue on a disk cannot make again.
    settings = {"SCHEDULER_DISK_QUEUE": "scrapy.squeues.MarshalFifoDiskQueue"} if job else {}
    both(Telling, where_only_the_last_works, job=job, **settings).check(wanted=6)


class Signed(Request):
    """Has an attribute of which Scrapy is not told."""

    def __init__(self, *args, sign="none", **more):
        super().__init__(*args, **more)
        self.__dict__["sign"] = sign


def test_what_a_class_of_the_projects_adds_to_a_request_is_there_when_it_comes_late(both):
    class Signing(Reader):
        def links(self, response: Response):
            for request in super().links(response):
                yield Signed(request.url, sign="mine")

        def items(self, response: Response, **more):
            return super().items(response, sign=getattr(response.request, "sign", "none"))

    both(Signing, where_only_the_last_works).check(wanted=6)
