package main

import (
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/collectives"
	"gigarank/internal/tuning"
	"gigarank/network"
)

// noLibrary is the value of --library for gigarank's own choice, on a machine that names a library.
const noLibrary = tuning.NoLibrary

// loadLibrary is [tuning.Library] with the files of a command.
func loadLibrary(c *terminal.Console, name string, m *network.Machine) (collectives.Library, error) {
	return tuning.Library(name, m, c.ReadFile)
}
