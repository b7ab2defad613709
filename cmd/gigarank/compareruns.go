package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/internal/profile"
	"gigarank/study"
)

const compareRunsHelp = `Compare sets two runs of a program side by side: the time of the run, of each task in MPI, and of each function,
with the error in per cent. A and B are files:

  the JSON of gigarank run --stats --json (and result.json of run --report)
  the JSON of gigarank trace profile: a real program, recorded
  mpiP's report
  IPM's banner or XML
  what the OSU micro-benchmarks or IMB print: then the times of calls by size are compared, with the same output of the
  benchmark that gigarank has simulated, or with the JSON of allreducetest, mpiping and the like

The format shows in the file. Of a measured side and a simulated side the error is simulated over measured, less one; of two
others it is B over A, less one. Functions that one side alone has are listed. With -o it leaves in DIR report.html, a page with charts.

`

// compareRunsFlags are the flags of compare as they are written.
type compareRunsFlags struct{ out, json string }

func newCompareRuns(c *terminal.Console) *cobra.Command {
	var f compareRunsFlags
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two runs, measured or simulated, by task and function",
		Long:  compareRunsHelp + terminal.ExitHelp,
		Example: `  gigarank compare prog.64.1234.1.mpiP simulated.json -o side-by-side
  gigarank compare osu_allreduce-measured.txt osu_allreduce-simulated.txt
  gigarank compare before.json after.json --json -`,
		Args: arguments(2, "two files, A and B"),
		RunE: func(_ *cobra.Command, args []string) error { return compareRuns(c, args[0], args[1], &f) },
	}
	cmd.Flags().SortFlags = false
	terminal.Group(cmd.Flags(), groupResults, func(flags *pflag.FlagSet) {
		flags.StringVarP(&f.out, "out", "o", "", "write a page, "+study.ReportFile+", to a `DIR`")
		flags.StringVar(&f.json, "json", "", "write the comparison as JSON to a `FILE`, or - for standard output")
	})
	return cmd
}

// compareRuns reads two files and writes what they have in common.
func compareRuns(c *terminal.Console, a, b string, f *compareRunsFlags) error {
	var faults terminal.UsageError
	var sides [2]*profile.Profile
	for i, name := range []string{a, b} {
		argument := []string{"A", "B"}[i]
		text, err := c.ReadFile(name)
		if err != nil {
			faults.Add(argument, err)
			continue
		}
		sides[i], err = profile.Read(name, text)
		faults.AddFile(argument, err)
	}
	faults.Add("--json", terminal.CheckWritable(f.json))
	if len(faults) > 0 {
		return faults
	}
	compared, err := profile.Compare(sides[0], sides[1])
	if err != nil {
		return terminal.UsageError{err}
	}
	if f.out != "" {
		if err := writeCompared(c, compared, f.out); err != nil {
			return err
		}
	}
	if f.json != "" {
		text, err := json.MarshalIndent(compared, "", "  ")
		if err := errors.Join(err, writeDocument(c, f.json, append(text, '\n'))); err != nil {
			return err
		}
	}
	if f.json != terminal.StandardOutput {
		study.WriteComparedText(c.Stdout, compared)
	}
	return nil
}

// writeCompared writes the page of a comparison to a directory.
func writeCompared(c *terminal.Console, compared *profile.Comparison, dir string) error {
	path := filepath.Join(dir, study.ReportFile)
	err := terminal.MakeDirectory(dir)
	if err == nil {
		err = terminal.CheckWritable(path)
	}
	if err != nil {
		var faults terminal.UsageError
		faults.Add("--out", err)
		return faults
	}
	build, _ := host.Build()
	var page bytes.Buffer
	if err := study.WriteComparedReport(&page, compared, origin(c, build, 1)); err != nil {
		return err
	}
	return terminal.ReplaceFile(path, page.Bytes(), 0)
}
