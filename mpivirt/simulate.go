package mpivirt

import (
	"runtime"

	"gigarank/engine"
	"gigarank/network"
)

// Simulate runs main as each of a number of ranks on a machine, in this process,
// with an engine for each processor that Go may use. It is the short way for
// programs of one's own; [New] has all choices. Errors: as [New] and
// [Simulation.Run].
func Simulate(machine *network.Machine, ranks int, main func(r *Rank) error) (*Result, error) {
	target, err := machine.Target(int64(ranks))
	if err != nil {
		return nil, err
	}
	s, err := New(Config{
		Target:     target,
		Program:    Program{Main: main},
		Transports: engine.NewInProcess(min(ranks, runtime.GOMAXPROCS(0))),
	})
	if err != nil {
		return nil, err
	}
	return s.Run()
}
