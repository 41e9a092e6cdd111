"""What is known of a route that a log names, and how."""

from __future__ import annotations

from pathlib import Path

from tui.config import Config
from tui.llm.providers import configured_providers
from tui.llm.route_book import RouteBook
from tui.llm.scripted import MODELS


def test_the_catalogue_speaks_for_the_official_provider_only() -> None:
    book = RouteBook()
    # §4.8, the default catalogue.
    known = {
        (provider, model): (book.route(provider, model).mode, book.route(provider, model).source)
        for provider in ("deepseek-official", "creek")
        for model in ("deepseek-flash", "deepseek-v4-pro", "demo-inhistory")
    }
    assert known == {
        ("deepseek-official", "deepseek-flash"): ("addition-only", "catalog"),
        ("deepseek-official", "deepseek-v4-pro"): (None, "catalog"),
        ("deepseek-official", "demo-inhistory"): (None, "assumed"),
        ("creek", "deepseek-flash"): ("addition-only", "assumed"),
        ("creek", "deepseek-v4-pro"): (None, "assumed"),
        ("creek", "demo-inhistory"): (None, "assumed"),
    }


def test_a_configured_provider_knows_better(tmp_path: Path) -> None:
    models = [{"id": "minnow-2", "tool_update": "in-history"}]
    creek = {"kind": "deepseek", "base_url": "http://127.0.0.1:9/anthropic", "models": models}
    providers = configured_providers(Config(providers={"creek": creek}), tmp_path / "config.toml", {})
    known = RouteBook(providers).route("creek", "minnow-2")
    assert (known.mode, known.source) == ("in-history", "catalog")
    assert known.route.endpoint == "http://127.0.0.1:9/anthropic/v1"
    assert RouteBook(providers).route("deepseek-official", "deepseek-flash").mode == "addition-only"


def test_the_built_in_scripted_models_are_known_in_a_session_that_is_opened_later() -> None:
    book = RouteBook()
    known = {model: book.route("scripted", model) for model in MODELS}
    assert {model: (each.mode, each.source) for model, each in known.items()} == {
        "scripted-addition-only": ("addition-only", "catalog"),
        "scripted-in-history": ("in-history", "catalog"),
        "scripted-none": (None, "catalog"),
    }
    assert book.route("scripted", "other").source == "assumed"
    assert book.route("creek", "scripted-in-history").source == "assumed"
