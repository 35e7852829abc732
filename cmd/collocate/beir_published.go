package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// publishedBM25 are the values that Pyserini publishes for BM25 on BEIR v1.0.0 (its two-click
// reproductions, condition bm25-flat): title and text as one field, Lucene's EnglishAnalyzer,
// k1 0.9, b 0.4, 1,000 answers without the query itself. Documents are those of Pyserini's indexes,
// topics and judgments those of ir_datasets. It has no bioasq, signal1m, trec-news and robust04:
// their topics are from BEIR's list of datasets, which has no number of judgments, here 0.
var publishedBM25 = map[string]struct {
	documents, topics, judgments int
	values                       map[string]float64
}{
	"trec-covid":              {171332, 50, 66336, published(.5947, .1091, .3955)},
	"bioasq":                  {14914603, 500, 0, published(.5225, .7687, .9030)},
	"nfcorpus":                {3633, 323, 12334, published(.3218, .2457, .3704)},
	"nq":                      {2681468, 3452, 4201, published(.3055, .7513, .8958)},
	"hotpotqa":                {5233329, 7405, 14810, published(.6330, .7957, .8820)},
	"fiqa":                    {57638, 648, 1706, published(.2361, .5395, .7393)},
	"signal1m":                {2866316, 97, 0, published(.3304, .3703, .5642)},
	"trec-news":               {594977, 57, 0, published(.3952, .4469, .7051)},
	"robust04":                {528155, 249, 0, published(.4070, .3746, .6345)},
	"arguana":                 {8674, 1406, 1406, published(.3970, .9324, .9872)},
	"webis-touche2020":        {382545, 49, 2214, published(.4422, .5822, .8621)},
	"cqadupstack-android":     {22998, 699, 1696, published(.3801, .6829, .8632)},
	"cqadupstack-english":     {40221, 1570, 3765, published(.3453, .5757, .7323)},
	"cqadupstack-gaming":      {45301, 1595, 2263, published(.4822, .7651, .8945)},
	"cqadupstack-gis":         {37637, 885, 1114, published(.2901, .6119, .8174)},
	"cqadupstack-mathematica": {16705, 804, 1358, published(.2015, .4877, .7221)},
	"cqadupstack-physics":     {38316, 1039, 1933, published(.3214, .6326, .8340)},
	"cqadupstack-programmers": {32176, 876, 1675, published(.2802, .5588, .7734)},
	"cqadupstack-stats":       {42269, 652, 913, published(.2711, .5338, .7310)},
	"cqadupstack-tex":         {68184, 2906, 5154, published(.2244, .4686, .6907)},
	"cqadupstack-unix":        {47382, 1072, 1693, published(.2749, .5417, .7616)},
	"cqadupstack-webmasters":  {17405, 506, 1395, published(.3059, .5820, .8066)},
	"cqadupstack-wordpress":   {48605, 541, 744, published(.2483, .5152, .7552)},
	"quora":                   {522931, 10000, 15675, published(.7886, .9733, .9950)},
	"dbpedia-entity":          {4635922, 400, 43515, published(.3180, .4682, .6760)},
	"scidocs":                 {25657, 1000, 29928, published(.1490, .3477, .5638)},
	"fever":                   {5416568, 6666, 7937, published(.6513, .9185, .9589)},
	"climate-fever":           {5416593, 1535, 4681, published(.1651, .4249, .6324)},
	"scifact":                 {5183, 300, 339, published(.6789, .9253, .9767)},
}

func published(ndcg, recall100, recall1000 float64) map[string]float64 {
	return map[string]float64{"ndcg_cut_10": ndcg, "recall_100": recall100, "recall_1000": recall1000}
}

// publishedFor returns the published values of a collection, or nil and why they do not hold for
// what was evaluated: nothing is said of a collection that is not BEIR's.
func publishedFor(name string, documents, topics, judgments int) (map[string]float64, string) {
	known, ok := publishedBM25[name]
	if !ok {
		return nil, ""
	}
	of := func(have, want int, what string) string {
		return fmt.Sprintf("no published values: BEIR's %s has %d %s, and this collection has %d", name,
			want, what, have)
	}
	switch {
	case documents != known.documents:
		return nil, of(documents, known.documents, "documents")
	case topics != known.topics:
		return nil, of(topics, known.topics, "judged topics")
	case known.judgments > 0 && judgments != known.judgments:
		return nil, of(judgments, known.judgments, "judgments")
	}
	return known.values, ""
}

// beirName returns BEIR's name of the collection in a folder, as far as the folder's name tells.
func beirName(dir string) string {
	path, err := filepath.Abs(dir)
	if err != nil {
		path = dir
	}
	name := strings.ToLower(filepath.Base(path))
	if strings.ToLower(filepath.Base(filepath.Dir(path))) == "cqadupstack" {
		name = "cqadupstack-" + name
	}
	return name
}
