package steps

import (
	"gigarank/mpivirt/internal/kernel"
	"gigarank/network"
)

// Simulate is Simulate of event ranks; see [New]. The engines share the step
// function and what it refers to: that must not change, or be guarded. A [mpivirt.Program]
// makes one for each engine.
func Simulate(machine *network.Machine, ranks int, program Program) (*kernel.Result, error) {
	return kernel.Simulate(machine, ranks, kernel.Config{Program: kernel.Program{Forms: []kernel.Form{Main(func() Program { return program })}}})
}
