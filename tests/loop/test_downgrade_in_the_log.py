"""What a route was sent when it refused tool changes can be made again from the log alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.loop.test_downgrade import (
    LONG,
    RECORD,
    busy_with_two_tools,
    grown,
    holds_changes,
    plainly,
    refusing,
)
from tests.support.fake_provider import FakeProvider, Reply, Seen, answer, refusal
from tests.support.loop_driver import Driver, driving, fast_policy, loopback, model, tool
from tui.export.request_wire import body_of, shown_as
from tui.export.requests_json import request_entries
from tui.llm.learned import LearnedModes
from tui.llm.providers import Providers
from tui.llm.route_book import RouteBook
from tui.nodes.reading import Reading
from tui.nodes.request_projection import doubts
from tui.nodes.requests import Requests
from tui.nodes.tool_matrix import ToolMatrix


class Rebuilt:
    """The requests of a log, made again."""

    def __init__(self, path: Path, adapter: Any) -> None:
        self.requests = Requests(Reading.open(path).read_all())
        book = RouteBook(Providers([adapter]))
        shown = [shown_as(book, request) for request in self.requests.walk()]
        self.bodies = [json.loads(json.dumps(body_of(book, each.projected, path))) for each in shown]
        self.modes = [each.sent.mode for each in shown]
        self.doubts = [doubts(self.requests, each.projected, each.sent) for each in shown]
        matrix = ToolMatrix(self.requests.reading, book=book)
        assert [matrix.column(at).mode for at in range(len(matrix))] == self.modes


def without_instruction(body: Any) -> Any:
    """A body for a summary without its instruction, which no log holds."""
    *kept, _ = body["messages"][-1]["content"]
    body["messages"][-1]["content"] = kept
    return body


async def told(driver: Driver, adapter: Any) -> Rebuilt:
    await driver.writer.flush()
    return Rebuilt(driver.writer.path, adapter)


async def test_the_probe_and_everything_after_it_is_made_again(tmp_path: Path) -> None:
    async with refusing(plainly) as provider:
        adapter = loopback(provider, model(mode="addition-only"))
        async with driving(tmp_path, adapter, tools=[tool("peek")]) as driver:
            await grown(driver, "second", "third")
            made = await told(driver, adapter)
    assert made.bodies == provider.bodies
    assert made.modes == ["addition-only", "addition-only", None, None]
    assert made.doubts == [()] * 4


async def test_retries_of_the_probe_are_made_again(tmp_path: Path) -> None:
    async with refusing(plainly, busy_with_two_tools()) as provider:
        adapter = loopback(provider, model(mode="in-history"), retry_policy=fast_policy())
        async with driving(tmp_path, adapter, tools=[tool("peek")]) as driver:
            await grown(driver)
            made = await told(driver, adapter)
    assert made.bodies == provider.bodies
    assert made.modes == ["in-history", "in-history", None, None, None]
    assert made.doubts == [()] * 5


async def test_a_probe_that_is_refused_too_is_made_again_and_called_approximate(tmp_path: Path) -> None:
    failing = False

    def reply(seen: Seen) -> Reply:
        return refusal(400, "invalid_request_error", "no") if failing else answer({"text": "yes"})

    async with FakeProvider(reply) as provider:
        adapter = loopback(provider, model(mode="addition-only"))
        async with driving(tmp_path, adapter, tools=[tool("peek")]) as driver:
            await driver.say("first")
            driver.tools.register(tool("water"))
            failing = True
            await driver.say("second")
            failing = False
            await driver.say("third")
            made = await told(driver, adapter)
    assert made.bodies == provider.bodies
    assert made.modes == ["addition-only", "addition-only", None, "addition-only"]
    assert made.doubts == [(), (), ("another-try",), ()]


async def test_a_summary_that_needed_the_probe_is_made_again(tmp_path: Path) -> None:
    accepting = True

    def reply(seen: Seen) -> Reply:
        if holds_changes(seen.body) and not accepting:
            return plainly()
        return answer({"text": "short" if "x-deepseek-harness-compact" in seen.headers else LONG})

    async with FakeProvider(reply) as provider:
        adapter = loopback(provider, model(mode="addition-only"))
        async with driving(tmp_path, adapter, tools=[tool("peek")]) as driver:
            await grown(driver, "second", "third")
            accepting = False
            await driver.agent.compact()
            await driver.say("fourth")
            made = await told(driver, adapter)
    *before, refused, summary, after = provider.bodies
    assert holds_changes(refused)
    assert without_instruction(made.bodies[3]) == without_instruction(summary)
    assert made.bodies == [*before, summary, after]
    assert made.modes[3:] == [None, None]


async def test_after_a_reset_both_ways_of_sending_are_told(tmp_path: Path) -> None:
    async with refusing(plainly) as provider:
        adapter = loopback(provider, model(mode="addition-only"))
        async with driving(tmp_path, adapter, tools=[tool("peek")]) as driver:
            await grown(driver)
            driver.agent.learned.reset()
            await driver.say("third")
            driver.tools.register(tool("zest"))
            await driver.say("fourth")
            made = await told(driver, adapter)
    assert made.bodies == provider.bodies
    full = None
    assert made.modes == ["addition-only", "addition-only", full, "addition-only", "addition-only", full]


async def test_an_endpoint_that_changed_is_told_so_that_both_are_made_again(tmp_path: Path) -> None:
    """A log names endpoints in our record alone, and a provider may move between two processes."""
    learned = LearnedModes()
    async with refusing(plainly) as poor, FakeProvider(lambda seen: answer({"text": "yes"})) as rich:
        entry, path, names = model(mode="addition-only"), None, ["peek"]
        for server in (poor, rich, poor):
            names.append("water" if len(names) == 1 else f"zest{len(names)}")
            adapter = loopback(server, entry)
            tools = [tool("peek")] if path is None else [tool(name) for name in names[:-1]]
            async with driving(tmp_path, adapter, tools=tools, learned=learned, resume=path) as driver:
                await driver.say("first")
                driver.tools.register(tool(names[-1]))
                await driver.say("second")
                assert driver.reasons[-1] == {"kind": "completed"}
                made = await told(driver, adapter)
                path = driver.writer.path
                records, headers = driver.events(RECORD), driver.events("request/header")
    assert [holds_changes(body) for body in rich.bodies] == [True, True]
    assert sum(map(holds_changes, poor.bodies)) == 1
    # Not a series: the other endpoint has refused nothing.
    assert not any(event.data.get("startsSeries") for event in headers)
    assert made.bodies == [*poor.bodies[:3], *rich.bodies, *poor.bodies[3:]]
    assert [(event.data["reason"], event.data["to"]) for event in records] == [
        ("refused", "none"),
        ("changed", "addition-only"),
        ("known", "none"),
    ]


async def test_the_document_tells_a_switch_beside_the_closed_list_of_causes(tmp_path: Path) -> None:
    async with refusing(plainly) as provider:
        adapter = loopback(provider, model(mode="addition-only"))
        async with driving(tmp_path, adapter, tools=[tool("peek")]) as driver:
            await grown(driver)
            await driver.writer.flush()
            reading = Reading.open(driver.writer.path).read_all()
    entries = list(request_entries(reading, RouteBook(Providers([adapter]))))
    assert [entry["prefix"].get("switch") for entry in entries] == [None, None, "fallback"]
    assert entries[2]["prefix"]["causes"] == ["tools-changed"]
    assert all("switch" not in entry["prefix"] for entry in entries[:2])
