package main

import (
	"fmt"

	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/internal/random"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/network"
	"gigarank/vtime"
)

// payload is the size of a vector or block, in bytes.
const payload = 8

// spread is the time within which ranks enter, if they do not enter together. It is a
// few messages long, so that exits depend on many ranks and not on the last alone.
const spread = 20 * vtime.Microsecond

// meeting is a run in which all ranks compute for a random time and meet in a
// collective operation.
type meeting struct {
	target      *network.Target
	op          collectives.Operation
	algorithm   collectives.Algorithm
	collectives mpivirt.Interpreter
	engines     int
	seed        uint64
	together    bool  // all enter at time 0
	sampled     []int // ranks whose exit times are wanted
}

func (m *meeting) String() string {
	return fmt.Sprintf("%v by %v of %d ranks", m.op, m.algorithm, m.target.Ranks())
}

// entry returns the time at which a rank enters.
func (m *meeting) entry(rank int) vtime.Time {
	if m.together {
		return 0
	}
	return vtime.Time(random.Intn(m.seed, uint64(rank), 0, int(spread)))
}

// run simulates the meeting and returns the result and the exits of the sampled ranks.
func (m *meeting) run() (result *mpivirt.Result, exits []vtime.Time, err error) {
	index := map[int]int{}
	for i, rank := range m.sampled {
		index[rank] = i
	}
	exits = make([]vtime.Time, len(m.sampled))
	step := func(r *steps.Rank, left *bool) steps.Outcome {
		if *left {
			if i, wanted := index[r.Rank()]; wanted {
				exits[i] = r.Now()
			}
			return r.Finish()
		}
		*left = true
		r.Compute(vtime.Duration(m.entry(r.Rank())))
		if m.op == collectives.Barrier {
			return r.Barrier()
		}
		return r.CollectiveSize(m.op, payload, 0)
	}
	program := mpivirt.Program{Name: "truth", Forms: []mpivirt.Form{steps.Main(func() steps.Program { return steps.New(step) })}, Repeats: &mpivirt.Repeated{Operation: m.op}}
	if m.op != collectives.Barrier {
		program.Repeats.Bytes = payload
	}
	s, err := mpivirt.New(mpivirt.Config{
		Target: m.target, Kind: steps.Kind, Transports: engine.NewInProcess(m.engines), Collectives: m.collectives,
		Algorithms: map[collectives.Operation]collectives.Algorithm{m.op: m.algorithm},
		Program:    program,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%v: %w", m, err)
	}
	if result, err = s.Run(); err != nil {
		return nil, nil, fmt.Errorf("%v: %w", m, err)
	}
	return result, exits, nil
}

// sized reports whether an operation can be simulated by its size alone. The others
// have the schedules of those with blocks of one length.
func sized(op collectives.Operation) bool {
	switch op {
	case collectives.Gatherv, collectives.Scatterv, collectives.Allgatherv, collectives.Alltoallv:
		return false
	}
	return true
}
