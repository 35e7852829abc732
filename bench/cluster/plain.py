"""The matrix of 'collocate cooccur' in plain PySpark, for comparison: words separated by blanks,
lines as documents, weights 1/distance, both sides.

    spark-submit plain.py CORPUS MIN_COUNT WINDOW OUT
"""

import sys
from operator import add

from pyspark.sql import SparkSession


def main(corpus, least, window, out):
    spark = SparkSession.builder.appName("plain co-occurrence").getOrCreate()
    lines = spark.sparkContext.textFile(corpus)
    counts = lines.flatMap(str.split).map(lambda word: (word, 1)).reduceByKey(add)
    kept = counts.filter(lambda pair: pair[1] >= least).collect()
    ids = {w: i for i, (w, _) in enumerate(sorted(kept, key=lambda pair: (-pair[1], pair[0])))}
    shared = spark.sparkContext.broadcast(ids)

    def cells(part):
        ids = shared.value
        for line in part:
            words = [ids[w] for w in line.split() if w in ids]
            for i, a in enumerate(words):
                for d in range(1, min(window, i) + 1):
                    b = words[i - d]
                    yield (a, b), 1 / d
                    yield (b, a), 1 / d

    lines.mapPartitions(cells).reduceByKey(add).map(
        lambda cell: f"{cell[0][0]}\t{cell[0][1]}\t{cell[1]}"
    ).saveAsTextFile(out)
    spark.stop()


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
