"""The terminal app: screens, the virtual block view, chrome widgets, the action registry and the styles.

The only package that knows Textual. Everything it shows is computed below it: nodes fold events, blocks lay
them out as lines of role-tagged spans, and this package turns those lines into strips on a screen.
"""
