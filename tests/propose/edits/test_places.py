from __future__ import annotations

from hypothesis import given

from scrapy_dust.propose.dustbuster.likely_parameters import parameters
from tests.strategies import any_urls


@given(any_urls())
def test_parameters_do_not_overlap_and_lie_where_they_say(url):
    end = 0
    for parameter in parameters(url):
        assert end <= parameter.begin < parameter.value_begin <= parameter.end <= len(url)
        assert url[parameter.begin : parameter.value_begin] == parameter.name + "="
        end = parameter.end
