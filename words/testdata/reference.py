"""Writes reference.json: associations of pairs of words in a whole book, by scipy and NLTK.

    pip install scipy nltk
    python3 reference.py corpus.txt > reference.json

corpus.txt is the works of Shakespeare that Stanford GloVe's tests were run with (1.1 MB; SHA-256
86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed). Nothing of Collocate is used:
words are runs of the letters a-z, lower-cased; documents are what stands between blank lines; pairs
are counted in a plain loop, window 5, both sides. Made with scipy 1.17.1 and NLTK 3.10.4.
"""
import collections
import json
import math
import random
import re
import sys

from nltk.metrics.association import BigramAssocMeasures as nltk
from scipy import stats

WINDOW = 5
text = open(sys.argv[1], encoding="latin-1").read().lower()
docs = [re.findall("[a-z]+", d) for d in re.split(r"\n[ \t\r]*\n", text)]
docs = [d for d in docs if d]
freq, pairs = collections.Counter(), collections.Counter()
where = collections.defaultdict(set)
for n, d in enumerate(docs):
    freq.update(d)
    for i, u in enumerate(d):
        for v in d[i + 1 : i + 1 + WINDOW]:
            key = (min(u, v), max(u, v))
            pairs[key] += 1
            where[key].add(n)
N, S = sum(freq.values()), 2 * WINDOW
random.seed(1)
common = sorted(k for k in pairs if pairs[k] >= 5 and k[0] != k[1])
chosen = random.sample(common, 150) + random.sample(sorted(k for k in pairs if k[0] != k[1]), 50)


def tables(O, f1, f2):
    R1, C1 = S * f1, max(f2, O)
    return O, R1, C1, max(N, R1 + C1 - O)


rows = []
for u, v in chosen:
    O, f1, f2 = pairs[u, v], freq[u], freq[v]
    O11, R1, C1, T = tables(O, f1, f2)
    cells = [[O11, R1 - O11], [C1 - O11, T - R1 - C1 + O11]]
    E = f1 * f2 * S / N
    over = O11 * T > R1 * C1
    row = {"word1": u, "word2": v, "o": O, "f1": f1, "f2": f2, "documents": len(where[u, v]), "expected": E}
    row["mi"] = nltk.pmi(O, (S * f1, f2), N)
    row["t"] = nltk.student_t(O, (S * f1, f2), N)
    row["dice"] = nltk.dice(O, (f1, f2), N)
    row["logdice"] = 14 + math.log2(row["dice"])
    if min(cells[1]) > 0 and cells[0][1] > 0:
        row["g2_nltk"] = nltk.likelihood_ratio(O11, (R1, C1), T) * (1 if over else -1)
        g = stats.chi2_contingency(cells, correction=False, lambda_="log-likelihood")
        row["g2"], row["p"] = g.statistic * (1 if over else -1), g.pvalue
        x = stats.chi2_contingency(cells, correction=True)
        # scipy moves each cell by at most its distance from the expectation, as Yates' formula does.
        row["chi2"] = x.statistic * (1 if over else -1)
    row["fisher"] = -stats.hypergeom.logsf(O11 - 1, T, R1, C1) / math.log(10)
    f2r, n2 = C1 - O11, T - R1
    alpha = 0.025 / 1000
    if O11 * n2 >= f2r * R1:
        p = stats.beta.ppf(alpha, O11, f2r + 1)
        row["lrc"] = max(0, math.log2(n2 / R1 * p / (1 - p)))
    else:
        p = stats.beta.isf(alpha, O11 + 1, f2r)
        row["lrc"] = min(0, math.log2(n2 / R1 * p / (1 - p)))
    rows.append(row)
tested = [r for r in rows if "p" in r]
for r, q in zip(tested, stats.false_discovery_control([r["p"] for r in tested])):
    r["q"] = q
json.dump({"words": N, "documents": len(docs), "pairs": rows}, sys.stdout, indent=0)
