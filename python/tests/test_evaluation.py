from __future__ import annotations

import random

import pytest

import collocate
from collocate import Index, compare, evaluate
from collocate.datasets import beir, ir_dataset

QRELS = {"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 1}, "3": {"x": 1}}
RUN = {"1": {"b": 3.0, "a": 2.0, "c": 1.0}, "2": {"b": 2.0, "a": 1.0}}


def test_by_hand():
    got = evaluate(RUN, QRELS, ["RR", "P@2", "AP", "NumQ", "RR@1", "P(rel=2)@3"])
    # The third query has no answers and counts as 0.
    assert got["RR"] == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    assert got["P@2"] == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    assert got["AP"] == pytest.approx(((1 / 2 + 2 / 3) / 2 + 1 / 2) / 3)
    assert got["RR@1"] == 0
    assert got["P(rel=2)@3"] == pytest.approx((1 / 3) / 3)
    each = evaluate(RUN, QRELS, ["RR"], per_query=True)
    assert each == {"RR": {"1": 0.5, "2": 0.5, "3": 0.0}}


def test_the_same_as_ir_measures():
    peer = pytest.importorskip("ir_measures")
    draw = random.Random(1)
    docs = [f"d{i}" for i in range(60)]
    qrels = {str(q): {d: draw.randrange(4) for d in draw.sample(docs, 20)} for q in range(12)}
    run = {str(q): {d: draw.randrange(30) / 4 for d in draw.sample(docs, 40)} for q in range(10)}
    names = ["AP", "AP@20", "nDCG", "nDCG@10", "P@5", "P(rel=2)@5", "R@10", "RR", "RR@3", "Rprec",
             "Bpref", "Success@5", "AP(rel=2)"]  # fmt: skip
    names += [f"IPrec@{i / 10}" for i in range(11)]
    measures = [peer.parse_measure(n) for n in names]
    ours = evaluate(run, qrels, measures)
    theirs = peer.calc_aggregate(measures, qrels, run)
    for m in measures:
        assert ours[str(m)] == pytest.approx(theirs[m], abs=1e-9), m


def test_equal_scores_keep_the_order_of_the_hits():
    # trec_eval and ir_measures put the last ID first where scores are equal; a run that came from
    # a search says which document was found first.
    index = Index.build([("a", "tea x"), ("b", "tea y"), ("c", "tea z"), ("d", "milk")])
    found = index.search({"1": "tea", "2": "milk", "3": "coffee", "4": "tea"}, k=3)
    assert list(found[0].ids) == ["a", "b", "c"]
    assert len(set(found[0].scores)) == 1
    run = found.to_run()
    for q in "1", "4":
        scores = list(run[q].values())
        assert scores[0] == found[0].scores[0]
        assert scores == sorted(set(scores), reverse=True)
        assert scores == pytest.approx([scores[0]] * 3, rel=1e-6)
    assert run["2"] == {"d": pytest.approx(found[1].scores[0])} and run["3"] == {}
    for i, document in enumerate("abc"):
        assert evaluate(found, {"1": {document: 1}}, "RR") == {"RR": pytest.approx(1 / (i + 1))}


def test_tables_and_tuples():
    pd = pytest.importorskip("pandas")
    run = [(q, d, s) for q, found in RUN.items() for d, s in found.items()]
    qrels = [(q, d, g) for q, found in QRELS.items() for d, g in found.items()]
    want = evaluate(RUN, QRELS, ["AP"])
    assert evaluate(run, qrels, ["AP"]) == want
    frame = pd.DataFrame(run, columns=["qid", "docno", "score"])
    judged = pd.DataFrame(qrels, columns=["qid", "docno", "label"])
    assert evaluate(frame, judged, ["AP"]) == want
    with pytest.raises(ValueError, match="columns"):
        evaluate(frame.rename(columns={"qid": "q"}), judged, ["AP"])


def test_mistakes():
    with pytest.raises(ValueError, match="nDCG@k"):
        evaluate(RUN, QRELS, ["ERR@10"])
    with pytest.raises(ValueError, match="topic"):
        evaluate({"9": {"a": 1.0}}, QRELS, ["AP"])
    with pytest.raises(ValueError, match="twice"):
        evaluate([("1", "a", 1.0), ("1", "a", 2.0)], QRELS, ["AP"])


def test_beir_from_folder_to_measure(tmp_path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text(
        '{"_id": "a", "title": "Cats", "text": "purr"}\n'
        '{"_id": "b", "title": "Dogs", "text": "bark"}\n'
    )
    (tmp_path / "queries.jsonl").write_text(
        '{"_id": "q1", "text": "cat"}\n{"_id": "q2", "text": "unjudged"}\n'
    )
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\n")
    data = beir(tmp_path)
    assert data.queries == {"q1": "cat"}
    with Index.build(data.corpus, analyzer="english") as ix:
        run = ix.search(data.queries.values()).to_run(data.queries)
    assert evaluate(run, data.qrels, ["nDCG@10"]) == {"nDCG@10": 1.0}


class Loaded:
    """A dataset as ir_datasets gives it."""

    def has_queries(self):
        return True

    has_qrels = has_queries

    def docs_iter(self):
        from collections import namedtuple

        doc = namedtuple("Doc", "doc_id title body")
        return iter([doc("a", "Cats", "purr"), doc("b", "Dogs", "bark")])

    def queries_iter(self):
        from collections import namedtuple

        return iter([namedtuple("Query", "query_id text")("q1", "cat")])

    def qrels_iter(self):
        from collections import namedtuple

        qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")
        return iter([qrel("q1", "a", 1, "0")])


def test_ir_datasets():
    data = ir_dataset(Loaded())
    for _ in range(2):  # documents can be iterated over again
        with Index.build(data.corpus, analyzer="english") as ix:
            run = ix.search(data.queries.values()).to_run(data.queries)
    assert evaluate(run, data.qrels, ["RR"]) == {"RR": 1.0}


def test_rows_that_would_not_count_are_named():
    run, qrels = {"1": {"a": 2.0, "b": 1.0}}, {"1": {"a": 1}}
    for wrong, says in (
        ({"1": {"a": float("nan")}}, "run: query '1', document 'a': nan: want a number"),
        ({"1": {"a": None}}, "None: want a number"),
        ([("1", "a")], r"row 0 is \('1', 'a'\): want \(query, document, number\)"),
        ([("1", "a", 1), ("1", "a", 2)], "twice, with 1 and 2"),
        ([("1", None, 1)], "document None: has no ID"),
    ):
        with pytest.raises(ValueError, match=says):
            evaluate(wrong, qrels, "AP")
    for wrong, says in (
        ({"1": {"a": 0.5}}, "qrels: query '1', document 'a': 0.5: want a whole number"),
        ([("1", "0", "a", 1)], "row 0"),
        ([("1", "a", 1), ("1", "a", 0)], "twice, with 1 and 0"),
    ):
        with pytest.raises(ValueError, match=says):
            evaluate(run, wrong, "AP")
    for wrong in (None, "run.txt", {"1": ["a", "b"]}):
        with pytest.raises(TypeError, match="want"):
            evaluate(wrong, qrels, "AP")


def test_compare():
    pytest.importorskip("pandas")
    qrels = {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}}
    good = {"1": {"a": 2, "x": 1}, "2": {"b": 2, "x": 1}, "3": {"x": 2, "c": 1}}
    bad = {"1": {"x": 2, "a": 1}, "2": {"x": 2, "b": 1}, "3": {"x": 2, "c": 1}}
    table = compare(bad, good, qrels, ["RR", "P@1"])
    assert list(table["measure"]) == ["RR", "P@1"] and list(table["better"]) == [2, 2]
    assert table["diff"][0] == pytest.approx(table["b"][0] - table["a"][0]) and table["p_t"][0] < 1
    with pytest.raises(ValueError, match="no values of topics"):
        compare(bad, good, qrels, "NumQ")


def test_queries_without_answers_and_judgments():
    qrels, run = {"1": {"a": 1}, "2": {"b": 1}}, {"1": {"x": 2, "a": 1}}
    assert evaluate(run, qrels, "RR") == {"RR": 0.25}
    assert evaluate(run, qrels, "RR", complete=False) == {"RR": 0.5}
    assert evaluate(run, qrels, "RR", complete=False, judged_only=True) == {"RR": 1.0}


def test_fuse():
    a = {"1": {"x": 10, "y": 8, "z": 0}, "2": {"x": 1}}
    b = [("1", "y", 3), ("1", "w", 1)]
    fused = collocate.fuse([a, b])
    assert list(fused["1"]) == ["y", "x", "w", "z"] and fused["2"] == {"x": 1 / 61}
    assert fused["1"]["y"] == pytest.approx(1 / 61 + 1 / 62)
    assert collocate.fuse([a, b], "combmnz", top=1)["1"] == {"y": pytest.approx(3.6)}
    assert collocate.fuse([a, b], "combsum", weights=[1, 0], depth=1)["1"]["x"] == 1
    with pytest.raises(ValueError, match="weights: 1 of them for 2 runs"):
        collocate.fuse([a, b], weights=[1])
    with pytest.raises(ValueError, match="want at least two"):
        collocate.fuse([a])
    with pytest.raises(ValueError, match="by: .*borda"):
        collocate.fuse([a, b], "luck")


def test_tune():
    long = " and many other words in a long document that goes on and on and on"
    docs = [{"id": "1", "text": "cat cat" + long}, {"id": "2", "text": "cat"},
            {"id": "3", "text": "dog dog" + long}, {"id": "4", "text": "dog"}]  # fmt: skip
    topics = {"a": "cat", "b": "dog", "c": "cat", "d": "dog"}
    qrels = {"a": {"1": 1}, "b": {"3": 1}, "c": {"1": 1}, "d": {"3": 1}}
    with Index.build(docs) as index:
        found = collocate.tune(index, topics, qrels, k1=[1.2], b=[0, 0.5, 1], folds=2)
        assert found["best"]["parameters"] == {"k1": 1.2, "b": 0} and found["best"]["value"] == 1
        assert found["cross_validated"]["b"] == 1 and len(found["folds"]) == 2
        assert found["grid"].columns.tolist() == ["model", "b", "k1", "value"]
        run = index.search(topics, 1000)
        assert found["default"]["value"] == pytest.approx(evaluate(run, qrels, "nDCG@10")["nDCG@10"])
        with pytest.warns(collocate.CollocateWarning, match="k1 0.5 is the smallest"):
            collocate.tune(index, topics, qrels, "AP", k1="0.5..1", b=[0, 1], folds=2)
        same = collocate.tune(index, topics, qrels, "AP", model="dirichlet", mu="1,10", folds=2)
        assert same["default"]["model"] == "dirichlet(mu=1000)"
        with pytest.raises(ValueError, match="folds: 5 of 4 topics"):
            collocate.tune(index, topics, qrels)
        with pytest.raises(ValueError, match="b 2: want 0 to 1"):
            collocate.tune(index, topics, qrels, b=[2], folds=2)
