package device

import "github.com/collocate/collocate/search/internal/ask"

// slotStrategy is a row of slotStrategies: a way to answer the queries of a launch.
type slotStrategy struct {
	name  ask.Strategy
	why   string                // when it pays, and what it does
	worth func(s *gpuSlot) bool // whether the queries in s.p can be answered in this way
	start func(s *gpuSlot, m *gpuModel, timed bool) error
}

// slotStrategies lists the strategies for one query and, by its last row, for several. The first
// one that is worth it is started.
var slotStrategies = []slotStrategy{
	{
		name: ask.GPUPair,
		why: "one query of up to 2 words and 512 answers whose lists have tables: one launch. " +
			"The cut for two words is guessed; if the answers refute the guess, gpu-one follows",
		worth: func(s *gpuSlot) bool { return s.fitsArguments() && s.fitsPair() },
		start: (*gpuSlot).startPair,
	},
	{
		name: ask.GPUOne,
		why: "one query of up to 4 words and 2,048 answers whose lists have tables: its tiles " +
			"run at the same time, so one launch without an order of tiles suffices",
		worth: (*gpuSlot).fitsArguments,
		start: (*gpuSlot).startOne,
	},
	{
		name: ask.GPUGeneral,
		why: "always possible: order the tiles by their bounds, add up postings until no tile " +
			"can win, and score the candidates. For one query the three launches are one graph",
		worth: func(*gpuSlot) bool { return true },
		start: (*gpuSlot).startGeneral,
	},
}

// start starts the queries of the slot's plan by the first strategy that is worth it, and notes
// which one it is.
func (s *gpuSlot) start(m *gpuModel, timed bool) error {
	for i := range slotStrategies {
		if by := &slotStrategies[i]; by.worth(s) {
			s.by = by.name
			return by.start(s, m, timed)
		}
	}
	panic("device: a plan without an end")
}

// laneStrategy is a row of laneStrategies: a way to answer a query of a batch.
type laneStrategy struct {
	name ask.Strategy
	why  string // when it pays, and what it does
}

// laneStrategies lists the strategies for a query in a lane, in the order in which choose tries
// them; a test checks that each is taken. Queries that no lane takes (see resolvedRequest.general)
// are answered by slotStrategies.
var laneStrategies = []laneStrategy{
	{
		name: ask.GPUShort,
		why: "if a word that all answers have is in at most 2,048 documents: batch_short scores " +
			"these, with a warp if there are at most 32 and with a block if there are more",
	},
	{
		name: ask.GPULong,
		why: "always possible. The device estimates what is cheapest: to read two long lists " +
			"together (batch_pairs), to add up lists (batch_sums), or to look up the postings " +
			"whose code can reach the cut in the other lists (batch_score)",
	},
}

// choose sets the strategy of a query. It is called for every query of a batch: a loop over rows
// with functions, as in slotStrategies, took 10 ns more, a fifth of the time to place a query.
func (p *lanePlan) choose(a *resolvedRequest) {
	a.by = ask.GPULong
	if p.isShort(a) {
		a.by = ask.GPUShort
	}
}
