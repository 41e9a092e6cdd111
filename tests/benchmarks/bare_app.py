"""The least that Textual can do: one label. What it costs to start is the measure for our own start."""

from textual.app import App, ComposeResult
from textual.widgets import Label


class BareApp(App[None]):
    """One label."""

    def compose(self) -> ComposeResult:
        yield Label("Here it is")


if __name__ == "__main__":
    BareApp().run()
