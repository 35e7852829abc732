// Package trec evaluates search results: it reads topics (queries), judgments (qrels) and runs
// (ranked answers), and computes the measures of trec_eval.
//
//	qrels, err := trec.ReadQrels("qrels.txt", trec.Auto)
//	run, err := trec.ReadRun("run.txt")
//	measures, err := trec.ParseMeasures("map", "P_10", "ndcg_cut_10")
//	e, err := trec.Evaluate(qrels, run, measures, trec.Options{})
//	value, ok := e.Value("map")
//
// Values agree with those of trec_eval. ReadTopics and RunWriter are for making a run.
//
// # Files
//
// Topics ([ReadTopics]) are recognised by their first line that is not blank:
//
//	<top> ... <num> Number: 301 ... <title> words ... </top>    TREC; the title is the query
//	<topic number="101"> <query>words</query> ... </topic>      TREC's newer tracks
//	.I 1 / .W / words ...                                       SMART; see TopicIDs
//	{"id": "7", "query": "words"}                               JSON: objects, or a list of them
//	{"id": "7", "vector": {"word": 2}}                          weighted tokens
//	qid<TAB>query                                               a header names columns; or CSV
//	301<TAB>words                                               TSV
//	301:words                                                   as in TREC's efficiency tracks
//	20001:1:words                                               Million Query 2009, with priorities
//
// [TopicOptions.Fields] chooses other fields than the title, and several. In JSON and tables the ID
// is the first of id, _id, qid, query_id, topic_id, number and others that is there, or else the
// position; the text is query, text, title or question. Weighted tokens, for indexes of them, are
// an object in one of these, or in vector, toks or query_toks, which come first with
// [TopicOptions.Weights].
//
// Judgments ([ReadQrels]) are lines of columns, separated by blanks. A line that begins with # is a
// comment:
//
//	301 0 FT934-1 2             TREC: topic, iteration (ignored), document, grade
//	query-id corpus-id score    BEIR: topic, document, grade, with or without this header
//	1 17 0 0.000000             SMART: topic, document, two zeros; all listed are relevant
//	1 184 2                     Cranfield: topic, document, grade; 1 is best, 4 least, -1 (or 5) not
//	                            relevant; never guessed, since BEIR's look the same
//
// Leading zeros of SMART's numbers are dropped, so topic 01 is topic 1. Cranfield's grades g become
// 5-g, so that a larger grade is better, as in the other formats.
//
// Runs ([ReadRun]) are lines "topic Q0 document rank score tag". As in trec_eval, the rank is
// ignored: answers are sorted by descending score, and those with equal scores by document in
// descending byte order. Therefore RunWriter writes strictly descending scores.
//
// # Measures
//
// A document is relevant if its grade is at least Options.Level, which is 1 by default. R is the
// number of relevant documents of the topic.
//
//	num_ret, num_rel, num_rel_ret   counts, summed over topics
//	map            sum over relevant answers of (relevant so far / rank) / R; map_cut_k: first
//	               k answers
//	gm_map         the same, averaged geometrically with 0.00001 for smaller values
//	P_k            relevant in the first k / k;  recall_k: / R;  relative_P_k: / min(k, R);
//	               success_k: 1 if there is any
//	Rprec          P at R;  Rprec_mult_x: P at x*R
//	recip_rank     1 / rank of the first relevant answer
//	bpref          mean over relevant answers of 1 - (judged nonrelevant before it, at most R) /
//	               min(R, judged nonrelevant)
//	ndcg, ndcg_cut_k   sum of grade/log2(rank+1) over that of the best order
//	ndcg_rel       mean of ndcg at the ranks of the relevant answers, the end for those missing
//	Rndcg          mean of ndcg at the ranks where the best order goes on to a smaller grade
//	G              sum of grade/log2(2 + grades missed so far) over the sum of all grades
//	rbp            (1-p) * sum of grade/largest grade * p^(rank-1), p = 0.9
//	rbp_resid      what rbp could gain by unjudged answers
//	iprec_at_recall_x  largest precision at or after the rank where recall reaches x: as
//	               trec_eval 10, or with Options.RoundUp as trec_eval 9 and pytrec_eval
//	infAP, 11pt_avg, binG, set_P, set_recall, set_relative_P, set_map, set_F, utility, unj_k,
//	num_nonrel_judged_ret: as trec_eval
//
// A summary averages over the topics that have both judgments and answers, or with Options.Complete
// over all that have judgments. [Fuse] makes one run of several, and
// [CrossValidate] says what a choice of parameters is worth. [Compare] compares two runs topic
// by topic, with Student's paired t-test and a randomisation test.
//
// Experimental: it may change with any version; package collocate says what may not.
package trec
