"""A process that appends to a session until it is killed; every seq it prints was durable before.

python -m tests.support.append_until_killed HOME | RESUMED_LOG
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.support.session_logs import converse
from tui.session.writer import SessionWriter


async def main(target: Path) -> None:
    writer = SessionWriter.resume(target) if target.is_file() else SessionWriter.create(target, "/srv/moss")
    print("log", writer.path, flush=True)
    turn = writer.last_turn
    while True:
        turn += 1
        converse(writer, turn, steps=1 + turn % 3)
        if turn % 2:
            await writer.flush()
            print("durable", writer.next_seq - 1, flush=True)
        else:
            await asyncio.sleep(0)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
