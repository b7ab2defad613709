// Package terminaltest has consoles for tests, which write into buffers.
package terminaltest

import (
	"bytes"
	"io/fs"
	"os"
	"testing/fstest"

	"gigarank/cmd/gigarank/internal/terminal"
)

// Console is a console on buffers, of a machine with 2 cores, 1 GiB of
// memory and an environment that holds only the variables given.
func Console(environment map[string]string) (c *terminal.Console, stdout, stderr *bytes.Buffer) {
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	c = terminal.New()
	c.Arguments, c.Stdout, c.Stderr = []string{"gigarank"}, terminal.NewWriter(stdout), terminal.NewWriter(stderr)
	c.Getenv = func(name string) string {
		if name == "GOGC" {
			return "100" // leave the collector of the tests alone
		}
		return environment[name]
	}
	c.Root, c.ReadFile, c.Cores = smallMachine(), os.ReadFile, 2
	return c, stdout, stderr
}

func smallMachine() fs.FS {
	return fstest.MapFS{"proc/meminfo": {Data: []byte("MemTotal: 2097152 kB\nMemAvailable: 1048576 kB\n")}}
}
