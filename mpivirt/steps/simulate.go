package steps

import (
	"gigarank/mpivirt/internal/kernel"
	"gigarank/network"
)

// Simulate runs event ranks on a machine; see [New]. The engines share the step function and
// what it refers to, which must be constant or guarded. A [mpivirt.Program] makes one for each
// engine.
func Simulate(machine *network.Machine, ranks int, program Program) (*kernel.Result, error) {
	return kernel.Simulate(machine, ranks, kernel.Config{Program: kernel.Program{Forms: []kernel.Form{Main(func() Program { return program })}}})
}
