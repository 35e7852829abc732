package coloc

import (
	"io"

	"github.com/parquet-go/parquet-go"
)

// reportRow is a row for a feature of a pattern, with the columns of WriteCSV.
type reportRow struct {
	Region   string   `parquet:"region,dict"`
	Distance float64  `parquet:"distance"`
	Unit     string   `parquet:"unit,dict"`
	Pattern  int32    `parquet:"pattern"`
	Size     int32    `parquet:"size"`
	Index    float64  `parquet:"participation_index"`
	Expected *float64 `parquet:"expected_index,optional"`
	Ratio    *float64 `parquet:"ratio,optional"`
	PValue   *float64 `parquet:"p_value,optional"`
	QValue   *float64 `parquet:"q_value,optional"`
	Feature  string   `parquet:"feature,dict"`
	Points   int64    `parquet:"points"`
	Total    int64    `parquet:"total"`
	Share    float64  `parquet:"participation_ratio"`
	Null     *string  `parquet:"null,optional,dict"` // of the test; absent without, as are the next three
	Rounds   *int32   `parquet:"rounds,optional"`
	Area     *float64 `parquet:"study_area,optional"`
	Band     *float64 `parquet:"bandwidth,optional"`
}

// WriteParquet writes reports as one table, with a row for every feature of every pattern.
func WriteParquet(w io.Writer, reports ...*Report) error {
	p := parquet.NewGenericWriter[reportRow](w)
	for _, r := range reports {
		var null *string
		var rounds *int32
		if n := int32(r.Rounds); n > 0 {
			null, rounds = &r.Null, &n
		}
		area, bandwidth := unlessZero(r.StudyArea), unlessZero(r.Bandwidth)
		for i, q := range r.Patterns {
			for _, f := range q.Features {
				s := q.Participation[f]
				row := reportRow{r.Region, r.Distance, r.Unit, int32(i + 1), int32(len(q.Features)), q.Index,
					q.Expected, q.Ratio, q.PValue, q.QValue, f, s.Points, s.Total, s.Ratio(),
					null, rounds, area, bandwidth}
				if _, err := p.Write([]reportRow{row}); err != nil {
					return err
				}
			}
		}
	}
	return p.Close()
}

// unlessZero returns a number, and nil for 0, which stands for none.
func unlessZero(v float64) *float64 {
	if v == 0 {
		return nil
	}
	return &v
}
