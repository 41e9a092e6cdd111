"""What the slash commands of a live session do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.app.live_commands import is_command, unknown_sentence
from tui.app.live_words import unwritable_sentence
from tui.blocks.clean import clean_line
from tui.blocks.wording_downgrade import learned_route
from tui.loop.agent import AgentBusy
from tui.loop.compaction import CompactionFailed
from tui.loop.header import Selection
from tui.session.write_errors import SessionWriteError

if TYPE_CHECKING:
    from tui.app.live_screen import LiveScreen
    from tui.app.model_choices import Choice


def run_command(screen: LiveScreen, name: str, argument: str) -> None:
    """Run a command; one that does not exist is said so."""
    tr = screen.surroundings.tr
    if not is_command(name):
        screen.say(unknown_sentence(tr, clean_line(name)))
        return
    match name:
        case "compact":
            screen.run_worker(_compact(screen), exit_on_error=True)
        case "model":
            _model(screen, argument)
        case "tool-updates":
            _tool_updates(screen, argument)
        case "hold":
            screen.action_hold_tools()
        case "checkpoint":
            screen.action_recover()
        case "checked":
            screen.confirm_check()
        case "help":
            screen.action_talk_help()
        case _:
            screen.leave()


async def _compact(screen: LiveScreen) -> None:
    tr = screen.surroundings.tr
    try:
        compacted = await screen.agent.compact()
    except AgentBusy:
        screen.say(
            tr.t(
                "A turn is running; stop it with {key}, or wait, then /compact.",
                key=screen.surroundings.key_word("stop"),
            )
        )
    except CompactionFailed as failed:
        screen.say(tr.t("The history stays as it is: {reason}", reason=clean_line(failed.message)))
    except SessionWriteError as error:
        screen.say(unwritable_sentence(tr, error))
    else:
        screen.say(
            tr.n(
                "{n} message condensed, about {saved} tokens saved.",
                "{n} messages condensed, about {saved} tokens saved.",
                compacted.items,
                saved=tr.compact(compacted.saved),
            )
        )


def _tool_updates(screen: LiveScreen, argument: str) -> None:
    tr, learned = screen.surroundings.tr, screen.agent.learned
    if argument == "reset":
        learned.reset()
        screen.say(tr.t("Tool changes are tried again on every route, from the next request on."))
        return
    routes = [learned_route(tr, entry) for entry in learned.entries()]
    if not routes:
        screen.say(tr.t("No route is known to refuse tool changes."))
        return
    screen.say(
        tr.t(
            "Sent full definitions in place of tool changes: {routes}; /tool-updates reset tries again.",
            routes=clean_line(tr.join(routes)),
        )
    )


def _model(screen: LiveScreen, argument: str) -> None:
    """Ask another model: the one that is named, or one out of a list."""
    from tui.app.model_choices import choices, meant

    conversation = screen.conversation
    found, providers = choices(conversation), conversation.providers.ids
    if argument:
        _ask(screen, meant(found, argument, providers, screen.agent.selection.provider))
        return
    from tui.app.model_picker import ModelPicker

    def chosen(choice: Choice | None) -> None:
        screen.composer.focus()
        if choice is not None:
            _ask(screen, choice)

    screen.dsh_app.push_screen(ModelPicker(screen.surroundings, found, providers), chosen)


def _ask(screen: LiveScreen, choice: Choice) -> None:
    tr = screen.surroundings.tr
    if choice.is_asked:
        screen.say(tr.t("{model} is in use already.", model=clean_line(choice.name)))
        return
    try:
        screen.agent.select(Selection(provider=choice.provider, model=choice.model))
    except SessionWriteError as error:
        screen.say(unwritable_sentence(tr, error))
        return
    # What stands there before anything was said names the model too.
    screen.chat.refresh()
    screen.say(tr.t("From the next request on, {model} is used.", model=clean_line(choice.name)))
