"""Words and indexes of Spark DataFrames, made where their texts are.

    from collocate.spark import cooccur, index, vocab

    texts = spark.read.parquet("s3a://corpora/news.parquet")
    vocab(texts, text="body", min_count=5).show()
    cooccur(texts, text="body", min_count=5, window=10).write.parquet("s3a://corpora/pairs.parquet")
    index(texts, to="s3://corpora/news", id="url", text="body")

Each row is a document, wherever Spark reads it from: Parquet, Delta, Iceberg. Executors pass the
texts of a partition to the program of this package, which they must have, too; Spark brings what
it counted together by key. Words, counts and values are those of `vocabulary` and `cooccurrence`
on one machine, to the bit, however Spark splits the rows, and whatever it runs twice.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._binary import find_binary
from .errors import CollocateError, WorkerError
from .words import vocabulary

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_RECORDS = "kind string, key long, payload string"
_WIDEST = 18  # windows weighted by distance: the sums of wider ones have no common unit


def vocab(
    df: DataFrame, *, text: str = "text", analyzer: str = "unicode", min_count: int = 1,
    max_size: int = 0, memory: str = "1GB",
) -> DataFrame:  # fmt: skip
    """The words of a DataFrame: id, word and count, the most frequent first.

    text: the column with the documents; rows where it is null are left out.
    analyzer, min_count, max_size: as in `collocate.vocabulary`.
    memory: what the program may take on each core of an executor, beside Spark's own.
    Nothing waits for an action: the words are counted now, and the vocabulary is the driver's.
    """
    words = _vocabulary(_texts(df, text), analyzer, min_count, max_size, memory)
    rows = [(i, word, count) for i, (word, count) in enumerate(words.pairs())]
    return df.sparkSession.createDataFrame(rows, "id long, word string, count long")


def cooccur(
    df: DataFrame, *, text: str = "text", analyzer: str = "unicode", window: int = 15,
    side: str = "both", weighting: str = "distance", min_count: int = 1, max_size: int = 0,
    memory: str = "1GB",
) -> DataFrame:  # fmt: skip
    """How often words occur near each other: id1, id2, word1, word2 and value.

    The options are those of `vocab`, which is counted first, and of `collocate.cooccurrence`.
    Windows weighted by distance have at most 18 words on each side.
    """
    if weighting not in ("distance", "count"):
        raise ValueError(f"weighting={weighting!r}: want distance or count")
    if side not in ("both", "left", "right"):
        raise ValueError(f"side={side!r}: want both, left or right")
    widest = _WIDEST if weighting == "distance" else 1000
    if not 1 <= window <= widest:
        raise ValueError(f"window={window}, weighting={weighting!r}: want 1 to {widest} words")
    texts = _texts(df, text)
    words = _vocabulary(texts, analyzer, min_count, max_size, memory)
    options = ["--window", str(window), "--side", side, "--weighting", weighting,
               "--analyzer", analyzer, "--memory", memory]  # fmt: skip
    one = math.lcm(*range(1, window + 1)) if weighting == "distance" else 1
    cells = _together(_mapped(texts, "cooccur", options, words.file))
    schema = "id1 long, id2 long, word1 string, word2 string, value double"

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        listed = pa.array([word for word, _ in words.pairs()], pa.string())
        for r in _run(["cooccur", "reduce", "--memory", memory], (_lines(b) for b in batches)):
            if r.kind != "c":
                continue
            row, column, units = _cells(r)
            yield pa.RecordBatch.from_arrays(
                [pa.array(row), pa.array(column), listed.take(pa.array(row)),
                 listed.take(pa.array(column)), pa.array(units / one)],
                ["id1", "id2", "word1", "word2", "value"],
            )  # fmt: skip

    return cells.mapInArrow(rows, schema)


def index(
    df: DataFrame, to: str, *, id: str = "id", text: str | None = "text",
    fields: Sequence[str] | Mapping[str, str] | None = None, analyzer: str = "unicode",
    store_text: bool = False, positions: bool = False, memory: str = "1GB",
) -> dict[str, Any]:  # fmt: skip
    """Adds the rows to the index at an address, or makes it there, and returns what it has then.

    to: such as "s3://bucket/news", or "file:///shared/news" in a folder that all machines see.
    id: the column with the IDs of documents; rows of the index with the same IDs are replaced.
    text: the column with the texts, unless there are `fields`.
    fields: columns with types, as `Index.build` takes them: {"title": "text", "year": "number"}.
    analyzer, store_text, positions: as in `Index.build`; those of an index that is there.
    memory: what the program may take on each core of an executor, beside Spark's own.

    Each partition becomes a segment, and one commit shows all of them, in the order of partitions.
    What a failed or repeated task leaves is never seen, and removed as garbage. The driver fetches
    the segments to look for IDs that come twice. Executors need the credentials of the store.
    """
    if not to.startswith(("s3://", "file://")):
        raise ValueError(f"to={to!r}: want an address such as s3://bucket/news or file:///shared")
    typed = {} if fields is None else dict(
        fields.items() if isinstance(fields, Mapping) else (f.partition(":")[::2] for f in fields)
    )  # fmt: skip
    if not typed and text is None:
        raise ValueError("text=None and no fields: want a column with the texts")
    columns = [id, *(typed or [str(text)])]
    for name in columns:
        if name not in df.columns:
            raise ValueError(f"there is no column {name!r}: {', '.join(df.columns)}")
    if id in columns[1:]:
        raise ValueError(f"id={id!r}: this column is among those that are indexed")
    named = [f"{name}:{type}" if type else name for name, type in typed.items()] or [str(text)]
    options = ["--id-field", id, "--fields", ",".join(named), "--analyzer", analyzer,
               "--memory", memory, *(["--store-text"] if store_text else []),
               *(["--positions"] if positions else [])]  # fmt: skip

    def parts(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        from pyspark import TaskContext

        rows = (
            "".join(json.dumps(r, default=_plain) + "\n" for r in b.to_pylist()).encode()
            for b in batches
        )
        number = str(TaskContext.get().partitionId())  # type: ignore[union-attr]
        call = ["put", "-", "--to", to, "--part", number, "--format", "jsonl", *options]
        for line in _lines_of(call, rows):
            yield pa.RecordBatch.from_arrays([pa.array([line])], ["part"])

    made = df.select(*columns).mapInArrow(parts, "part string").collect()
    if not made:
        raise ValueError("there are no rows to index")
    listed = "\n".join(row.part for row in made)
    done = subprocess.run(
        [find_binary(), "cluster", "commit", "-", "--to", to, "--json", "--quiet"],
        input=listed.encode(), capture_output=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise _error(done.stderr.decode(errors="replace"), done.returncode)
    report: dict[str, Any] = json.loads(done.stdout)
    return {name: report[name] for name in ("index", "documents", "segments", "generation")}


def _plain(value: Any) -> Any:
    """What JSON has no type for: dates, times and decimal numbers."""
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


class _Words(NamedTuple):
    """A vocabulary, as the file that the program writes: a word and its count a line."""

    file: bytes

    def pairs(self) -> Iterator[tuple[str, int]]:
        for line in self.file.decode().splitlines():
            word, _, count = line.rpartition(" ")
            yield word, int(count)


def _texts(df: DataFrame, text: str) -> DataFrame:
    """The texts as the only column, after what is wrong with it was said."""
    types = dict(df.dtypes)
    if text not in types:
        raise ValueError(f"text={text!r}: there is no such column: {', '.join(types)}")
    if types[text] != "string":
        raise ValueError(f"text={text!r}: a column of {types[text]}: want strings")
    one = df.select(df[text].alias("text"))
    return one.where(one["text"].isNotNull())


def _vocabulary(
    texts: DataFrame, analyzer: str, min_count: int, max_size: int, memory: str
) -> _Words:
    """Counts the words. The program compares what the stages wrote and read, as it merges them."""
    if min_count < 1 or max_size < 0:
        raise ValueError(f"min_count={min_count}, max_size={max_size}: want at least 1 and 0")
    vocabulary([""], analyzer=analyzer)  # an error if there is no such analyzer
    options = ["--analyzer", analyzer, "--memory", memory]
    counted = _together(_mapped(texts, "vocab", options, b""))

    def reduced(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _batches(_run(["vocab", "reduce", "--memory", memory], (_lines(b) for b in batches)))

    with tempfile.TemporaryDirectory() as folder:
        parts, out = Path(folder, "parts"), Path(folder, "vocab.txt")
        parts.mkdir()
        stream: list[str] = []
        for r in counted.mapInArrow(reduced, _RECORDS).toLocalIterator():
            stream.append(f"{r.kind}\t{r.key}\t{r.payload}\n")
            if r.kind == "e" and json.loads(r.payload)["stage"] == "reduce":  # its last record
                Path(parts, str(len(list(parts.iterdir())))).write_text("".join(stream))
                stream.clear()
        _call(["merge", "vocab", str(parts), "--keep-unk", "--min-count", str(min_count),
               "--max-size", str(max_size), "--out", str(out)])  # fmt: skip
        return _Words(out.read_bytes())


def _mapped(texts: DataFrame, job: str, options: list[str], words: bytes) -> DataFrame:
    """The records that the program makes of each partition."""

    def records(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = [*options, "--vocab", _kept(words)] if words else options
        documents = (
            "".join(json.dumps({"text": t}) + "\n" for t in b.column(0).to_pylist()).encode()
            for b in batches
        )
        arguments = [job, "map", "--format", "jsonl", "--fields", "text", *found]
        yield from _batches(_run(arguments, documents))

    return texts.mapInArrow(records, _RECORDS)


def _together(records: DataFrame) -> DataFrame:
    """Records with the same key in one partition, in ascending order of keys."""
    return records.repartition("key").sortWithinPartitions("key")


class _Record(NamedTuple):
    kind: str
    key: int
    payload: str


def _run(arguments: list[str], texts: Iterator[bytes]) -> Iterator[_Record]:
    """The records that a stage writes for what it reads."""
    for line in _lines_of(["worker", *arguments], texts):
        kind, key, payload = line.split("\t")
        yield _Record(kind, int(key), payload)


def _lines_of(arguments: list[str], texts: Iterator[bytes]) -> Iterator[str]:
    """The lines that the program writes for what it reads; it is not run for an empty partition."""
    first = next(texts, b"")
    if not first:
        return
    with tempfile.TemporaryFile() as told:
        command = [find_binary(), "cluster", *arguments, "--quiet", "--threads", "1"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=told
        ) as stage:
            failed: list[BaseException] = []
            feeding = threading.Thread(target=_feed, args=(stage, first, texts, failed))
            feeding.start()
            assert stage.stdout is not None
            for line in stage.stdout:
                yield line.decode().rstrip("\n")
            feeding.join()
        if failed:
            raise failed[0]
        if stage.returncode != 0:
            told.seek(0)
            raise _error(told.read().decode(errors="replace"), stage.returncode)


def _feed(
    stage: subprocess.Popen[bytes], first: bytes, rest: Iterator[bytes], failed: list[BaseException]
) -> None:
    """Writes the input of a stage, which may end before it has read all of it, and says why."""
    assert stage.stdin is not None
    try:
        with stage.stdin:
            stage.stdin.write(first)
            for chunk in rest:
                stage.stdin.write(chunk)
    except BrokenPipeError:
        pass
    except BaseException as err:
        stage.kill()
        failed.append(err)


def _call(arguments: list[str]) -> None:
    done = subprocess.run(
        [find_binary(), "cluster", *arguments, "--quiet"], stderr=subprocess.PIPE, check=False
    )
    if done.returncode != 0:
        raise _error(done.stderr.decode(errors="replace"), done.returncode)


def _error(told: str, code: int) -> Exception:
    said = told.strip().removeprefix("collocate: ")
    return CollocateError(said) if said else WorkerError(f"the program ended with status {code}")


def _batches(records: Iterator[_Record], size: int = 256) -> Iterator[pa.RecordBatch]:
    """Records as Arrow tables; some payloads have megabytes."""
    import pyarrow as pa

    some: list[_Record] = []

    def table() -> pa.RecordBatch:
        kinds, keys, payloads = zip(*some)
        columns = [pa.array(kinds), pa.array(keys, pa.int64()), pa.array(payloads)]
        some.clear()
        return pa.RecordBatch.from_arrays(columns, ["kind", "key", "payload"])

    for r in records:
        some.append(r)
        if len(some) == size:
            yield table()
    if some:
        yield table()


def _lines(batch: pa.RecordBatch) -> bytes:
    rows = zip(*(column.to_pylist() for column in batch.columns))
    return "".join(f"{kind}\t{key}\t{payload}\n" for kind, key, payload in rows).encode()


def _cells(r: _Record) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns and sums of a record of cells: see `go doc cluster`."""
    raw = np.frombuffer(base64.b64decode(r.payload + "=" * (-len(r.payload) % 4)), np.uint8)
    last = np.flatnonzero(raw < 0x80)  # bytes that end a number
    starts = np.concatenate(([0], last[:-1] + 1))
    shifts = 7 * (np.arange(len(raw)) - np.repeat(starts, last - starts + 1))
    bits = (raw & 0x7F).astype(np.uint64) << shifts.astype(np.uint64)
    numbers = np.add.reduceat(bits, starts)
    places = np.cumsum(numbers[0::2] + np.uint64(1)) - np.uint64(1)
    shift = max(0, (r.key >> 6) - 1)
    first = (r.key - (shift << 6)) << shift
    rows = (places >> np.uint64(32)).astype(np.int64) + first
    columns = (places & np.uint64(0xFFFFFFFF)).astype(np.int64)
    return rows, columns, numbers[1::2].astype(np.float64)


def _kept(words: bytes) -> str:
    """A file with the vocabulary, which the tasks of a machine share."""
    name = hashlib.sha256(words).hexdigest()[:32]
    path = Path(tempfile.gettempdir(), f"collocate-{os.getuid()}-{name}.vocab")
    if not path.exists() or path.stat().st_size != len(words):
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as f:
            f.write(words)
        os.replace(f.name, path)
    return str(path)
