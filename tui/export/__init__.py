"""Writers of a session: text, Markdown, JSON, HTML and SVG; nothing here holds a whole document in memory."""

from tui.export.writers import FORMATS, VIEWS, Export, write_export

__all__ = ["FORMATS", "VIEWS", "Export", "write_export"]
