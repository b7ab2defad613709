package mpivirt

import (
	"gigarank/mpivirt/internal/kernel"
	"gigarank/network"
)

// Simulate runs main as each of a number of ranks on a machine, in this process. It uses one
// engine for each processor that Go may use. [New] has all options. After a run that failed
// it unwinds the ranks that have not finished: their deferred calls run, and none of their
// goroutines stays. Errors: as [New] and [Simulation.Run].
func Simulate(machine *network.Machine, ranks int, main func(r *Rank) error) (*Result, error) {
	return kernel.Simulate(machine, ranks, Config{Program: Program{Forms: []Form{Main(main)}}})
}
