"""Write a new note, through python-frontmatter with a handler of our own.

The library's own handlers change what they write (dates, quoting, blank lines) and its readers change what they read,
so the handler brings our text for the block and keeps the body as it was given. A person's existing file is never
passed through here: it is edited by `domain.edits`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import frontmatter
from frontmatter.default_handlers import BaseHandler

from remvault.domain.fields import FIELDS
from remvault.domain.frontmatter import Split, read
from remvault.domain.yaml_values import Plain, Value, render_block

_TYPED = ("number", "flag", "time")


class FailsafeHandler(BaseHandler):
    """Frontmatter whose scalars are text, as FORMAT has it, in the library's handler protocol."""

    FM_BOUNDARY = re.compile(r"^---[ \t]*$", re.MULTILINE)
    START_DELIMITER = "---"
    END_DELIMITER = "---"

    def load(self, fm: str) -> dict[str, Any]:
        """Parse a block into nested text, refusing what notes may not hold (`frontmatter.Unreadable`)."""
        block = read(Split("", "---\n", fm, "---\n", ""))
        return {key: entry.node.plain_value() for key, entry in block.entries.items()}

    def export(self, metadata: dict[str, object], **kwargs: object) -> str:
        """Write a block; known keys come in the order of the field table, the others behind them as given."""
        known = {key: cast(Value, metadata[key]) for key in FIELDS if key in metadata}
        other = {key: cast(Value, value) for key, value in metadata.items() if key not in FIELDS}
        return render_block({key: _typed(key, value) for key, value in (known | other).items()})

    def format(self, post: frontmatter.Post, **kwargs: object) -> str:
        """Join block and body without trimming either."""
        return f"---\n{self.export(post.metadata)}---\n{post.content}"


def new_note(fields: Mapping[str, Value], body: str) -> str:
    """Return the text of a new note from fields by kebab-case key; a body ends in exactly one newline."""
    body = body.rstrip() + "\n" if body.strip() else ""
    post = frontmatter.Post(body)
    post.metadata.update(fields)  # not as keywords: a person may have a key named "content"
    return frontmatter.dumps(post, handler=FailsafeHandler())


def _typed(key: str, value: Value) -> Value:
    """Numbers, flags and times stand unquoted; everything else is text."""
    is_typed = key in FIELDS and FIELDS[key].kind in _TYPED
    if is_typed and isinstance(value, str):
        return Plain(value)
    if key == "provenance" and value is not None and not isinstance(value, (str, Plain, Mapping)):
        return [_typed_entry(item) for item in value]
    return value


def _typed_entry(item: Value) -> Value:
    if not isinstance(item, Mapping):
        return item
    return {key: Plain(text) if key == "captured" and isinstance(text, str) else text for key, text in item.items()}
