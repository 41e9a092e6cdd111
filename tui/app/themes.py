"""The themes: a calm dark one, its light counterpart, and one that leaves the colours to the terminal.

A theme is a small set of tones; `app.tcss` says which role wears which tone. Every tone reads with a
contrast of at least 4.5 on the background, on raised panels and under the cursor (tested). Roles differ in
glyph or word too, so nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.app import App
    from textual.theme import Theme

DARK = "dsh-dark"
LIGHT = "dsh-light"
ANSI = "dsh-ansi"


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one theme: three grounds, three greys and eight tones."""

    background: str
    panel: str
    cursor: str
    """Ground of the block under the cursor."""
    text: str
    muted: str
    faint: str
    green: str
    red: str
    cyan: str
    blue: str
    magenta: str
    amber: str
    orange: str
    match: str
    """Ground of a search match, under `match_text`."""
    match_text: str
    line: str
    """Borders and scrollbars; no text."""

    @property
    def grounds(self) -> tuple[str, str, str]:
        """What text stands on."""
        return self.background, self.panel, self.cursor

    @property
    def inks(self) -> dict[str, str]:
        """What text is written in, by name."""
        names = ("text", "muted", "faint", "green", "red", "cyan", "blue", "magenta", "amber", "orange")
        return {name: getattr(self, name) for name in names}


PALETTES: Mapping[str, Palette] = {
    DARK: Palette(
        background="#15181d",
        panel="#1b1f26",
        cursor="#232a35",
        text="#d7dbe2",
        muted="#a0a9b6",
        faint="#8a94a3",
        green="#8bc48a",
        red="#f08a82",
        cyan="#74c0d6",
        blue="#8fb4f0",
        magenta="#cf9ee0",
        amber="#e3b566",
        orange="#e39a6b",
        match="#e3b566",
        match_text="#15181d",
        line="#3a4452",
    ),
    LIGHT: Palette(
        background="#fbfbf9",
        panel="#f3f3f0",
        cursor="#e6ebf2",
        text="#22272e",
        muted="#566070",
        faint="#5f6875",
        green="#23702f",
        red="#b3261e",
        cyan="#0b6a80",
        blue="#1d57b5",
        magenta="#8a2fa5",
        amber="#835400",
        orange="#9a4308",
        match="#ffd98a",
        match_text="#22272e",
        line="#c3cad4",
    ),
    ANSI: Palette(
        background="ansi_default",
        panel="ansi_default",
        cursor="ansi_default",
        text="ansi_default",
        muted="ansi_default",
        faint="ansi_default",
        green="ansi_green",
        red="ansi_red",
        cyan="ansi_cyan",
        blue="ansi_blue",
        magenta="ansi_magenta",
        amber="ansi_yellow",
        orange="ansi_yellow",
        match="ansi_yellow",
        match_text="ansi_black",
        line="ansi_default",
    ),
}
NEXT_THEME: Mapping[str, str] = {DARK: LIGHT, LIGHT: DARK, ANSI: DARK}


def variables(palette: Palette) -> dict[str, str]:
    """The palette as variables for `.tcss` files: `$tone-green`, `$ground-cursor`, …"""
    return {
        **{f"tone-{name}": colour for name, colour in palette.inks.items()},
        "tone-match": palette.match_text,
        "tone-line": palette.line,
        "ground": palette.background,
        "ground-panel": palette.panel,
        "ground-cursor": palette.cursor,
        "ground-match": palette.match,
        # Textual's own widgets (input, palette) take these.
        "block-cursor-background": palette.cursor,
        "block-cursor-foreground": palette.text,
        "block-cursor-text-style": "bold",
        "footer-background": palette.panel,
        "scrollbar": palette.line,
        "scrollbar-background": palette.background,
        "border": palette.line,
        "border-blurred": palette.line,
        # Asked for by the style sheets of Textual when a theme leaves colours to the terminal.
        "ansi-background": palette.background,
        "ansi-foreground": palette.text,
    }


def theme(name: str) -> Theme:
    """One of the three themes as Textual knows them; KeyError for another name."""
    from textual.theme import Theme

    palette = PALETTES[name]
    return Theme(
        name=name,
        primary=palette.blue,
        secondary=palette.cyan,
        accent=palette.blue,
        success=palette.green,
        warning=palette.amber,
        error=palette.red,
        foreground=palette.text,
        background=palette.background,
        surface=palette.background,
        panel=palette.panel,
        dark=name != LIGHT,
        ansi=name == ANSI,
        variables=variables(palette),
    )


def register(app: App[Any], name: str = DARK) -> None:
    """Make the themes known to an app and wear one; to be called before its first style sheet is read.

    Without colour the terminal's own theme is worn whatever the name, so that only attributes are left.
    """
    for known in PALETTES:
        app.register_theme(theme(known))
    app.theme = ANSI if app.no_color else name


def variable_defaults() -> dict[str, str]:
    """Values for `App.get_theme_variable_defaults`, for themes that are not ours."""
    return variables(PALETTES[DARK])


def wants_ansi(environ: Mapping[str, str]) -> bool | None:
    """The `ansi_color` argument of `App`: True makes NO_COLOR drop colours, where Textual greys them."""
    return True if environ.get("NO_COLOR") is not None else None
