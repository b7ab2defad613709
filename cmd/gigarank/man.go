package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/spelling"
)

func newMan(c *terminal.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages",
		Long: `Man writes a manual page of section 1 for each command into DIR, from the texts of --help.
man -l DIR/gigarank.1 shows a page; DIR may be man1 of a directory on the MANPATH.`,
		Example: `  gigarank man ~/.local/share/man/man1`,
		Args:    arguments(1, "one DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := terminal.MakeDirectory(args[0])
			if err == nil {
				err = terminal.CheckWritable(filepath.Join(args[0], "gigarank.1"))
			}
			if err != nil {
				return terminal.UsageError{err}
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // the pages depend on the texts only
			keepTables(root)
			header := &doc.GenManHeader{Section: "1", Source: "gigarank " + host.Version(), Manual: "gigarank"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return err
			}
			pages, err := filepath.Glob(filepath.Join(args[0], "gigarank*.1"))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.Stdout, "%s in %s\n", spelling.Count(len(pages), "page"), args[0])
			return err
		},
	}
}

// keepTables indents the indented lines of the descriptions further, so that the pages,
// which are made from them as Markdown, keep those lines as they are.
func keepTables(cmd *cobra.Command) {
	var text strings.Builder
	inTable := false
	for line := range strings.Lines(cmd.Long) {
		table := strings.HasPrefix(line, "  ")
		if table != inTable && strings.TrimSpace(line) != "" {
			text.WriteString("\n")
			inTable = table
		}
		if table {
			text.WriteString("    ")
		}
		text.WriteString(line)
	}
	cmd.Long = text.String()
	for _, sub := range cmd.Commands() {
		keepTables(sub)
	}
}
