"""What the index costs, next to a floor or a peer measured in the same run. Nothing is printed here."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from remvault.domain.note import parse_note
from remvault.index import building, reading
from remvault.index.analysis import Analyzer
from remvault.index.query import build_query
from remvault.index.reconcile import NoteSource, reconcile
from remvault.index.schema import note_documents
from remvault.index.snapshot import POSTING_BUDGET
from remvault.index.text_index import write_generation
from remvault.store.state import State
from remvault.store.trees import DirectoryTree
from tests.bench.figures import Figure, alternating_ms
from tests.bench.vault_generator import generate, query_words

Measured = dict[str, float]
_REPEATS = 9


def figures(base: Path, *, notes: int, runs: int) -> Iterator[Figure]:
    """Measure everything on a fresh vault of so many notes below `base`, one figure at a time."""
    root, state = base / "vault", State(base / "caches", base / "caches")
    generate(root, notes)
    build = full_build(root, base / "build")
    yield Figure(
        f"full build, {notes:,} notes, two processes against one",
        f"{build['two processes notes/s']:.0f} notes/s, {build['two processes documents/s']:.0f} documents/s, "
        f"{build['ratio to one process']:.2f}x",
        "at least 2x one",
        build["ratio to one process"] >= 2,
    )
    shares = build_shares(root, base / "shares", notes=min(notes, 2000))
    yield Figure(
        "where a build's time goes",
        f"parse {shares['parse %']:.0f} %, analysis {shares['analysis %']:.0f} %, Whoosh {shares['whoosh %']:.0f} %",
        "",
        None,
    )
    plain = plain_whoosh_build(root, base / "plain", notes=min(notes, 2000))
    yield Figure("Whoosh as it comes, one process", f"{plain['plain whoosh notes/s']:.0f} notes/s", "", None)
    quiet = reconcile_quiet(root, state, runs=runs)
    yield Figure(
        f"reconcile with nothing changed, {notes:,} notes",
        f"{quiet['reconcile ms']:.0f} ms, {quiet['ratio']:.2f}x a bare scandir + stat",
        "at most 3x",
        quiet["ratio"] <= 3,
    )
    edit = reconcile_one_edit(root, state, runs=runs)
    yield Figure(
        "reconcile after one edit",
        f"{edit['one edit ms']:.0f} ms, {edit['ratio']:.1f}x nothing changed, {edit['notes parsed']:.0f} note parsed",
        "under 10x, 1 note",
        edit["ratio"] < 10 and edit["notes parsed"] == 1,
    )
    asked, free = queries(root, state), queries(root, state, budget=None)
    yield Figure(
        "query in the process, 1 to 4 words, with scope",
        f"p50 {asked['p50 ms']:.0f}, p95 {asked['p95 ms']:.0f} ms (no budget: {free['p95 ms']:.0f} ms), "
        f"{asked['files opened']:.0f} notes opened",
        "p95 at most 60 ms, 0",
        asked["p95 ms"] <= 60 and not asked["files opened"],
    )
    long = prompts(root, state)
    yield Figure("a prompt of 40 words as query", f"p50 {long['p50 ms']:.0f}, p95 {long['p95 ms']:.0f} ms", "", None)


def reconcile_quiet(root: Path, state: State, *, runs: int = _REPEATS) -> Measured:
    """Reconcile with nothing changed against a bare recursive scandir and stat of the same folder (milliseconds)."""
    source = _settled(root, state)
    bare, quiet = alternating_ms(lambda: _bare_scan(root), lambda: reconcile(source, state), runs=runs)
    return {
        "bare scan ms": bare,
        "reconcile ms": quiet,
        "ratio": quiet / bare,
        "notes": len(reconcile(source, state).rows),
    }


def reconcile_one_edit(root: Path, state: State, *, runs: int = _REPEATS) -> Measured:
    """Reconcile after one edit against one with nothing changed, and the notes parsed for it."""
    source = _settled(root, state)
    quiet = statistics.median(_ms(lambda: reconcile(source, state)) for _ in range(runs))
    paths = sorted(root.rglob("*.md"))
    chance, times, parsed = random.Random(5), [], []
    for number in range(runs):
        path = chance.choice(paths)
        path.write_bytes(path.read_bytes() + f"\nedited {number}\n".encode())
        told: list[int] = []
        times.append(_ms(lambda: reconcile(source, state, progress=lambda done, total: told.append(total))))  # noqa: B023
        parsed.append(max(told, default=0))
    edited = statistics.median(times)
    return {"quiet ms": quiet, "one edit ms": edited, "ratio": edited / quiet, "notes parsed": max(parsed)}


def queries(root: Path, state: State, *, count: int = 200, budget: int | None = POSTING_BUDGET) -> Measured:
    """Queries of one to four words with an owner filter, inside the process; no note file is opened (milliseconds).

    The first query, which opens the index, is given apart. `files opened` counts notes opened during the queries.
    """
    snapshot, analyzer = reconcile(_settled(root, state), state), Analyzer()
    words, chance = query_words(count * 4), random.Random(6)
    owners = [frozenset({"global:", f"project:project-{number}"}) for number in range(20)]
    first = _ms(lambda: snapshot.match(build_query("deploy server", analyzer), owners=owners[0], posting_budget=budget))
    opened = _Opened(root)
    times, postings, dropped = [], [], 0
    with opened:
        for number in range(count):
            text = " ".join(words[number * 4 : number * 4 + 1 + number % 4])
            started = time.perf_counter()
            asked = build_query(text, analyzer)
            matches = snapshot.match(asked, owners=chance.choice(owners), posting_budget=budget)
            times.append((time.perf_counter() - started) * 1000)
            postings.append(matches.postings)
            dropped += len(matches.dropped)
    return _percentiles(times) | {
        "first ms": first,
        "postings p95": _percentile(postings, 95),
        "words dropped": dropped,
        "files opened": opened.count,
    }


def prompts(root: Path, state: State, *, count: int = 60, budget: int | None = POSTING_BUDGET) -> Measured:
    """Queries as long as a prompt, 40 words."""
    snapshot, analyzer = reconcile(_settled(root, state), state), Analyzer()
    words = query_words(count * 40, seed=9)
    times = [
        _ms(
            lambda: snapshot.match(
                build_query(" ".join(words[number * 40 : number * 40 + 40]), analyzer),  # noqa: B023
                owners=frozenset({"global:", "project:project-3"}),
                posting_budget=budget,
            )
        )
        for number in range(count)
    ]
    return _percentiles(times)


def full_build(root: Path, folder: Path) -> Measured:
    """A full build in two processes and in one."""
    files = DirectoryTree(root).scan().files
    several = _build(root, folder, processes=2)
    single = _build(root, folder, processes=1)
    return {
        "notes": len(files),
        "two processes notes/s": len(files) / several["s"],
        "two processes documents/s": several["documents"] / several["s"],
        "one process notes/s": len(files) / single["s"],
        "ratio to one process": single["s"] / several["s"],
        "index bytes a note": several["bytes"] / len(files),
    }


def plain_whoosh_build(root: Path, folder: Path, *, notes: int = 2000) -> Measured:
    """The peer: the same notes through Whoosh's own writer, stemming analyzer and text fields, in one process."""
    code = (
        "import sys, time; from pathlib import Path\n"
        "from whoosh import analysis, fields, index\n"
        "from remvault.domain.note import parse_note\n"
        "from remvault.store.trees import DirectoryTree\n"
        "text = lambda: fields.TEXT(analyzer=analysis.StemmingAnalyzer(), stored=True)\n"
        "schema = fields.Schema(path=fields.ID(unique=True, stored=True), owner=fields.ID, title=text(),"
        " tags=text(), headings=text(), body=text())\n"
        "tree = DirectoryTree(Path(sys.argv[1])); paths = tree.paths()[: int(sys.argv[3])]\n"
        "started = time.perf_counter()\n"
        "writer = index.create_in(sys.argv[2], schema).writer()\n"
        "for path in paths:\n"
        "    note = parse_note(path, tree.read(path)); memory = note.memory\n"
        "    writer.add_document(path=path, owner=memory.owner or '', title=memory.title or '',"
        " tags=' '.join(memory.tags), headings='', body=note.body)\n"
        "writer.commit(); print(len(paths) / (time.perf_counter() - started))\n"
    )
    _empty(folder)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, root, folder, str(notes)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return {"plain whoosh notes/s": float(done.stdout)}


def build_shares(root: Path, folder: Path, *, notes: int = 2000) -> Measured:
    """Where the time of one process goes: reading, parsing, analysis, Whoosh; in percent."""
    tree, analyzer = DirectoryTree(root), Analyzer()
    paths = tree.paths()[:notes]
    marks = [time.process_time()]
    data = [tree.read(path) for path in paths]
    marks.append(time.process_time())
    parsed = [parse_note(path, one) for path, one in zip(paths, data, strict=True)]
    marks.append(time.process_time())
    documents = [note_documents(note.memory, note.body, note.body_line, analyzer) for note in parsed]
    marks.append(time.process_time())
    numbers, batch = iter(range(10**9)), []
    for one in documents:
        batch += reading.numbered(one, next(numbers))
    batch = [document._replace(number=number) for number, document in enumerate(batch, 1)]
    marks.append(time.process_time())
    _empty(folder)
    write_generation(folder, batch, generation=None)
    marks.append(time.process_time())
    read, parse, analyse, _, write = (second - first for first, second in itertools.pairwise(marks))
    total = read + parse + analyse + write
    return {
        "read %": 100 * read / total,
        "parse %": 100 * parse / total,
        "analysis %": 100 * analyse / total,
        "whoosh %": 100 * write / total,
        "ms a note": 1000 * total / len(paths),
        "postings a note": sum(len(document.content.terms) for document in batch) / len(paths),
    }


def _build(root: Path, folder: Path, *, processes: int) -> Measured:
    """Build once with so many processes; seconds, documents and bytes."""
    _empty(folder)
    state = State(folder, folder)
    count = building.process_count
    building.process_count = lambda notes: processes
    try:
        started = time.perf_counter()
        snapshot = reconcile(NoteSource(root), state)
        seconds = time.perf_counter() - started
    finally:
        building.process_count = count
    rows = snapshot._view.manifest.totals
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return {"s": seconds, "documents": sum(one.documents for one in rows.values()), "bytes": size}


class _Opened:
    """Counts the notes opened below a folder while it is entered, by Python's own audit events."""

    def __init__(self, root: Path) -> None:
        self.count, self._root, self._is_on = 0, os.fspath(root), False
        sys.addaudithook(self._hear)

    def __enter__(self) -> None:
        self._is_on = True

    def __exit__(self, *_: object) -> None:
        self._is_on = False

    def _hear(self, event: str, args: tuple[object, ...]) -> None:
        if self._is_on and event == "open" and str(args[0]).endswith(".md"):
            self.count += 1


def _settled(root: Path, state: State) -> NoteSource:
    """The vault, indexed, with no stat in doubt: the second look, two seconds after the last change, clears them."""
    source = NoteSource(root)
    reconcile(source, state)
    newest = max(max(stat.mtime_ns, stat.ctime_ns) for stat in source.files.scan().files.values())
    while time.time_ns() - newest < 2_100_000_000:
        pass
    reconcile(source, state)
    return source


def _bare_scan(root: Path) -> int:
    found, folders = 0, [os.fspath(root)]
    while folders:
        with os.scandir(folders.pop()) as listing:
            for entry in listing:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    found += 1
    return found


def _ms(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def _percentile(values: list[float] | list[int], percent: int) -> float:
    return float(sorted(values)[min(len(values) - 1, len(values) * percent // 100)])


def _percentiles(times: list[float]) -> Measured:
    return {"p50 ms": _percentile(times, 50), "p95 ms": _percentile(times, 95), "max ms": max(times)}


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
