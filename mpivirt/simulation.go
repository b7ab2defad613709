package mpivirt

import (
	"gigarank/mpivirt/internal/kernel"
	"gigarank/network"
)

// Simulation is one run of a program on a target machine.
type Simulation struct {
	run *kernel.Simulation
}

// New returns a simulation that is ready to run. The error names all faults of the
// configuration.
func New(c Config) (*Simulation, error) {
	run, err := kernel.New(*c.ofKernel())
	if err != nil {
		return nil, err
	}
	return &Simulation{run}, nil
}

// Run runs the simulation to its end, once. The result covers all that was finished even if
// there is an error: *RankError, *DeadlockError, or an error of the transport. The error is
// *engine.Stopped if another process failed or Stop was called.
func (s *Simulation) Run() (*Result, error) {
	r, err := s.run.Run()
	return resultOf(r), err
}

// Close unwinds the ranks that have not finished, after a Run that did not reach its end.
// Their deferred calls run. With many ranks this takes a while; a process that exits need
// not call it.
func (s *Simulation) Close() { s.run.Close() }

// Stop ends the simulation early, on all hosts. Run then returns the result so far.
func (s *Simulation) Stop(reason string) { s.run.Stop(reason) }

// Progress returns how far the simulation has come on this process. Any goroutine may call it.
func (s *Simulation) Progress() Progress { return Progress(s.run.Progress()) }

// Simulate runs main as each of a number of ranks on a machine, in this process. It uses one
// engine for each processor that Go may use. [New] has all options. After a run that failed
// it unwinds the ranks that have not finished: their deferred calls run, and none of their
// goroutines stays. Errors: as [New] and [Simulation.Run].
func Simulate(machine *network.Machine, ranks int, main func(r *Rank) error) (*Result, error) {
	return SimulateForm(machine, ranks, Main(main))
}

// SimulateForm is [Simulate] for a program in the form for ranks of any kind.
func SimulateForm(machine *network.Machine, ranks int, f Form) (*Result, error) {
	r, err := kernel.Simulate(machine, ranks, kernel.Config{Program: Program{Forms: []Form{f}}})
	return resultOf(r), err
}
