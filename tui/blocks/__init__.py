"""Pure layout: cleaned text and nodes go in, lines of spans with roles come out.

Nothing here knows Textual, a colour or a terminal; whoever draws the lines maps each role to its own style.
"""
