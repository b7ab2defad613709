package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
)

func newVersion(c *terminal.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  arguments(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(c.Stdout, versionLine())
			return err
		},
	}
}

// versionLine returns the line that version and --version print.
func versionLine() string {
	return fmt.Sprintf("gigarank %s, %s, %s/%s, %s", host.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, host.MPISupport())
}
