"""Which segments of the text index the next generation keeps, and which it writes anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from remvault.index.postings import DamagedIndex, Segment

# More segments than this are merged into one, the large ones excepted: each costs a look for every term.
_SEGMENTS = 8
_LARGE = 2_000  # documents


def plan_segments(segments: Sequence[Segment], buried: Mapping[str, int]) -> tuple[list[Segment], list[Segment]]:
    """Decide which segments the next generation keeps and which it writes anew; the others hold nothing live.

    Args:
        segments: of the present generation.
        buried: dead documents of each, after the change at hand.
    """
    live = {one.name: len(one.numbers) - buried[one.name] for one in segments}
    kept = [one for one in segments if live[one.name]]
    rewritten = [one for one in kept if buried[one.name] > live[one.name] and live[one.name] <= _LARGE]
    if len(kept) >= _SEGMENTS:
        total = 0
        for one in sorted(kept, key=lambda one: live[one.name]):
            if live[one.name] > _LARGE or (total and live[one.name] > max(2 * total, _SEGMENTS)):
                break
            total += live[one.name]
            if one not in rewritten:
                rewritten.append(one)
    return [one for one in kept if one not in rewritten], rewritten


def segment_of(number: int, segments: Sequence[Segment]) -> Segment:
    """The segment that holds a document; raises DamagedIndex when there is none."""
    for segment in segments:
        if number in segment.numbers:
            return segment
    raise DamagedIndex(f"no segment holds document {number}")
