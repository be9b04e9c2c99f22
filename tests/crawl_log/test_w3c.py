from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.errors import CrawlLogError
from scrapy_dust.visits.pages import Visit
from tests.crawl_log.reading import bad_lines, read, urls

# https://learn.microsoft.com/iis, the fields that IIS 10 has ticked, and bytes and host beside them
IIS = (
    "#Software: Microsoft Internet Information Services 10.0",
    "#Version: 1.0",
    "#Date: 2026-11-18 07:24:36",
    (
        "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent)"
        " cs(Referer) cs-host sc-status sc-substatus sc-win32-status sc-bytes cs-bytes time-taken"
    ),
)
ASKED = "2026-11-18 07:24:36 10.0.0.4 {} {} {} 443 - 1.2.3.4 curl/8.5 - www.a.test {} 0 0 1234 99 15"
# https://docs.aws.amazon.com/AmazonCloudFront, standard logs
CLOUDFRONT = (
    "#Version: 1.0",
    (
        "#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer)"
        " cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header"
        " cs-protocol cs-bytes time-taken"
    ),
)


def viewed(stem: str, query: str = "-", status: str = "200", protocol: str = "https") -> str:
    values = (
        f"2026-11-18 07:24:36 FRA2 1234 1.2.3.4 GET d111.cloudfront.net {stem} {status} - Mozilla/5.0%20(X11)"
    )
    return "\t".join(f"{values} {query} - Hit id== www.a.test {protocol} 99 0.001".split())


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("w3c")


def test_iis_logs_paths_decoded_and_queries_as_they_came(folder):
    visits, reading = read(
        folder,
        *IIS,
        ASKED.format("GET", "/Default.aspx", "id=7&x=%20", "200"),
        ASKED.format("GET", "/müller.html", "-", "200"),
        ASKED.format("GET", "/old", "-", "304"),
        ASKED.format("POST", "/form", "-", "200"),
    )
    assert visits == [
        Visit(
            "https://www.a.test/Default.aspx?id=7&x=%20", 200, (1234, 1234), fetched_at="2026-11-18T07:24:36Z"
        ),
        Visit("https://www.a.test/m%C3%BCller.html", 200, (1234, 1234), fetched_at="2026-11-18T07:24:36Z"),
        Visit("https://www.a.test/old", 200, fetched_at="2026-11-18T07:24:36Z"),
    ]
    assert (reading.passed_over, reading.unreadable_count) == (5, 0)


def test_fields_may_change_on_the_way(folder):
    visits, _ = read(
        folder,
        "#Fields: cs-method cs-uri-stem sc-status",
        "GET /one 200",
        "#Fields: time cs-method cs-uri sc-status",
        "07:24:36 GET /two?x 404",
        base_url="http://a.test",
    )
    assert [(visit.url, visit.status) for visit in visits] == [
        ("http://a.test/one", 200),
        ("http://a.test/two?x", 404),
    ]


def test_iis_without_host_needs_to_be_told_one(folder):
    with pytest.raises(CrawlLogError, match="--base-url"):
        read(folder, "#Fields: cs-method cs-uri-stem sc-status", "GET /one 200")


def test_cloudfront_names_the_viewers_host_and_encodes_percent_signs_again(folder):
    visits, reading = read(
        folder,
        *CLOUDFRONT,
        viewed("/view/my/file.html"),
        viewed("/a%2520b", "q=%2522x%2522&y=1"),
        viewed("/socket", protocol="wss"),
        viewed("/broken", status="000"),
    )
    assert urls(visits) == ["https://www.a.test/view/my/file.html", "https://www.a.test/a%20b?q=%22x%22&y=1"]
    assert visits[0].size == (1234, 1234)
    assert (reading.passed_over, reading.unreadable_count) == (4, 0)


def test_what_cannot_be_read_is_named(folder):
    _, reading = read(
        folder, *CLOUDFRONT, viewed("/"), "2026-11-18 07:24:36", "garbage", viewed("/")[:60], viewed("/")
    )
    assert bad_lines(reading) == [4, 5, 6]
    assert reading.unreadable[0].reason == "2 values for 19 '#Fields'"
    _, reading = read(folder, viewed("/"), *CLOUDFRONT, viewed("/"))
    assert [bad.reason for bad in reading.unreadable] == ["no '#Fields:' before it"]


@given(st.lists(st.none() | st.text('#Fields:\t GET/-2é"%25', min_size=1, max_size=40), max_size=30))
def test_fuzzed_lines_are_counted(folder, lines):
    cleaned = [viewed("/page") if line is None else line for line in lines if line is None or line.strip()]
    cleaned = [line for line in cleaned if not line.lower().startswith("#fields")]
    visits, reading = read(folder, *CLOUDFRONT, viewed("/page"), *cleaned)
    assert reading.records + reading.passed_over + reading.unreadable_count == 3 + len(cleaned)
    assert len(visits) >= 1 + lines.count(None)


# https://learn.microsoft.com/iis/extensions/configuring-application-request-routing-arr
ADVANCED = (
    "#Software: IIS Advanced Logging Module",
    (
        "#Fields:  date time cs-uri-stem cs-uri-query s-contentpath sc-status s-computername cs(Referer)"
        " sc-win32-status sc-bytes cs-bytes X-ARR-LOG-ID X-Forwarded-For"
    ),
    (
        r'2009-10-16 18:51:29.983 /iisstart.htm - "C:\inetpub\wwwroot\my site\iisstart.htm" 200 "W2K8WEBSERVER2" -'
        ' 0 1680 219 "fe9d20da-a571-4451-8ef3-0e7faf1a463a" "127.0.0.1:62489"'
    ),
)


def test_values_may_stand_in_quotes(folder):
    visits, _ = read(folder, *ADVANCED, base_url="http://a.test")
    assert visits == [
        Visit("http://a.test/iisstart.htm", 200, (1680, 1680), fetched_at="2009-10-16T18:51:29.983000Z")
    ]
    tabs = (
        '2017-09-23\t00:03:11.235\t"SP-WFE02"\tGET\t/\t-\t"say ""hi"" (ISA Server)"\t"w3c.example.com"\t200'
    )
    fields = "#Fields:     date time s-computername cs-method cs-uri-stem cs-uri-query cs(User-Agent) cs(Host) sc-status"
    assert urls(read(folder, fields, tabs)[0]) == ["http://w3c.example.com/"]
    assert urls(read(folder, fields, tabs.replace("\t", " "))[0]) == ["http://w3c.example.com/"]


def test_impervas_uri_is_host_and_path(folder):
    visits, _ = read(
        folder,
        "#Fields: date time cs-uri cs-uri-query cs-method sc-status s-port",
        '"2014-10-26" "06:49:39" "www.incapsula.com/a" "?p=%2fetc" "GET" "200" "443"',
        '"2014-10-26" "06:49:39" "www.incapsula.com/" "" "GET" "200" "80"',
    )
    assert urls(visits) == ["https://www.incapsula.com/a?p=%2fetc", "http://www.incapsula.com/"]


def test_of_a_log_without_a_page_the_reason_is_said(folder):
    with pytest.raises(
        CrawlLogError, match=r"show no page; 1 of their lines .*line 5: 3 values for 18 '#Fields'"
    ):
        read(folder, *IIS, "2026-11-18 07:24:36 10.0.0.4")
