package main

import (
	"cmp"

	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/collectives"
	"gigarank/collectives/library"
	"gigarank/network"
)

// noLibrary is the value of --library for the defaults of gigarank on a machine that names a library.
const noLibrary = "none"

// loadLibrary returns the library that chooses the algorithms on a machine: the named one, which may be a
// file, or else the machine's. It is nil for none. m may be nil.
func loadLibrary(c *terminal.Console, name string, m *network.Machine) (collectives.Library, error) {
	if m != nil {
		name = cmp.Or(name, m.Library())
	}
	if name == "" || name == noLibrary {
		return nil, nil
	}
	table, err := library.Load(name, c.ReadFile)
	if err != nil {
		return nil, err
	}
	return table, nil
}
