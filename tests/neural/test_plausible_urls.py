"""What may follow while a translation is spelled."""

from __future__ import annotations

from scrapy_dust.neural.plausible_urls import form_of, forms_of
from scrapy_dust.neural.vocabulary import EOS, Vocabulary

VOCABULARY = Vocabulary(("http:", "", "a.example", "q", "user"), whole=True, copies=True)


def symbols_of(url, reading):
    return VOCABULARY.symbols(reading, url)


def spellable(forms, reading, url):
    """Whether *url* can be spelled from *reading*, symbol by symbol."""
    own, copying = VOCABULARY.own_symbols(reading), VOCABULARY.argument_symbols(reading)
    said = (*symbols_of(url, reading), EOS)
    return all(symbol in forms.allowed(said[:at], own, copying) for at, symbol in enumerate(said))


def test_only_forms_of_the_log_and_the_url_itself_can_be_spelled():
    seen = ["http://a.example/q/12", "http://a.example/user/7"]
    forms = forms_of(form_of(VOCABULARY, VOCABULARY.encode(url)) for url in seen)
    reading = VOCABULARY.encode("http://a.example/q/99/title")
    assert spellable(forms, reading, "http://a.example/q/99")
    assert spellable(forms, reading, "http://a.example/user/99")
    assert spellable(forms, reading, "http://a.example/q/99/title")
    assert not spellable(forms, reading, "http://a.example/q")
    assert not spellable(forms, reading, "http://a.example/q/user")
    assert not spellable(forms, reading, "http://a.example/q/title/99")
