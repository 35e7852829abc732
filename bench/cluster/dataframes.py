"""Compares words and pairs of a DataFrame with the tables that one machine made of the same text.

    python dataframes.py CORPUS VOCAB.parquet PAIRS.parquet

CORPUS has a document a line; the words of the tables occur three times, the window is 8.
"""

import sys

from pyspark.sql import SparkSession

from collocate.spark import cooccur, vocab

session = SparkSession.builder.master("local-cluster[2,1,1024]").getOrCreate()
corpus, words, pairs = sys.argv[1:]
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
session.stop()
