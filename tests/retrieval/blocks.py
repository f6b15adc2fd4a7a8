"""Reading a block back, strictly: written from what the forms look like, not from how they are made."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from typing import Any

from remvault.retrieval.frame import Form
from remvault.retrieval.rendering import BRIEF, PREAMBLE, Item

DELIMITER = "ghijklmopqsv"
_REFERENCE = re.compile(r"&(?:amp|lt|gt|quot|#x[0-9a-f]+);")
_NAMED = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"'}
_ATTRIBUTE = re.compile(r' ([a-z]+)="([^"<>\n]*)"')
_XML_ITEM = re.compile(
    r"<memory(?P<facts>[^<>\n]*)>\n(?P<said>[^<>]*)\n"
    r"<remvault(?P<added>[^<>\n]*)(?:/>|>(?P<labels>[^<>\n]*)</remvault>)\n(?:<doubt>(?P<doubts>[^<>\n]*)</doubt>\n)?</memory>\n"
)
_MD_ITEM = re.compile(
    r"### (?P<title>[^\n]*)\n- note: (?P<facts>[^\n]*)\n(?P<text>(?:> [^\n]*\n)*)"
    r"- remvault: (?P<added>[^\n]*)\n(?:- doubt: (?P<doubts>[^\n]*)\n)?\n"
)
_FACTS = ("id", "provider", "type", "epistemic", "scope", "source")
_ADDED = ("rank", "freshness", "age", "trust")


class NoBlock(AssertionError):
    """The text is no block."""


@dataclass(frozen=True)
class Block:
    """What a block holds."""

    parts: dict[str, list[Item]]
    line: str = ""
    more: str = ""


def parse_block(text: str, form: Form, delimiter: str = DELIMITER) -> Block:
    """Read a block; raises NoBlock where anything is not as it should be."""
    if PREAMBLE not in text:  # a small block has a shorter one
        text = text.replace(BRIEF, PREAMBLE, 1)
    if text.count(delimiter) != 2:
        raise NoBlock(f"the delimiter stands there {text.count(delimiter)} times")
    return {"xml": _xml, "md": _markdown, "json": _json}[form](text, delimiter)


def _xml(text: str, delimiter: str) -> Block:
    head, tail = f"<memories-{delimiter}>\n{PREAMBLE}\n", f"</memories-{delimiter}>\n"
    rest = _between(text, head, tail)
    parts: dict[str, list[Item]] = {}
    line = ""
    while match := re.match(r"<(core|files|relevant|catalog)>\n", rest):
        name = match[1]
        inside, closed, rest = rest[match.end() :].partition(f"</{name}>\n")
        _expect(bool(closed), f"{name} is not closed")
        if name == "catalog":
            line = _unreferenced(inside.removesuffix("\n"))
            continue
        parts[name] = _all(_XML_ITEM, inside, _xml_item)
    return Block(parts, line, _unreferenced(rest.removesuffix("\n")))


def _xml_item(match: re.Match[str]) -> Item:
    title, _, text = match["said"].partition("\n")
    values = _attributes(match["facts"], _FACTS) | _attributes(match["added"], _ADDED)
    labels = _listed(match["labels"] or "", _unreferenced)
    doubts = _listed(match["doubts"] or "", _unreferenced)
    return _item(values, _unreferenced(title), _unreferenced(text), labels, doubts)


def _attributes(text: str, known: tuple[str, ...]) -> dict[str, str]:
    found = _ATTRIBUTE.findall(text)
    _expect("".join(f' {name}="{value}"' for name, value in found) == text, f"attributes: {text}")
    _in_order([name for name, _ in found], known)
    return {name: _unreferenced(value) for name, value in found}


def _markdown(text: str, delimiter: str) -> Block:
    head, tail = f"# memories {delimiter}\n\n{PREAMBLE}\n\n", f"# end of memories {delimiter}\n"
    rest = _between(text, head, tail)
    parts: dict[str, list[Item]] = {}
    line = ""
    while match := re.match(r"## (core|files|relevant|catalog)\n\n", rest):
        rest = rest[match.end() :]
        if match[1] == "catalog":
            shown, _, rest = rest.partition("\n\n")
            line = _plain(shown)
            continue
        items = []
        while one := _MD_ITEM.match(rest):
            items.append(_markdown_item(one))
            rest = rest[one.end() :]
        parts[match[1]] = items
    more, _, nothing = rest.partition("\n\n")
    _expect(not nothing, f"behind the last line: {nothing}")
    return Block(parts, line, _plain(more))


def _markdown_item(match: re.Match[str]) -> Item:
    quoted = [line.removeprefix("> ") for line in match["text"].split("\n")[:-1]]
    facts = _pairs(match["facts"].split(" · "), _FACTS)
    added_text, _, labels_text = match["added"].partition(" | ")
    added = _pairs(added_text.split(" · "), _ADDED)
    labels = _listed(labels_text, _plain)
    doubts = _listed(match["doubts"] or "", _plain)
    return _item(facts | added, _plain(match["title"]), _unreferenced("\n".join(quoted)), labels, doubts)


def _pairs(pieces: list[str], known: tuple[str, ...]) -> dict[str, str]:
    found = [one.partition(" ") for one in pieces]
    _in_order([name for name, _, _ in found], known)
    return {name: _plain(value) for name, _, value in found}


def _json(text: str, delimiter: str) -> Block:
    values = json.loads(text)
    _expect(values.pop("begin") == values.pop("end") == delimiter, "bounds")
    _expect(values.pop("about") == PREAMBLE, "preamble")
    _expect(not re.search("[<>&]", text), "a tag may be closed")
    line = "".join(values.pop("catalog", []))
    more = values.pop("more", "")
    return Block({name: [_json_item(one) for one in many] for name, many in values.items()}, line, more)


def _json_item(values: dict[str, Any]) -> Item:
    added = dict(values.pop("remvault"))
    labels, doubts = tuple(added.pop("labels", ())), tuple(values.pop("doubts", ()))
    title, text = values.pop("title"), values.pop("text")
    _in_order(list(values), _FACTS)
    _in_order(list(added), _ADDED)
    return _item(values | added, title, text, labels, doubts)


def _item(values: dict[str, str], title: str, text: str, labels: tuple[str, ...], doubts: tuple[str, ...]) -> Item:
    known: dict[str, Any] = dict(values)
    if "rank" in known:
        known["rank"] = int(known["rank"])
    _expect(known.keys() <= {one.name for one in fields(Item)}, "fields")
    return Item(title=title, text=text, labels=labels, doubts=doubts, **known)


def _all(pattern: re.Pattern[str], text: str, make: Any) -> list[Item]:
    found, at = [], 0
    while match := pattern.match(text, at):
        found.append(make(match))
        at = match.end()
    _expect(at == len(text), f"no memory: {text[at : at + 80]!r}")
    return found


def _between(text: str, head: str, tail: str) -> str:
    _expect(text.startswith(head) and text.endswith(tail), "bounds")
    return text[len(head) : -len(tail)]


def _listed(text: str, undo: Any) -> tuple[str, ...]:
    return tuple(undo(one) for one in text.split(" · ")) if text else ()


def _unreferenced(text: str) -> str:
    return _REFERENCE.sub(lambda match: _NAMED.get(match[0]) or chr(int(match[0][3:-1], 16)), text)


def _plain(text: str) -> str:
    return _unreferenced(re.sub(r"\\(.)", r"\1", text))


def _in_order(names: list[str], known: tuple[str, ...]) -> None:
    _expect(names == [name for name in known if name in names], f"names: {names}")


def _expect(is_so: bool, why: str) -> None:
    if not is_so:
        raise NoBlock(why)
