package main

import (
	"cmp"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/collectives"
	"gigarank/collectives/library"
	"gigarank/internal/tuning"
	"gigarank/network"
)

// noLibrary is the value of --library for gigarank's own choice, on a machine that names a library.
const noLibrary = tuning.NoLibrary

// loadLibrary returns the library that chooses the algorithms on a machine: the named one, which may be a file, or else
// the machine's. Without a library simulations on the machine choose.
func loadLibrary(c *terminal.Console, name string, m *network.Machine) (collectives.Library, error) {
	if m != nil {
		name = cmp.Or(name, m.Library())
	}
	switch {
	case name != "" && name != noLibrary:
		table, err := library.Load(name, c.ReadFile)
		if err != nil {
			return nil, err
		}
		return table, nil
	case m == nil:
		return nil, nil
	}
	return tuning.On(m), nil
}
