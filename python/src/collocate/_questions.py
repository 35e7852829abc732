"""What functions take as **asked: made of the declarations in package api, whose tests write it.

Each parameter has its type, its default and what it does. See _asked.py.
"""

import os
from collections.abc import Iterable
from typing import Annotated, Any, Protocol, TypedDict, Union



class Shape(Protocol):
    """Polygons of shapely or geopandas."""

    @property
    def __geo_interface__(self) -> Any: ...


class Matrix(Protocol):
    """An array of NumPy, or what can become one."""

    def __array__(self) -> Any: ...


Names = Union[str, Iterable[str], None]
Path = Union[str, "os.PathLike[str]"]
Outline = Union[str, "os.PathLike[str]", Shape]
Rows = Union[str, "os.PathLike[str]", Matrix]


class Resources(TypedDict, total=False):
    threads: Annotated[int, 0, "number of cores; 0 means all"]
    memory: Annotated[int, 0, "bound on working memory in bytes; 0 means 2 GB"]


class Files(TypedDict, total=False):
    format: Annotated[
        str, "auto",
        "what a file is: auto (by its first bytes, Parquet as well), lines (a document a line), "
        "file (a document a file), blank (blank lines between documents), jsonl (a JSON object a "
        "line), trec (<DOC> tags), smart (.I and .W sections), tsv (ID and text, or named "
        "columns), csv (named columns), json (objects or a list of them)",
    ]  # fmt: skip
    fields: Annotated[
        Names, (),
        "fields or columns that hold text (default contents, or title,abstract,text,body and the "
        "like)",
    ]  # fmt: skip
    id_field: Annotated[
        str, "",
        "field or column that holds the document's ID (default id, _id, docno, docid or the like)",
    ]  # fmt: skip
    encoding: Annotated[
        str, "",
        "encoding of the text: utf-8, latin1, windows-1252, utf-16 or another name of the WHATWG "
        "standard, or bytes for no conversion (default utf-8, which makes other bytes an error; "
        "bytes for the analyzers whitespace and ascii)",
    ]  # fmt: skip
    skip_bad: Annotated[
        bool, False,
        "skip files that cannot be opened, are not text, or not in their format or encoding, and "
        "name them",
    ]  # fmt: skip


class InArea(TypedDict, total=False):
    window: Annotated[
        Outline, "",
        "study area, in which points could have been: a file with polygons (GeoJSON, well-known "
        "text, a Shapefile, GeoPackage, GeoParquet, FlatGeobuf or KML, also zipped; "
        "GPKG|layername=NAME chooses a layer; so does a connection string of PostGIS), or the "
        "polygons themselves; by default it is estimated from the points",
    ]  # fmt: skip
    clip: Annotated[bool, False, "leave out points outside the window, instead of refusing them"]


class Points(TypedDict, total=False):
    x: Annotated[str, "", "column of x or longitude, by name or number (guessed)"]
    y: Annotated[str, "", "column of y or latitude (guessed)"]
    geometry: Annotated[
        str, "",
        "column of points as well-known text, or geometry of PostGIS (guessed)",
    ]  # fmt: skip
    feature: Annotated[
        str, "",
        "column or property of the feature (guessed); @file: each file's name; of OSM PBF keys "
        "of tags, such as amenity,shop",
    ]  # fmt: skip
    time: Annotated[str, "", "column or property of the time (not guessed)"]
    columns: Annotated[
        Names, (),
        "names of the columns of a table without a header, such as x,y,type",
    ]  # fmt: skip
    layer: Annotated[
        str, "",
        "layer of a GeoPackage with several, file of a ZIP archive, or table or SELECT of PostGIS",
    ]  # fmt: skip
    crs: Annotated[
        object, "",
        "reference system of the positions, such as EPSG:25832, whatever the file says",
    ]  # fmt: skip
    min_points: Annotated[
        int, 1,
        "leave out features with fewer points, also in the window and in each region, which "
        "reach any prevalence by chance",
    ]  # fmt: skip
    skip_bad: Annotated[
        bool, False,
        "leave out rows without a valid position or feature, instead of stopping",
    ]  # fmt: skip


class Search(TypedDict, total=False):
    filter: Annotated[
        str, "",
        "only documents that match this query, which adds nothing to their scores; all of its "
        "parts must match, unless it says OR",
    ]  # fmt: skip
    from_: Annotated[int, 0, "skip this many of the best documents, to see the next ones"]
    mode: Annotated[str, "or", "or: any of the words; and: all of them"]
    count: Annotated[bool, False, "say how many documents match in all"]
    collapse: Annotated[
        str, "none",
        "of an index of passages: none: each passage is a hit; best: a document is one hit, its "
        "best passage; sum: the same, with the sum of the scores of its passages that match",
    ]  # fmt: skip
    facet: Annotated[
        Names, (),
        "count the values of a field over all matching documents, and show the 10 most frequent, "
        "or N with FIELD:N; numbers in ranges with FIELD/10, dates with FIELD/month (year, "
        "month, day)",
    ]  # fmt: skip
    sort: Annotated[
        str, "",
        "sort by a field instead of by score: FIELD or FIELD:desc, or by several, as in "
        "year:desc,author; documents without a value come last",
    ]  # fmt: skip
    partial: Annotated[
        str, "allow",
        "of an index in shards, of which some do not answer: allow: answer from the others, and "
        "say what the answer covers; refuse: do not answer, the default for several queries at "
        "once",
    ]  # fmt: skip
    model: Annotated[
        str, None,
        "how documents are scored: bm25 (Okapi BM25), boolean (no ranking), cosine (TF-IDF "
        "vectors), dirichlet (query likelihood), dph (divergence from randomness), impact (dot "
        "product of weights), bm25f (BM25 over text fields)",
    ]  # fmt: skip
    k1: Annotated[float, None, "BM25: term-frequency saturation (k1)"]
    b: Annotated[float, None, "BM25: length normalisation, 0 to 1 (b)"]
    variant: Annotated[
        str, None,
        "BM25: which formula: papers, atire, lucene, lucene7, bm25+, bm25l, terrier, lucene-lossy",
    ]  # fmt: skip
    k3: Annotated[
        float, None,
        "BM25: saturation of words that a query repeats; none unless given, 8 for the variant "
        "terrier",
    ]  # fmt: skip
    mu: Annotated[float, None, "dirichlet: smoothing, in words added to each document (mu)"]
    vector: Annotated[
        Iterable[float], (),
        "rank by the similarity of this vector to those of documents, exactly: alone, or added "
        "to the score of the query's words, which then only add; as many numbers as the field "
        "has dimensions",
    ]  # fmt: skip
    like: Annotated[
        str, "",
        "rank by the similarity to the vector of the document with this ID, instead of a vector "
        "of your own; the document itself is a hit like others",
    ]  # fmt: skip
    vector_field: Annotated[
        str, "",
        "the field with the documents' vectors; it may be left out if there is only one",
    ]  # fmt: skip
    vector_weight: Annotated[float, 1, "weight of the similarity beside words"]
    word_weight: Annotated[
        float, 1,
        "weight of the words' score beside a vector or weighted tokens",
    ]  # fmt: skip
    fusion: Annotated[
        str, "sum",
        "how words and vector become one score: sum: added with their weights; shares: the same, "
        "each divided by the best score or similarity of any document; rrf: weight/(60+rank) in "
        "the lists of the best by each, added",
    ]  # fmt: skip
    depth: Annotated[int, 100, "rrf: length of the lists that are combined"]
    sparse: Annotated[
        Union[str, object], "",
        "rank by the dot product of these weighted tokens, such as "
        "{\"solar\":80,\"eclipse\":150}, and those of documents, exactly: alone, or added to the "
        "score of the query's words, which then only add",
    ]  # fmt: skip
    sparse_field: Annotated[
        str, "",
        "the field with the documents' weighted tokens; it may be left out if there is only one",
    ]  # fmt: skip
    sparse_weight: Annotated[float, 1, "weight of the dot product beside words"]
    boost: Annotated[
        str, "",
        "raise scores by values of fields: decay(FIELD, ORIGIN, SCALE), saturation(FIELD, PIVOT) "
        "or log(FIELD, MOST), with a weight or not, such as 2*log(views, 1000); several with "
        "commas between them; after a + the value is added to the score, which otherwise is "
        "multiplied by 1 + the value",
    ]  # fmt: skip
    expand: Annotated[
        str, "",
        "add words of the best documents to the query: rm3 (as Anserini) or bo1 (as Terrier), "
        "with parameters or not, such as rm3:docs=10,terms=10,weight=0.5; stored text makes it "
        "fast",
    ]  # fmt: skip
    proximity: Annotated[
        str, "",
        "sdm, or with weights sdm:0.85,0.1,0.05: documents that have words of the query side by "
        "side score higher; the index must have positions",
    ]  # fmt: skip
    algorithm: Annotated[
        str, "auto",
        "how the lists are evaluated; all give the same documents, order and scores; tiles is "
        "for GPUs: auto, exhaustive, taat, maxscore, wand, bmw, vbmw, bmm, tiles",
    ]  # fmt: skip


class Splitting(TypedDict, total=False):
    analyzer: Annotated[
        str, "unicode",
        "how text is split into words; languages are stemmed, and +stop drops stop words, as in "
        "english+stop, the best for English (no list for irish, tamil and turkish); impact, for "
        "indexes only, reads objects of tokens and whole weights, impact:100 rounds weights to "
        "hundredths; or a chain of steps, such as words | lower | fold | stem(english): see "
        "docs/analysis.md: whitespace (between blanks, as written), ascii (letters a-z), unicode "
        "(Unicode's words), lucene-english (as Lucene's EnglishAnalyzer), arabic, danish, dutch, "
        "english, finnish, french, german, hungarian, irish, italian, norwegian, porter, "
        "portuguese, romanian, russian, spanish, swedish, tamil, turkish",
    ]  # fmt: skip
    stopwords: Annotated[
        Path, "",
        "drop the words in this file, one per line, instead of the analyzer's own stop words",
    ]  # fmt: skip


class Embed(Resources, total=False):
    method: Annotated[str, "glove", "how they are made: glove, svd"]
    texts: Annotated[
        bool, False,
        "make vectors whose sums stand for texts: rarer words weigh more, and what all words "
        "have in common is removed",
    ]  # fmt: skip
    seed: Annotated[int, 1, "seed of random numbers"]
    epochs: Annotated[int, None, "glove: how often each cell is seen"]
    x_max: Annotated[
        float, None,
        "glove: value from which cells count in full; 10 for small corpora",
    ]  # fmt: skip
    alpha: Annotated[float, None, "glove: exponent of the weight of smaller values"]
    rate: Annotated[float, None, "glove: learning rate"]
    smoothing: Annotated[float, None, "svd: exponent of the frequencies of contexts"]
    shift: Annotated[
        float, None,
        "svd: number of negative samples, whose logarithm is subtracted; 1 means none",
    ]  # fmt: skip
    eigen: Annotated[float, None, "svd: exponent of the singular values"]
    power: Annotated[
        int, None,
        "svd: power iterations; more are more accurate (default as many as bring the residual to "
        "0.005, at most 30)",
    ]  # fmt: skip


class Neighbours(Resources, total=False):
    min_count: Annotated[
        float, 0,
        "leave out pairs that co-occur less often, or have a smaller value",
    ]  # fmt: skip
    min_frequency: Annotated[int, 0, "leave out pairs with a word that occurs less often"]
    p: Annotated[
        bool, False,
        "also p-values of g2, plain and corrected for the number of pairs: q "
        "(Benjamini-Hochberg), Bonferroni",
    ]  # fmt: skip


class Add(Files, Resources, total=False):
    id_root: Annotated[
        Path, "",
        "folder to which the IDs of files are relative (default the one that the index remembers)",
    ]  # fmt: skip
    vectors: Annotated[
        Rows, "",
        "FILE with vectors of the documents, .npy or .fvecs: a row for each, in their order, or "
        "for each ID of vector_ids",
    ]  # fmt: skip
    vector_ids: Annotated[
        Path, "",
        "FILE with the ID of the document of each row of vectors, one per line",
    ]  # fmt: skip
    vector_field: Annotated[
        str, "",
        "the field that vectors are for; it may be left out if there is only one",
    ]  # fmt: skip


class Build(Files, Splitting, Resources, total=False):
    store_text: Annotated[bool, False, "keep the text, for snippets"]
    positions: Annotated[bool, False, "keep the positions of words, for phrases"]
    allow_duplicate_ids: Annotated[bool, False, "accept documents that have the same ID"]
    reorder: Annotated[
        bool, False,
        "number documents so that those with the same words are neighbours, if that makes the "
        "postings smaller: the index of a real text becomes a few per cent smaller, the build "
        "takes up to half as long again, two to three times with stored text or positions; "
        "stored text may grow, and queries are no faster: see docs/performance.md",
    ]  # fmt: skip
    vectors: Annotated[
        Rows, "",
        "FILE with vectors of the documents, .npy or .fvecs: a row for each, in their order, or "
        "for each ID of vector_ids",
    ]  # fmt: skip
    vector_ids: Annotated[
        Path, "",
        "FILE with the ID of the document of each row of vectors, one per line",
    ]  # fmt: skip
    vector_field: Annotated[
        str, "",
        "the field that vectors are for; it may be left out if there is only one",
    ]  # fmt: skip
    id_root: Annotated[
        Path, "",
        "folder to which the IDs of files are relative (default the one that the index "
        "remembers; for a new index the folder that is named, or the deepest that holds all "
        "files)",
    ]  # fmt: skip
    passages: Annotated[
        int, 0,
        "cut documents into passages of at most this many words, at headings and ends of "
        "sentences; each is a document of the index, with the ID DOCUMENT#1 and so on (0: whole "
        "documents)",
    ]  # fmt: skip
    overlap: Annotated[
        int, 20,
        "how much of a passage the next one repeats, in per cent of its words",
    ]  # fmt: skip
    passage_field: Annotated[
        str, "",
        "text field that is cut, if documents have several (default the one called text, body, "
        "content or contents)",
    ]  # fmt: skip
    headings: Annotated[
        str, "auto",
        "which lines are headings: auto: those with # in Markdown files; markdown: in all "
        "documents; none",
    ]  # fmt: skip
    synonyms: Annotated[
        Path, "",
        "file of synonyms for the queries of a new index, in the form of Solr, as in car, "
        "automobile; it becomes the last step of the analyzer of the index, and of fields that "
        "name none: see docs/analysis.md",
    ]  # fmt: skip


class CoOccurrence(InArea, Points, Resources, total=False):
    steps: Annotated[int, 50, "number of distances, evenly spaced up to the largest"]
    rings: Annotated[
        bool, False,
        "count the pairs between one distance and the next, instead of all within each",
    ]  # fmt: skip
    engine: Annotated[
        str, None,
        "cores or GPU; all give the same result: auto, sequential, multicore, gpu",
    ]  # fmt: skip


class Collocations(Files, Splitting, Resources, total=False):
    of: Annotated[str, "", "only the pairs of this word"]
    min_count: Annotated[
        float, 5,
        "leave out pairs that co-occur less often, or have a smaller value",
    ]  # fmt: skip
    min_docs: Annotated[
        int, 0,
        "leave out pairs of fewer documents; 0 means 3, or 1 for corpora of less than 10",
    ]  # fmt: skip
    min_frequency: Annotated[int, 0, "leave out pairs with a word that occurs less often"]
    p: Annotated[
        bool, False,
        "also p-values of g2, plain and corrected for the number of pairs: q "
        "(Benjamini-Hochberg), Bonferroni",
    ]  # fmt: skip
    window: Annotated[int, 5, "number of words on each side"]
    side: Annotated[
        str, "both",
        "neighbours to count; both: all; left: those before the word; right: those after it",
    ]  # fmt: skip
    parts: Annotated[
        int, 0,
        "measure dispersion over this number of equal parts of the corpus, not over documents; 0 "
        "means documents",
    ]  # fmt: skip
    group: Annotated[
        str, "",
        "treat documents whose IDs have the same match of this regular expression, such as "
        "'^[^.]+', as one",
    ]  # fmt: skip
    filter: Annotated[
        str, "",
        "only the documents of an index that match this query; all of its parts must match, "
        "unless it says OR",
    ]  # fmt: skip


class Concordance(Files, Splitting, Resources, total=False):
    from_: Annotated[int, 0, "leave out this many lines, to see those after them"]
    count: Annotated[
        bool, False,
        "count all matches in an index, also where there are enough lines",
    ]  # fmt: skip
    window: Annotated[int, 10, "words of context on each side"]
    sort: Annotated[
        Names, (),
        "sort by words around the match: L1 is the first to the left, R2 the second to the "
        "right, M the match (default: corpus order)",
    ]  # fmt: skip
    with_: Annotated[str, "", "only lines that have a match of this query in their context"]
    without: Annotated[str, "", "only lines that have no match of this query in their context"]
    sample: Annotated[int, 0, "choose this number of lines at random, then sort; 0 means all"]
    seed: Annotated[int, 1, "seed of the sample"]
    filter: Annotated[
        str, "",
        "only the documents of an index that match this query; all of its parts must match, "
        "unless it says OR",
    ]  # fmt: skip


class Cooccurrence(Files, Splitting, Resources, total=False):
    window: Annotated[
        Union[int, str], 15,
        "number of words on each side, or document: the whole document (also 0)",
    ]  # fmt: skip
    side: Annotated[
        str, "both",
        "neighbours to count, of which those on the left are before the word: both, left, right",
    ]  # fmt: skip
    weighting: Annotated[
        str, "distance",
        "what a co-occurrence adds; distance: 1/distance; count: 1",
    ]  # fmt: skip
    subsample: Annotated[
        float, 0,
        "subsample words more frequent than this fraction, such as 1e-4; 0 means off",
    ]  # fmt: skip
    seed: Annotated[int, 1, "seed of the subsampling"]
    min_count: Annotated[int, 1, "leave out words that occur less often"]
    max_size: Annotated[int, 0, "keep at most this many words, the most frequent; 0 means all"]


class Curve(InArea, Points, Resources, total=False):
    max_distance: Annotated[
        float, 0,
        "largest distance; by default half of where edges of the study area can be corrected, a "
        "quarter of the shorter side of a rectangle, rounded down to two digits",
    ]  # fmt: skip
    top: Annotated[
        int, 0,
        "if no features are named, only this many pairs, the strongest; 0 means all",
    ]  # fmt: skip
    steps: Annotated[int, 50, "number of distances, evenly spaced up to the largest"]
    within: Annotated[
        str, "",
        "only pairs of points at most this long apart, such as 7d, 12h or 30m: space-time K, "
        "divided by K of times; the points must have times, which null times permutes",
    ]  # fmt: skip
    correction: Annotated[
        str, "translation",
        "correction of K, L and pair correlation for the edges of the study area: translation, "
        "isotropic, border, none",
    ]  # fmt: skip
    intensity: Annotated[
        str, "uniform",
        "also inhomogeneous K and pair correlation, for a density that all features share, or "
        "each feature's own; bandwidth is that of its kernel: uniform, shared, own",
    ]  # fmt: skip
    kernel: Annotated[
        str, "epanechnikov",
        "kernel of the pair correlation: epanechnikov, gaussian, rectangular, triangular, "
        "biweight, cosine, optcosine",
    ]  # fmt: skip
    kernel_bandwidth: Annotated[
        float, 0,
        "standard deviation of that kernel; by default Stoyan's rule, 0.067 / sqrt(density)",
    ]  # fmt: skip
    divisor: Annotated[
        str, "r",
        "divide pairs of points by the distance of the curve, or by their own (d), which is less "
        "biased near 0: r, d",
    ]  # fmt: skip
    envelope: Annotated[
        str, "deviation",
        "global envelope of L and its p; deviation: by the largest one in standard deviations; "
        "rank: by extreme rank lengths, with a p-interval",
    ]  # fmt: skip
    null: Annotated[
        str, "inhomogeneous",
        "null model that features are compared with; times: with within only: inhomogeneous, "
        "shift, relabel, cluster, times",
    ]  # fmt: skip
    adjust: Annotated[
        str, "fdr",
        "how q corrects for many tests; fdr: by Benjamini and Hochberg; max: by Westfall and "
        "Young's step-down maximum, which needs far fewer rounds",
    ]  # fmt: skip
    bandwidth: Annotated[
        float, 0,
        "null inhomogeneous and cluster: bandwidth of the density that all features share; by "
        "default the one with which some features predict the others best",
    ]  # fmt: skip
    seed: Annotated[int, 1, "seed of the random rounds"]
    engine: Annotated[
        str, None,
        "cores or GPU; all give the same result: auto, sequential, multicore, gpu",
    ]  # fmt: skip


class Dispersion(Files, Splitting, Resources, total=False):
    pass


class Enrichment(InArea, Points, Resources, total=False):
    knn: Annotated[
        int, 0,
        "a point's neighbours are this many, its own nearest (and within the distance, if that "
        "is given)",
    ]  # fmt: skip
    rounds: Annotated[int, 999, "number of random permutations for z"]
    seed: Annotated[int, 1, "seed of the permutations"]
    engine: Annotated[
        str, None,
        "cores or GPU; all give the same result: auto, sequential, multicore, gpu",
    ]  # fmt: skip


class Keywords(Files, Splitting, Resources, total=False):
    against: Annotated[
        str, "",
        "of an index: compare them with the best for this query, not with all others; a document "
        "that both find belongs to the first",
    ]  # fmt: skip
    mode: Annotated[str, "or", "of an index: or: any of the words of a query; and: all of them"]
    docs: Annotated[
        int, 100,
        "of an index: number of documents of each query, the best ones; 0 means all that match",
    ]  # fmt: skip
    by: Annotated[
        str, "lrc",
        "measure of keyness, by which words are sorted: lrc, g2, logratio, diff",
    ]  # fmt: skip
    min_count: Annotated[int, 5, "leave out words that occur less often in both together"]
    negative: Annotated[bool, False, "list the words that are rarer here instead"]
    documents: Annotated[
        bool, False,
        "of corpora: compare numbers of documents instead of occurrences",
    ]  # fmt: skip
    ngram: Annotated[int, 1, "of corpora: compare sequences of this number of words"]


class Mine(InArea, Points, Resources, total=False):
    all: Annotated[bool, False, "all prevalent patterns, not only the maximal ones"]
    with_: Annotated[Names, (), "only patterns that contain all of these features"]
    between: Annotated[Names, (), "only patterns of these features"]
    top: Annotated[int, 0, "only this many patterns, the best, longest first; 0 means all"]
    within: Annotated[
        str, "",
        "neighbours are also at most this long apart, such as 7d, 12h or 30m; the points must "
        "have times",
    ]  # fmt: skip
    regions: Annotated[
        Path, "",
        "mine each cell of a grid over the area separately, such as 4x3, or each polygon of a "
        "file (GeoJSON, a Shapefile, GeoPackage, GeoParquet, FlatGeobuf or KML, also zipped; "
        "GPKG|layername=NAME chooses a layer; so does a connection string of PostGIS)",
    ]  # fmt: skip
    level: Annotated[
        Union[int, str], 1,
        "number of levels to go up in the hierarchy; all: a point counts for its feature and for "
        "each of its ancestors",
    ]  # fmt: skip
    rules: Annotated[bool, False, "also co-location rules with their conditional probability"]
    max_if: Annotated[int, 0, "rules: at most this many features before the arrow (0: any number)"]
    min_confidence: Annotated[float, 0, "rules: least conditional probability"]
    instances: Annotated[int, 0, "also list this many instances of each pattern"]
    significance: Annotated[
        int, 0,
        "compare each pattern with this many random rounds of a null model: expected index, "
        "ratio, p and q",
    ]  # fmt: skip
    adjust: Annotated[
        str, "fdr",
        "how q corrects for many tests; fdr: by Benjamini and Hochberg; max: by Westfall and "
        "Young's step-down maximum, which needs far fewer rounds",
    ]  # fmt: skip
    alternative: Annotated[
        str, "attraction",
        "what p looks for: attraction, avoidance (among the patterns that are prevalent enough "
        "to be found) or both: attraction, avoidance, both",
    ]  # fmt: skip
    null: Annotated[
        str, "inhomogeneous",
        "null model that features are compared with; times: with within only: inhomogeneous, "
        "shift, relabel, cluster, times",
    ]  # fmt: skip
    bandwidth: Annotated[
        float, 0,
        "null inhomogeneous and cluster: bandwidth of the density that all features share; by "
        "default the one with which some features predict the others best",
    ]  # fmt: skip
    seed: Annotated[int, 1, "seed of the random rounds"]
    engine: Annotated[
        str, None,
        "cores or GPU; all give the same result: auto, sequential, multicore, gpu",
    ]  # fmt: skip
    algorithm: Annotated[
        str, "auto",
        "auto: the fastest; for comparison sgct, joinless, icpi (iCPI-tree), miner (Co-location "
        "Miner) and, on a GPU, sgct-rows (SGCT with instances written out), which give the same "
        "result",
    ]  # fmt: skip


class Ngrams(Files, Splitting, Resources, total=False):
    of: Annotated[
        str, "",
        "only n-grams that have this word, or one that matches the wildcards of whal* or the "
        "expression /whales?/; any of several",
    ]  # fmt: skip
    min_count: Annotated[int, 5, "leave out n-grams that occur less often"]
    min_docs: Annotated[int, 0, "leave out n-grams of fewer documents"]
    filter: Annotated[
        str, "",
        "only the documents of an index that match this query; all of its parts must match, "
        "unless it says OR",
    ]  # fmt: skip


class Pairs(InArea, Points, Resources, total=False):
    knn: Annotated[
        int, 0,
        "a point's neighbours are this many, its own nearest (and within the distance, if that "
        "is given)",
    ]  # fmt: skip
    of: Annotated[Names, (), "only pairs whose first feature is one of these"]
    near: Annotated[Names, (), "only pairs whose second feature is one of these"]
    rounds: Annotated[int, 99, "number of random permutations for p-values; 0 means none"]
    seed: Annotated[int, 1, "seed of the permutations"]
    adjust: Annotated[
        str, "fdr",
        "how q corrects for many tests; fdr: by Benjamini and Hochberg; max: by Westfall and "
        "Young's step-down maximum, which needs far fewer rounds",
    ]  # fmt: skip


class Summary(InArea, Points, Resources, total=False):
    pass


class Vocabulary(Files, Splitting, Resources, total=False):
    min_count: Annotated[int, 1, "leave out words that occur less often"]
    max_size: Annotated[int, 0, "keep at most this many words, the most frequent; 0 means all"]


class Wordlist(Files, Splitting, Resources, total=False):
    top: Annotated[int, 0, "number of words; 0 means all"]
    min_count: Annotated[int, 1, "leave out words that occur less often"]
    parts: Annotated[
        int, 0,
        "measure dispersion over this number of equal parts of the corpus, not over documents; 0 "
        "means documents",
    ]  # fmt: skip
    group: Annotated[
        str, "",
        "treat documents whose IDs have the same match of this regular expression, such as "
        "'^[^.]+', as one",
    ]  # fmt: skip
    filter: Annotated[
        str, "",
        "only the documents of an index that match this query; all of its parts must match, "
        "unless it says OR",
    ]  # fmt: skip
