"""Layers, names, order and announcements of the registry (loop-and-adapters §6.1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tool_calls import FakeAgent, FakeTool, resolved
from tui.tools.admission import declared_order
from tui.tools.registry import ToolRegistry
from tui.tools.scope import ToolNameError
from tui.tools.tool import OutputContract, Tool


def a_tool(name: str, **facts: object) -> Tool:
    return FakeTool(name).tool(**facts)


def names(registry: ToolRegistry, agent: FakeAgent | None = None) -> list[str]:
    return [definition.name for definition in registry.schemas(agent)]


@pytest.mark.parametrize("name", ["", "a b", "net.cast", "潮", "a" * 65, "<unlisted-tools>", "cast\n"])
def test_a_name_that_no_provider_takes_is_refused(name: str) -> None:
    with pytest.raises(ToolNameError) as refused:
        ToolRegistry().register(a_tool(name))
    assert refused.value.code == "bad-name"


@pytest.mark.parametrize("name", ["a", "net_cast", "Net-Cast-9", "a" * 64])
def test_a_name_that_providers_take_is_registered(name: str) -> None:
    registry = ToolRegistry()
    registry.register(a_tool(name))
    assert names(registry) == [name]


def test_run_code_is_reserved() -> None:
    with pytest.raises(ToolNameError) as refused:
        ToolRegistry().register(a_tool("run_code"))
    assert refused.value.code == "reserved"


def test_a_name_is_registered_once_a_layer() -> None:
    registry = ToolRegistry()
    registry.register(a_tool("cast"))
    with pytest.raises(ToolNameError, match=r'^tool "cast" is already registered'):
        registry.register(a_tool("cast"))


def test_a_tool_without_an_output_contract_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        ToolRegistry().register(a_tool("cast", output=None))


@pytest.mark.parametrize("timeout", [0, -1, True, 1.5])
def test_a_timeout_that_is_not_positive_is_a_type_error(timeout: object) -> None:
    with pytest.raises(TypeError):
        ToolRegistry().register(a_tool("cast", timeout_ms=timeout))


def test_an_output_schema_outside_the_subset_is_refused() -> None:
    contract = OutputContract(schema={"type": "string", "pattern": "x"}, render=lambda _: [])
    with pytest.raises(
        TypeError, match=r"^unsupported JSON schema: schema\.pattern is not a supported keyword"
    ):
        ToolRegistry().register(a_tool("cast", output=contract))


def test_a_disposer_removes_its_own_registration_only() -> None:
    registry = ToolRegistry()
    dispose = registry.register(a_tool("cast"))
    dispose()
    registry.register(a_tool("cast"))
    dispose()
    assert names(registry) == ["cast"]


def test_the_nearest_scope_counts_and_the_global_layer_last() -> None:
    registry = ToolRegistry()
    registry.register(a_tool("cast", description="global"))
    registry.register(a_tool("tide", description="global"))
    preset = registry.scope("preset")
    preset.register(a_tool("cast", description="preset"))
    agent = registry.scope("agent", preset)
    agent.register(a_tool("reel", description="agent"))
    seen = {definition.name: definition.description for definition in registry.schemas(FakeAgent(agent))}
    assert seen == {"cast": "preset", "reel": "agent", "tide": "global"}
    assert names(registry) == ["cast", "tide"]


def test_a_restriction_narrows_what_is_inherited_but_not_what_is_its_own() -> None:
    registry = ToolRegistry()
    for name in ("cast", "reel", "tide"):
        registry.register(a_tool(name))
    scope = registry.scope("agent")
    scope.register(a_tool("knot"))
    lift = scope.restrict(allow=["cast", "reel"], deny=["reel"])
    assert names(registry, FakeAgent(scope)) == ["cast", "knot"]
    lift()
    assert names(registry, FakeAgent(scope)) == ["cast", "knot", "reel", "tide"]


def test_what_a_parent_is_denied_its_child_does_not_see() -> None:
    registry = ToolRegistry()
    registry.register(a_tool("cast"))
    registry.register(a_tool("tide"))
    preset = registry.scope("preset")
    preset.restrict(deny=["cast"])
    agent = FakeAgent(registry.scope("agent", preset))
    assert names(registry, agent) == ["tide"]
    assert registry.executable("cast", agent) is None


@pytest.mark.parametrize(
    ("allow", "deny", "code"),
    [
        (None, [], "empty-filter"),
        ([], [], "empty-filter"),
        (["nothing"], [], "unknown"),
        (None, ["nothing"], "unknown"),
        (["run_code"], [], "reserved"),
    ],
)
def test_a_restriction_must_name_what_there_is(allow: list[str] | None, deny: list[str], code: str) -> None:
    registry = ToolRegistry()
    registry.register(a_tool("cast"))
    with pytest.raises(ToolNameError) as refused:
        registry.scope("agent").restrict(allow=allow, deny=deny)
    assert refused.value.code == code


def test_tools_are_declared_by_name_as_javascript_sorts() -> None:
    registry = ToolRegistry()
    for name in ("b", "a_", "a-", "B", "a1", "a"):
        registry.register(a_tool(name))
    assert names(registry) == ["B", "a", "a-", "a1", "a_", "b"]


@given(st.lists(st.text(min_size=1, max_size=4), unique=True))
def test_order_is_by_utf_16_code_units(some: list[str]) -> None:
    def units(name: str) -> list[int]:
        encoded = name.encode("utf-16-be")
        return [int.from_bytes(encoded[at : at + 2], "big") for at in range(0, len(encoded), 2)]

    assert declared_order(some) == sorted(some, key=units)


def test_a_supplementary_character_sorts_before_the_end_of_the_plane() -> None:
    assert declared_order(["\uff5e", "\U0001f41f"]) == ["\U0001f41f", "\uff5e"]


def test_a_configured_order_takes_the_rest_where_it_says() -> None:
    registry = ToolRegistry(tool_order=["tide", "<unlisted-tools>", "cast"])
    for name in ("cast", "knot", "reel", "tide"):
        registry.register(a_tool(name))
    assert names(registry) == ["tide", "knot", "reel", "cast"]


async def test_an_order_that_lists_an_unknown_tool_is_an_error() -> None:
    registry = ToolRegistry(tool_order=["nothing"])
    with pytest.raises(ToolNameError) as refused:
        await resolved(registry)
    assert (refused.value.code, refused.value.name) == ("unknown", "nothing")


def test_an_order_that_lists_a_tool_twice_is_an_error() -> None:
    with pytest.raises(ToolNameError) as refused:
        declared_order(["cast"], ["cast", "cast"])
    assert refused.value.code == "repeated"


def test_changes_are_announced_after_the_fact() -> None:
    registry = ToolRegistry()
    heard: list[tuple[tuple[str, ...], list[str]]] = []
    stop = registry.subscribe(lambda changed: heard.append((changed, names(registry))))
    dispose = registry.register(a_tool("cast"))
    dispose()
    dispose()
    stop()
    registry.register(a_tool("tide"))
    assert heard == [(("cast",), ["cast"]), (("cast",), [])]


def test_changes_that_belong_together_are_announced_at_once() -> None:
    registry = ToolRegistry()
    heard: list[tuple[str, ...]] = []
    dispose = registry.register(a_tool("cast"))
    registry.subscribe(heard.append)
    with registry.announced_together():
        dispose()
        registry.register(a_tool("cast"))
        registry.register(a_tool("tide"))
    with registry.announced_together():
        pass
    assert heard == [("cast", "tide")]


def test_a_deferred_tool_says_so_in_its_declaration() -> None:
    deferred = a_tool("cast", description="Casts.", parameters={"type": "object"}, defer_loading=True)
    assert deferred.declaration.text == (
        '{"name":"cast","description":"Casts.","parameters":{"type":"object"},"deferLoading":true}'
    )
    assert "deferLoading" not in a_tool("cast").declaration.to_json()
