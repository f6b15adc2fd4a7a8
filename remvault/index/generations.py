"""Write the next generation of the index on disk: what of the old one is kept, what is written anew, what is read.

Owns: the order of it all, small segments, whether several processes share the work.
Leaves alone: what changed (changes), when to write and the manifest on disk (reconcile), index files (text_index).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from remvault.index.analysis import Analyzer
from remvault.index.changes import Seen
from remvault.index.manifest import Manifest, dead_json
from remvault.index.postings import DamagedIndex, Document, Segment, numbered
from remvault.index.reading import Batch, Reader
from remvault.index.retiring import bury, retire, terms_of
from remvault.index.schema import stored_documents
from remvault.index.segments import plan_segments, segment_of

if TYPE_CHECKING:
    from remvault.index.text_index import TextIndex


def write_all(folder: Path, seen: Seen, reader: Reader) -> tuple[int, Batch]:
    """Write a fresh index of all that a look found; returns the generation, and what was read.

    Raises:
        DamagedIndex, IndexBusy, OSError: the disk does not take it.
    """
    from remvault.index.text_index import join_folders, write_generation

    processes = _process_count(reader, seen)
    if processes > 1:
        from remvault.index.building import parts_of

        # One process may still do it where this fails: some places allow no others.
        with suppress(DamagedIndex), parts_of(folder, seen, reader, Batch(), processes=processes) as parts:
            return join_folders(folder, parts.folders), parts.batch
    batch = Batch()
    return write_generation(folder, reader.read(seen, batch), generation=None), batch


def write_changes(folder: Path, index: TextIndex, fresh: Manifest, seen: Seen, reader: Reader) -> Batch:
    """Write the generation that follows `index`, the present one, for what a look found changed.

    `fresh` is the manifest to be: the generation, totals, what is dead, and the numbers of documents that are written
    again are put into it. What was read is returned, and is not yet.

    Raises:
        DamagedIndex, IndexBusy, OSError: it cannot be built on, or the disk does not take it.
    """
    from remvault.index.text_index import join_folders, write_generation

    generation, segments, dead = seen.known.generation, index.segments(), seen.known.dead()
    assert generation is not None
    buried = {segment.name: dead[segment.name].documents if segment.name in dead else 0 for segment in segments}
    for entry in seen.retired:
        buried[segment_of(entry.number, segments).name] += len(entry.numbers)
    kept, rewritten = plan_segments(segments, buried)
    names = {segment.name for segment in kept}
    retired = retire(index, seen.retired, fresh, dead, kept)
    batch, processes = Batch(next_number=fresh.next_number), _process_count(reader, seen)
    again = _again(index, fresh, seen, rewritten, reader.analyzer, batch)
    if processes > 1:
        from remvault.index.building import parts_of

        work = parts_of(folder, seen, reader, batch, processes=processes, again=again, retired=(generation, retired))
        with work as parts:
            bury(dead, parts.terms)
            fresh.generation = join_folders(folder, parts.folders, generation=generation, keep=names)
    else:
        bury(dead, terms_of(index, retired, reader.analyzer))
        documents = chain(again, reader.read(seen, batch))
        fresh.generation = write_generation(folder, documents, generation=generation, keep=names)
    index.close()
    fresh.dead_json = dead_json({name: one for name, one in dead.items() if name in names})
    return batch


def _process_count(reader: Reader, seen: Seen) -> int:
    """Only what lies on disk as it is read can be read by others."""
    from remvault.index import building
    from remvault.index.remembered import RememberedFolder

    is_on_disk = reader.source.tree is None or isinstance(reader.source.tree, RememberedFolder)
    return building.process_count(len(seen.read)) if is_on_disk else 1


def _again(
    index: TextIndex, fresh: Manifest, seen: Seen, segments: Sequence[Segment], analyzer: Analyzer, batch: Batch
) -> Iterator[Document]:
    """The live documents of these segments under new numbers, from what was stored of them."""
    for entry in [one for one in fresh.rows.values() if any(one.number in segment.numbers for segment in segments)]:
        if entry.path not in seen.read:
            found = numbered(stored_documents(index.stored(entry.number), analyzer), batch.next_number)
            fresh.rows[entry.path] = entry._replace(number=batch.next_number)
            batch.next_number += len(found)
            yield from found
