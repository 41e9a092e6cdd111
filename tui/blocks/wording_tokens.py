"""Sentences about what requests cost: tokens kept and lost, the provider's counts, a tool change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tui.blocks.wording_requests import mode_name
from tui.i18n import Translator
from tui.llm.route import ToolUpdateMode
from tui.nodes.request_diff import Lens, Tokens
from tui.nodes.request_projection import MODES
from tui.nodes.request_table import RequestRow

_SURPRISE: Final = 2
"""How many times the estimate a cache hit may be before the assumed kind of route is doubted."""
_LITTLE: Final = 100
"""Tokens below which estimates say nothing."""
_TOOL_CAUSES: Final = frozenset({"tools-changed", "tools-redefined"})


def estimate_text(tr: Translator, tokens: Tokens) -> str:
    """What is kept of the request before, sent again and lost, as estimated."""
    return tr.t(
        "Estimated: {kept} tok up to the first difference, {rest} tok after it; {lost} tok of the request "
        "before are lost.",
        kept=tr.number(tokens.kept),
        rest=tr.number(tokens.rest),
        lost=tr.number(tokens.lost),
    )


def provider_text(tr: Translator, row: RequestRow, kept: int) -> str:
    """The provider's own counts beside our estimate of what was kept."""
    used = row.usage
    if used is None:
        return tr.t("The log holds no token counts of the provider for this request.")
    return tr.t(
        "The provider counted {hit} from its cache, of {whole} of input; "
        "our estimate of what was kept is {guess}.",
        hit=tr.t("{n} tok", n=tr.number(used.cache_read)),
        whole=tr.t("{n} tok", n=tr.number(used.input + used.cache_read + used.cache_write)),
        guess=tr.t("{n} tok", n=tr.number(kept)),
    )


def surprise_text(tr: Translator, row: RequestRow, kept: int) -> str:
    """That the provider kept more than the assumed kind of route does; empty where it did not."""
    used = row.usage
    if used is None or row.source != "assumed" or used.cache_read <= _SURPRISE * max(kept, _LITTLE):
        return ""
    return tr.t(
        "That is more than a route of the kind {mode} keeps; the kind is only assumed and may be wrong.",
        mode=mode_name(row.mode),
    )


def cost_text(tr: Translator, row: RequestRow, lenses: Mapping[ToolUpdateMode, Lens]) -> str:
    """What the tool change costs on the recorded route and would have cost on the others."""

    def told(mode: ToolUpdateMode) -> str:
        return tr.t("{n} tok", n=tr.compact(lenses[mode].tokens.lost))

    others = [
        tr.t("{tokens} on {mode}", tokens=told(mode), mode=mode_name(mode))
        for mode in MODES
        if mode != row.mode
    ]
    fields = {"tokens": told(row.mode), "mode": mode_name(row.mode), "others": tr.join(others)}
    if not lenses[row.mode].tokens.lost:
        return tr.t(
            "This tool change costs nothing on this route ({mode}), which keeps the request before whole; "
            "it would be {others}.",
            **fields,
        )
    if set(row.prefix.causes) <= _TOOL_CAUSES:
        return tr.t(
            "Because of this tool change, about {tokens} of the request before must be read again on this "
            "route ({mode}); it would be {others}.",
            **fields,
        )
    return tr.t(
        "Because of this tool change and what else happened, about {tokens} of the request before must "
        "be read again on this route ({mode}); it would be {others}.",
        **fields,
    )
