package kernel

import (
	"errors"
	"runtime"

	"gigarank/engine"
	"gigarank/network"
)

// Simulate runs a program on a machine, in this process, with one engine for each processor that Go
// may use. It sets Target and Transports of the Config. After a failed run it unwinds the ranks
// that have not finished, as [Simulation.Close] does.
func Simulate(machine *network.Machine, ranks int, c Config) (*Result, error) {
	if machine == nil {
		return nil, errors.New("no machine: load one with network.Load or network.Parse")
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
	defer s.Close()
	return s.Run()
}
