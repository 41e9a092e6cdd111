"""Where system and developer messages stand, known without looking at every message again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.log_builder import log, text
from tests.support.nodes import RECORDINGS, reading_of
from tui.nodes.request_shape import Shape
from tui.nodes.requests import Requests

NAMES = sorted(path.parent.name for path in RECORDINGS.glob("*/session.v4.jsonl"))


def said(role: str, kind: str = "text") -> dict[str, Any]:
    return {"role": role, "content": [{"type": kind, "text": "x"}]}


def test_a_prompt_behind_another_message_is_a_later_one() -> None:
    head = [said("system"), said("system"), said("user")]
    assert (Shape.of(head).head, Shape.of(head).has_later_prompts) == (2, False)
    assert Shape.of([*head, said("system")]).has_later_prompts
    assert Shape.of([said("user"), said("system")]).head == 0
    assert not Shape.of([]).has_later_prompts


def test_images_are_found_in_every_kind_of_message() -> None:
    assert not Shape.of([said("user"), said("tool")]).has_images
    for role in ("user", "assistant", "tool"):
        assert Shape.of([said("user"), said(role, "image")]).has_images


@pytest.mark.parametrize("name", NAMES)
def test_walking_knows_the_shape_of_what_jumping_looks_at(name: str) -> None:
    for request in Requests(reading_of(name)).walk():
        assert request.shape == Shape.of(request.messages)


def test_a_shape_that_was_handed_out_does_not_grow(tmp_path: Path) -> None:
    digest = "sha256:" + "0" * 64
    image = {"type": "image", "attachment": {"attachmentId": digest, "mediaType": "image/png", "bytes": 9}}
    builder = log().turn().user("one").tools("peek").answer("a").end()
    builder.turn().system("Another.").user(text("look"), image).tools("peek", "poke").answer("b").end()
    first, second = Requests(builder.read(tmp_path)).walk()
    assert (first.shape.developers, first.shape.has_images) == ([], False)
    assert second.shape == Shape.of(second.messages)
    assert second.shape.has_images and second.shape.has_later_prompts
