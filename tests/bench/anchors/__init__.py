"""How often anchors alert, and how often rightly: scripted edits in every language, and replayed releases."""
