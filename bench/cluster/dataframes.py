"""Compares words, pairs and an index of a DataFrame with what one machine made of the same text.

    python dataframes.py CORPUS VOCAB.parquet PAIRS.parquet FOLDER

CORPUS has a document a line; the words of the tables occur three times, the window is 8. The index
is made in FOLDER.
"""

import sys

from pyspark.sql import SparkSession

import collocate
from collocate.spark import cooccur, index, vocab

session = SparkSession.builder.master("local-cluster[2,1,1024]").getOrCreate()
corpus, words, pairs, folder = sys.argv[1:]
texts = session.read.text(corpus).withColumnRenamed("value", "text").repartition(7)
asked = {"analyzer": "unicode", "min_count": 3}
for name, made, path in (
    ("vocab", vocab(texts, **asked), words),
    ("cooccur", cooccur(texts, window=8, **asked), pairs),
):
    want = session.read.parquet(path).select(made.columns)
    n = made.count()
    if n == 0 or n != want.count() or made.exceptAll(want).count() != 0:
        sys.exit(f"{name} of a DataFrame: {n} rows, which are not those of one machine")
    print(f"{name} of a DataFrame: {n} rows as of one machine")
rows = [(f"d{i:05}", line) for i, line in enumerate(open(corpus)) if line.strip()]
table = session.createDataFrame(rows, "id string, text string").repartitionByRange(7, "id")
made = index(table, f"file://{folder}")
one, many = collocate.Index.build(dict(rows)), collocate.Index(f"file://{folder}")
for _, line in rows[::97]:
    query = " ".join(line.split()[:3])
    found = [[(h.id, h.score) for h in x.search(query, k=100)] for x in (one, many)]
    if found[0] != found[1]:
        sys.exit(f"{query}: {found[1]}, and one machine has {found[0]}")
print(f"index of a DataFrame: {made['documents']} documents, answers as of one machine")
session.stop()
