package main

import (
	"path/filepath"
	"strings"
)

// publishedBM25 are the values that Pyserini publishes for BM25 on BEIR v1.0.0 (its two-click
// reproductions, condition bm25-flat): title and text as one field, Lucene's EnglishAnalyzer,
// k1 0.9, b 0.4, 1,000 answers without the query itself.
var publishedBM25 = map[string]map[string]float64{
	"trec-covid":              published(.5947, .1091, .3955),
	"bioasq":                  published(.5225, .7687, .9030),
	"nfcorpus":                published(.3218, .2457, .3704),
	"nq":                      published(.3055, .7513, .8958),
	"hotpotqa":                published(.6330, .7957, .8820),
	"fiqa":                    published(.2361, .5395, .7393),
	"signal1m":                published(.3304, .3703, .5642),
	"trec-news":               published(.3952, .4469, .7051),
	"robust04":                published(.4070, .3746, .6345),
	"arguana":                 published(.3970, .9324, .9872),
	"webis-touche2020":        published(.4422, .5822, .8621),
	"cqadupstack-android":     published(.3801, .6829, .8632),
	"cqadupstack-english":     published(.3453, .5757, .7323),
	"cqadupstack-gaming":      published(.4822, .7651, .8945),
	"cqadupstack-gis":         published(.2901, .6119, .8174),
	"cqadupstack-mathematica": published(.2015, .4877, .7221),
	"cqadupstack-physics":     published(.3214, .6326, .8340),
	"cqadupstack-programmers": published(.2802, .5588, .7734),
	"cqadupstack-stats":       published(.2711, .5338, .7310),
	"cqadupstack-tex":         published(.2244, .4686, .6907),
	"cqadupstack-unix":        published(.2749, .5417, .7616),
	"cqadupstack-webmasters":  published(.3059, .5820, .8066),
	"cqadupstack-wordpress":   published(.2483, .5152, .7552),
	"quora":                   published(.7886, .9733, .9950),
	"dbpedia-entity":          published(.3180, .4682, .6760),
	"scidocs":                 published(.1490, .3477, .5638),
	"fever":                   published(.6513, .9185, .9589),
	"climate-fever":           published(.1651, .4249, .6324),
	"scifact":                 published(.6789, .9253, .9767),
}

func published(ndcg, recall100, recall1000 float64) map[string]float64 {
	return map[string]float64{"ndcg_cut_10": ndcg, "recall_100": recall100, "recall_1000": recall1000}
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
