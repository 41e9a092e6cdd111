"""Run by the interpreter that has dsh's SDK: resume a session there, send prompts, print what came of it."""

from __future__ import annotations

import json
import sys

from deepseek_harness import DeepSeekHarness


def main() -> None:
    wanted = json.load(sys.stdin)
    outcomes = []
    with DeepSeekHarness(
        dsh_home=wanted["home"],
        cwd=wanted["cwd"],
        profile=wanted["profile"],
        patches=tuple(wanted["patches"]),
        provider="deepseek-official",
        model="deepseek-flash",
        base_url=wanted["base_url"],
        api_key="made-up",
        initialize_timeout_seconds=60,
        request_timeout_seconds=60,
    ) as harness:
        session = harness.resume_session(wanted["session"])
        for prompt in wanted["prompts"]:
            result = session.run(prompt)
            outcomes.append({"answer": result.final_response, "end": result.finish_reason})
    json.dump(outcomes, sys.stdout)


if __name__ == "__main__":
    main()
