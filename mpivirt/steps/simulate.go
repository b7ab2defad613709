package steps

import (
	"gigarank/mpivirt"
	"gigarank/network"
)

// Simulate runs event ranks on a machine; see [New]. The engines share the step function and
// what it refers to, which must be constant or guarded. A [mpivirt.Program] makes one for each
// engine.
func Simulate(machine *network.Machine, ranks int, program Program) (*mpivirt.Result, error) {
	return mpivirt.SimulateForm(machine, ranks, Main(func() Program { return program }))
}
