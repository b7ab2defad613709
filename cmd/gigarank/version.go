package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"gigarank/sync/mpi"
)

func newVersion(c *console) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  arguments(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(c.stdout, "gigarank %s, %s, %s/%s, %s\n",
				version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, mpiSupport())
			return err
		},
	}
}

// version is that of the module, or else the commit that the binary was built
// from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit, modified := "(devel)", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+modified"
		}
	}
	return commit + modified
}

func mpiSupport() string {
	if !mpi.Available() {
		return "no MPI"
	}
	return mpi.Version()
}
