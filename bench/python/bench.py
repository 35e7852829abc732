"""Measures the Python package: building, many queries, one query's round trip, hits, memory.

    python bench/python/bench.py paragraphs.jsonl queries.txt [--peers] [--docs N] [--queries N]

Documents are lines of {"id", "contents"}, queries are lines of text or of "id:text". With --peers,
bm25s, rank_bm25, Pyserini, scikit-learn and gensim do the same if they are installed, each in a
process of its own, one after the other. Slow peers answer only some of the queries, and gensim and
rank_bm25 index only some of the documents: their times are scaled, but not their memory. Prints a
line for each, with the peak memory of its processes together.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import sys
import time
from itertools import islice


def documents(path: str, n: int) -> list[str]:
    with open(path, encoding="utf-8") as f:
        return [json.loads(line)["contents"] for line in islice(f, n)]


def queries(path: str, n: int) -> list[str]:
    with open(path, encoding="utf-8", errors="replace") as f:
        return [line.rstrip("\n").partition(":")[2] or line.rstrip("\n") for line in islice(f, n)]


def cpu(pid: int | None = None) -> float:
    """CPU time of this process and of another one, in seconds."""
    seconds = time.process_time()
    if pid is not None:
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


class Stage:
    """Measures a stage: wall time, and CPU time, which other programs affect less."""

    def __init__(self, out: dict[str, float], name: str, pid: int | None = None, times: float = 1):
        self.out, self.name, self.pid, self.times = out, name, pid, times

    def __enter__(self) -> None:
        self.clock, self.cpu = time.perf_counter(), cpu(self.pid)

    def __exit__(self, *_: object) -> None:
        self.out[f"{self.name} s"] = (time.perf_counter() - self.clock) * self.times
        self.out[f"{self.name} cpu s"] = (cpu(self.pid) - self.cpu) * self.times


def worker_peak(pid: int) -> float:
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) / 1024


def ours(docs: list[str], asked: list[str]) -> dict[str, float]:
    import numpy as np

    from collocate import Index
    from collocate._worker import worker

    out: dict[str, float] = {}
    pid = worker().process.pid
    with Stage(out, "build", pid):
        index = Index.build(docs, analyzer="unicode")
    with Stage(out, "queries", pid):
        hits = index.search(asked, k=10)
    out["hits"] = len(hits.docs)
    # The overhead of Python and the sockets, for one query and for 100,000 hits.
    added, whole = [], []
    for q in [q for q in asked if q][:2000]:
        begin = time.perf_counter()
        seconds = index.search(q, k=10).seconds
        whole.append(time.perf_counter() - begin)
        added.append(whole[-1] - seconds)
    out["one query us"] = float(np.median(whole)) * 1e6
    out["round trip us"] = float(np.median(added)) * 1e6
    out["round trip us, 10%"] = float(np.quantile(added, 0.1)) * 1e6
    rates = []
    for _ in range(30):
        begin = time.perf_counter()
        many = index.search("the", k=100_000)
        rates.append(len(many.docs) / (time.perf_counter() - begin - many.seconds))
    out["M hits/s"] = float(np.median(rates)) / 1e6
    out["M hits/s, best"] = max(rates) / 1e6
    out["worker MB"] = worker_peak(worker().process.pid)
    return out


def ours_vectorizer(docs: list[str], asked: list[str]) -> dict[str, float]:
    from collocate._worker import worker
    from collocate.sklearn import BM25Vectorizer

    out: dict[str, float] = {}
    pid = worker().process.pid
    with Stage(out, "fit_transform", pid):
        vectorizer = BM25Vectorizer()
        vectorizer.fit_transform(docs)
    with Stage(out, "transform queries", pid):
        vectorizer.transform(asked)
    out["worker MB"] = worker_peak(worker().process.pid)
    return out


def pyserini(docs: list[str], asked: list[str]) -> dict[str, float]:
    import tempfile

    from pyserini.index.lucene import LuceneIndexer
    from pyserini.search.lucene import LuceneSearcher

    out: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        with Stage(out, "build"):
            indexer = LuceneIndexer(folder, threads=2)
            for at in range(0, len(docs), 1000):
                indexer.add_batch_dict(
                    [{"id": str(at + i), "contents": d} for i, d in enumerate(docs[at : at + 1000])]
                )
            indexer.close()
        searcher = LuceneSearcher(folder)
        searcher.set_bm25(1.2, 0.75)
        ids = [str(i) for i in range(len(asked))]
        searcher.batch_search(asked[:2000], ids[:2000], k=10, threads=2)  # compiles the hot loops
        with Stage(out, "queries"):
            found = searcher.batch_search(asked, ids, k=10, threads=2)
        with Stage(out, "hits to Python", times=len(asked) / 1000):
            for hits in list(found.values())[:1000]:
                [(h.docid, h.score) for h in hits]
        added = []
        for q in [q for q in asked if q][:500]:
            begin = time.perf_counter()
            searcher.search(q, k=10)
            added.append(time.perf_counter() - begin)
        out["one query us"] = sorted(added)[len(added) // 2] * 1e6
    return out


def bm25s(docs: list[str], asked: list[str]) -> dict[str, float]:
    import bm25s

    out: dict[str, float] = {}
    with Stage(out, "build"):
        tokens = bm25s.tokenize(docs, stopwords=[], show_progress=False)
        retriever = bm25s.BM25()
        retriever.index(tokens, show_progress=False)
    part = asked[:2000]
    with Stage(out, "queries", times=len(asked) / len(part)):
        found = bm25s.tokenize(part, stopwords=[], show_progress=False)
        retriever.retrieve(found, k=10, n_threads=2, show_progress=False)
    return out


def rank_bm25(docs: list[str], asked: list[str]) -> dict[str, float]:
    import numpy as np
    from rank_bm25 import BM25Okapi

    out: dict[str, float] = {}
    some = docs[: len(docs) // 10]  # all of them take 10 GB
    with Stage(out, "build", times=len(docs) / len(some)):
        index = BM25Okapi([d.lower().split() for d in some])
    part = asked[:20]
    with Stage(out, "queries", times=len(asked) / len(part) * len(docs) / len(some)):
        for q in part:
            np.argsort(-index.get_scores(q.lower().split()))[:10]
    return out


def sklearn(docs: list[str], asked: list[str]) -> dict[str, float]:
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    out: dict[str, float] = {}
    with Stage(out, "fit_transform"):
        vectorizer = TfidfVectorizer()
        matrix = vectorizer.fit_transform(docs)
    with Stage(out, "transform queries"):
        vectorizer.transform(asked)
    matrix = matrix.T.tocsr()
    part = asked[:200]
    with Stage(out, "queries", times=len(asked) / len(part)):
        for q in part:
            scores = np.asarray((vectorizer.transform([q]) @ matrix).todense()).ravel()
            np.argpartition(-scores, 10)[:10]
    return out


def gensim(docs: list[str], asked: list[str]) -> dict[str, float]:
    from gensim.corpora import Dictionary
    from gensim.models import OkapiBM25Model
    from gensim.similarities import SparseMatrixSimilarity
    from gensim.utils import simple_preprocess

    out: dict[str, float] = {}
    some = docs[: len(docs) // 10]  # all of them take more than 4 GB
    times = len(docs) / len(some)
    with Stage(out, "build", times=times):
        words = [simple_preprocess(d) for d in some]
        dictionary = Dictionary(words)
        model = OkapiBM25Model(dictionary=dictionary)
        bags = (model[dictionary.doc2bow(w)] for w in words)
        index = SparseMatrixSimilarity(
            bags, num_docs=len(some), num_terms=len(dictionary), num_best=10,
            normalize_queries=False, normalize_documents=False,
        )  # fmt: skip
    part = asked[:200]
    with Stage(out, "queries", times=times * len(asked) / len(part)):
        for q in part:
            index[dictionary.doc2bow(simple_preprocess(q))]
    return out


def measured(run, args, to) -> None:
    try:
        found = run(documents(args.corpus, args.docs), queries(args.topics, args.queries))
    except ImportError:
        to.put(None)
        return
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found["memory MB"] = peak + found.get("worker MB", 0)
    to.put(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("topics")
    parser.add_argument("--docs", type=int, default=400_000)
    parser.add_argument("--queries", type=int, default=50_000)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--only", nargs="+", help="some of the rows, by name")
    args = parser.parse_args()
    rows = [ours, ours_vectorizer, bm25s, pyserini, sklearn, gensim, rank_bm25]
    runs = rows if args.peers else rows[:2]
    if args.only:
        runs = [r for r in rows if r.__name__ in args.only]
    context = multiprocessing.get_context("spawn")
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    for run in runs:
        to = context.SimpleQueue()
        p = context.Process(target=measured, args=(run, args, to))
        p.start()
        p.join()
        if p.exitcode:
            print(f"{run.__name__}: ended with {p.exitcode}", file=sys.stderr)
            continue
        found = to.get()
        if found is None:
            print(f"{run.__name__}: not installed")
            continue
        print(
            f"{run.__name__}: " + ", ".join(f"{n} {v:,.1f}" for n, v in found.items()), flush=True
        )


if __name__ == "__main__":
    main()
