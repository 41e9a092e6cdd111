"""Starting a fresh session from a summary: out of the app, or from a file."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tui.cli.run import UNREADABLE, Refused, Run, say
from tui.os_reasons import os_sentence

if TYPE_CHECKING:
    from tui.app.conversation import Conversation, Starter
    from tui.config import Config
    from tui.i18n import Translator
    from tui.loop.fresh_start import FreshStart
    from tui.loop.improvement import Improvement

_MAX_BYTES: Final = 1024 * 1024
_SECRET: Final = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL", re.IGNORECASE)
"""Variables whose values are sent to no model."""
_SHORTEST: Final = 8


def starter(run: Run) -> Starter:
    """Return what the app starts fresh sessions with; a start that fails gives its sentence."""

    async def start(fresh: FreshStart) -> Conversation | str:
        from tui.blocks.clean import clean_line
        from tui.blocks.wording_errors import error_text
        from tui.cli.talking import open_conversation
        from tui.config import ConfigError
        from tui.session.errors import SessionError

        cwd = fresh.cwd if fresh.cwd and Path(fresh.cwd).is_dir() else None
        try:
            provider, model = _route(run, fresh)
            conversation = await open_conversation(run, fresh=fresh, cwd=cwd, provider=provider, model=model)
        except Refused as refused:
            return clean_line(str(refused))
        except ConfigError as error:
            return clean_line(error.sentence(run.tr))
        except SessionError as error:
            return clean_line(error_text(run.tr, error))
        except OSError as error:
            return clean_line(os_sentence(run.tr, error))

        async def tell() -> None:
            tell_how_to_resume(run, conversation)

        # Closed last first, after the app has given the terminal back.
        conversation.closers.insert(0, tell)
        return conversation

    return start


def _route(run: Run, fresh: FreshStart) -> tuple[str | None, str | None]:
    """The route that a start asks for, if it is configured. Raises ConfigError."""
    from tui.llm.providers import configured_providers

    known = configured_providers(run.config, run.config_path, os.environ)
    if fresh.provider in known.ids and fresh.model:
        return fresh.provider, fresh.model
    return None, None


def improver(config: Config, source: Path, tr: Translator) -> Improvement | str:
    """Return what asks the default route to reword a draft; a sentence where none is configured."""
    from tui.blocks.clean import clean_line
    from tui.cli.talking import no_provider
    from tui.config import ConfigError
    from tui.llm.providers import configured_providers
    from tui.loop.improvement import Improvement

    try:
        providers = configured_providers(config, source, os.environ)
    except ConfigError as error:
        return clean_line(error.sentence(tr))
    if providers.default is None:
        return no_provider(tr)
    held = [value for name, value in os.environ.items() if _SECRET.search(name) and len(value) >= _SHORTEST]
    return Improvement(providers, providers.default, held)


def summary_in(run: Run, place: str) -> FreshStart:
    """Return the start that a file holds, with the original it names. Raises Refused."""
    from tui.export.recovery import origin_of
    from tui.loop.fresh_start import FreshStart

    path = Path(place)
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise Refused(os_sentence(run.tr, error, place), status=UNREADABLE) from None
    if len(content) > _MAX_BYTES:
        raise Refused(run.tr.t("{file} is too long for a summary: it has more than 1 MB.", file=place))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused(run.tr.t("{file} is no text in UTF-8.", file=place)) from None
    if not text.strip():
        raise Refused(run.tr.t("{file} is empty; a fresh session needs a summary.", file=place))
    origin = origin_of(text)
    return FreshStart(summary=text, session=origin.session, seq=origin.seq, checkpoint=origin.is_checkpoint)


def tell_how_to_resume(run: Run, conversation: Conversation) -> None:
    """Say how a session that was left can be resumed, if it was kept."""
    if conversation.writer.path.exists():
        say(run.tr.t("Resume with: dsh-tui chat --resume {id}", id=conversation.writer.id) + "\n")
