package mpivirt

import (
	"errors"
	"runtime"

	"gigarank/engine"
	"gigarank/lp"
	"gigarank/network"
)

// Simulate runs main as each of a number of ranks on a machine, in this process,
// with an engine for each processor that Go may use. It is the short way for
// programs of one's own; [New] has all choices. Errors: as [New] and
// [Simulation.Run].
func Simulate(machine *network.Machine, ranks int, main func(r *Rank) error) (*Result, error) {
	return simulate(machine, ranks, Config{Program: Program{Main: main}})
}

// SimulateEvents is Simulate of event ranks; see [Steps]. The engines share the step
// function and what it refers to: that must not change, or be guarded. A [Program]
// makes one for each engine.
func SimulateEvents(machine *network.Machine, ranks int, program EventProgram) (*Result, error) {
	return simulate(machine, ranks, Config{LP: lp.Event, Program: Program{Event: func() EventProgram { return program }}})
}

func simulate(machine *network.Machine, ranks int, c Config) (*Result, error) {
	if machine == nil {
		return nil, errors.New("no machine: take one of network.Load or network.Parse")
	}
	var err error
	if c.Target, err = machine.Target(int64(ranks)); err != nil {
		return nil, err
	}
	c.Transports = engine.NewInProcess(min(ranks, runtime.GOMAXPROCS(0)))
	s, err := New(c)
	if err != nil {
		return nil, err
	}
	return s.Run()
}
