"""A live session that is sent 2,000 deltas a second for ten seconds: `-m tests.benchmarks.stream_app KIND`.

The answer comes from the scripted provider through the loop, the log and the screen, as any answer does.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from tui.app.conversation import Conversation
from tui.app.run import talk
from tui.llm.clock import SystemClock
from tui.llm.providers import Providers
from tui.llm.script import Answers, Say, ScriptedAnswer
from tui.llm.scripted import ScriptedAdapter
from tui.loop.agent import Agent
from tui.loop.header import Selection
from tui.loop.state import AgentOptions
from tui.session.store import find_homes
from tui.session.writer import SessionWriter
from tui.settings import Settings
from tui.tools.registry import ToolRegistry

DELTAS_A_SECOND = 2_000
SECONDS = 10
DELTAS = DELTAS_A_SECOND * SECONDS

_MIXED = """## Bed {n}

The moss of bed **{n}** is `green`, and the [label](https://example.org/{n}) says so.

- misted twice
- turned *once*
  - towards the light

```python
def mist(bed: int = {n}) -> None:
    water(bed, seconds=20)  # gently
```

| bed | moisture |
|---|---:|
| {n} | 46 % |

"""
_CODE = "    moisture[{n}] = read_gauge({n})  # bed {n}\n"
_CJK = "第{n}块苗床的苔藓很绿，早晨喷过雾，下午又转了一次，朝着光。"
ENDING = "thelastword"


def text_of(kind: str, pieces: int, piece: int) -> str:
    """The answer: exactly `pieces` deltas of `piece` characters, and a last word to wait for."""
    room = pieces * piece
    head, pattern, tail = {
        "mixed": ("", _MIXED, "\n\n"),
        "code": ("```python\n", _CODE, "\n```\n\n"),
        "cjk": ("", _CJK, "\n\n"),
    }[kind]
    parts, size, number = [head], len(head), 0
    while size < room - len(tail) - len(ENDING) - 400:
        number += 1
        parts.append(pattern.format(n=number))
        size += len(parts[-1])
    return "".join(parts) + tail + ENDING


class Paced(SystemClock):
    """Sleeps so that calls come at an even pace on the whole, whatever one sleep costs."""

    def __init__(self) -> None:
        self._begun = 0.0
        self._calls = 0

    async def sleep(self, seconds: float) -> None:
        if not self._calls:
            self._begun = perf_counter()
        self._calls += 1
        ahead = self._begun + self._calls / DELTAS_A_SECOND - perf_counter()
        if ahead > 0.002 or ahead < 0:
            await asyncio.sleep(max(ahead, 0))


async def _main(kind: str, folder: Path) -> None:
    piece = 1 if kind == "cjk" else 3
    said = ScriptedAnswer((Say(text_of(kind, DELTAS, piece)),), piece=piece, pace_s=1 / DELTAS_A_SECOND)
    adapter = ScriptedAdapter(Answers([said]), Paced())
    writer = SessionWriter.create(folder, str(folder), encoding="none")
    selection = Selection(provider=adapter.provider, model="scripted-none")
    options = AgentOptions(selection=selection, write_title=False)
    providers = Providers([adapter])
    agent = Agent(writer, providers, ToolRegistry(), options)
    conversation = Conversation(agent=agent, writer=writer, providers=providers)
    homes = find_homes(os.environ)
    settings = Settings(lang="en", theme="dark", ascii=False, no_color=False, keys={}, homes=homes)
    try:
        await talk(conversation, settings=settings)
    finally:
        await conversation.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="dsh-tui-stream-") as place:
        asyncio.run(_main(sys.argv[1], Path(place)))
