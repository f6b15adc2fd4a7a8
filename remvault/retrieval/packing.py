"""Fit memories into a budget: whole ones only, best first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from remvault.retrieval.rendering import Format, Item, left_out_line, render_block, render_item

# Without a tokenizer of the model at hand: English prose and code average a little under four characters a token
# (OpenAI's tokenizer notes say "roughly 4 characters"), so three keeps the estimate on the safe side.
CHARS_PER_TOKEN = 3
_SEPARATOR: dict[Format, int] = {"xml": 0, "md": 1, "json": 2}  # characters between two memories


@dataclass(frozen=True, slots=True)
class Packed:
    """The block, what is in it and what is not, in rank order."""

    block: str
    items: tuple[tuple[Item, int], ...]  # with the characters each takes
    left_out: tuple[tuple[str, str], ...]  # id and why


def pack(
    candidates: Sequence[Item],
    *,
    budget_chars: int,
    max_items: int,
    form: Format,
    ladder: Callable[[Item], Sequence[str]],
    look: Callable[[Item], Item | str] = lambda item: item,
) -> Packed:
    """Choose and render memories so that the whole block is at most `budget_chars` characters.

    Args:
        candidates: best first.
        ladder: the texts that may stand for an item, longest first; the first that fits is taken, never a part of one.
        look: asked for each candidate while there is room: the item as it is to be shown, or why it is not.
    """
    # Room for the frame and for the last line at its longest, so that adding either never breaks the budget.
    frame = len(render_block(["x"], form)) - 1
    reserve = frame + len(left_out_line(10**6)) + 4
    rendered: list[str] = []
    items: list[tuple[Item, int]] = []
    left_out: list[tuple[str, str]] = []
    used, unfit = 0, 0
    for candidate in candidates:
        if len(items) >= max_items:
            left_out.append((candidate.id, f"over {max_items} memories"))
            continue
        item = look(candidate)
        if isinstance(item, str):
            left_out.append((candidate.id, item))
            unfit += 1
            continue
        for text in ladder(item):
            chosen = replace(item, text=text)
            piece = render_item(chosen, form)
            size = len(piece) + _SEPARATOR[form]
            if used + size + reserve <= budget_chars:
                rendered.append(piece)
                items.append((chosen, len(piece)))
                used += size
                break
        else:
            left_out.append((item.id, "does not fit the budget"))
    block = render_block(rendered, form, left_out=len(left_out) - unfit)
    return Packed(block, tuple(items), tuple(left_out))
