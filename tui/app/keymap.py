"""The registry's actions as Textual key bindings and as the footer's pieces.

Labels follow the reader's language, so bindings are made when a screen is made and made anew when the
language changes, not declared on the class.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TYPE_CHECKING

from tui.app.actions import ACTIONS, Action, Keys, Scope, key_names
from tui.app.status_bar import Piece
from tui.blocks.text import Span
from tui.i18n import Translator

if TYPE_CHECKING:
    from textual.binding import Binding
    from textual.dom import DOMNode


def bindings(
    keys: Mapping[str, Keys],
    tr: Translator,
    *scopes: Scope,
    only: Container[str] | None = None,
    priority: bool = False,
) -> list[Binding]:
    """Textual's bindings of the actions of some scopes, labelled in the reader's language.

    Args:
        keys: the keys in force.
        tr: the reader's language.
        scopes: whose actions.
        only: the ids to bind, where a screen does not have all actions of its scope.
        priority: whether they are heard before what has the focus.
    """
    from textual.binding import Binding

    return [
        Binding(
            key,
            action.method,
            tr.t(action.short or action.label),
            show=action.show_in_footer,
            id=action.id,
            tooltip=tr.t(action.label),
            priority=priority,
        )
        for action in ACTIONS
        if action.scope in scopes and (only is None or action.id in only)
        for key in keys[action.id]
    ]


def bind(
    node: DOMNode,
    keys: Mapping[str, Keys],
    tr: Translator,
    *scopes: Scope,
    only: Container[str] | None = None,
    priority: bool = False,
) -> None:
    """Give a widget, a screen or the app the keys of some scopes, replacing earlier ones of the registry.

    With `priority` they are heard before the keys of what has the focus.
    """
    from textual.binding import BindingsMap

    ours = {action.id for action in ACTIONS}
    kept = BindingsMap()
    for key, binding in node._bindings:  # pyright: ignore[reportPrivateUsage]
        if binding.id not in ours:
            kept.key_to_bindings.setdefault(key, []).append(binding)
    # Textual has no public way to bind keys on one widget while it lives; `BINDINGS` is per class.
    node._bindings = BindingsMap.merge(  # pyright: ignore[reportPrivateUsage]
        [BindingsMap(bindings(keys, tr, *scopes, only=only, priority=priority)), kept]
    )


def footer(
    keys: Mapping[str, Keys],
    tr: Translator,
    *,
    ascii_only: bool = False,
    present: Mapping[str, bool] | None = None,
) -> list[Piece]:
    """The keys worth a place in the footer, for a `StatusBar`.

    Args:
        keys: the keys in force.
        tr: the reader's language.
        ascii_only: name arrows by words.
        present: actions that a screen has not (id to False) are left out.

    A pair such as previous and next turn stands as one piece: `[ ] turn`.
    """
    by_id = {action.id: action for action in ACTIONS}
    pieces: list[Piece] = []
    for action in ACTIONS:
        if not action.show_in_footer or not keys[action.id] or not (present or {}).get(action.id, True):
            continue
        first_keys = [keys[other.id][0] for other in _pair(action, by_id) if keys[other.id]]
        names = key_names(first_keys, tr, ascii_only=ascii_only)
        spans = (Span(names, "key"), Span(f" {tr.t(action.short)}", "muted"))
        # Help is what brings back the keys that found no room, so it goes last.
        pieces.append(Piece(spans, keep=100 if action.id == "help" else 50 - len(pieces)))
    return pieces


def _pair(action: Action, by_id: Mapping[str, Action]) -> list[Action]:
    partner = action.id.replace("next-", "previous-").replace("-down", "-up")
    return [action] if partner == action.id or partner not in by_id else [by_id[partner], action]
