package main

import (
	"bytes"
	"errors"
	"path/filepath"

	"github.com/spf13/pflag"

	"gigarank/cmd/gigarank/internal/host"
	"gigarank/cmd/gigarank/internal/terminal"
	"gigarank/study"
)

// defineReport defines the flag of a report.
func (f *runFlags) defineReport(flags *pflag.FlagSet) {
	flags.StringVar(&f.report, "report", "", "write a page on where the time goes, "+study.ReportFile+", and the result as JSON, "+study.RunFile+", to a `DIR`; implies --matrix")
}

// checkReport makes the directory of a report, and checks that its files can be written. A directory that is not there is made only if
// the command line has no other fault.
func checkReport(dir string, faults *terminal.UsageError) {
	if dir == "" || len(*faults) > 0 {
		return
	}
	if err := terminal.MakeDirectory(dir); err != nil {
		faults.Add("--report", err)
		return
	}
	for _, name := range []string{study.ReportFile, study.RunFile} {
		faults.Add("--report", terminal.CheckWritable(filepath.Join(dir, name)))
	}
}

// writeReport writes the page of a run and its document to a directory; none for "".
func (d *document) writeReport(c *terminal.Console, h *host.Processes, r *request) error {
	if r.report == "" {
		return nil
	}
	var page bytes.Buffer
	if err := study.WriteRunReport(&page, &d.Document, r.config.Target.Machine().String(), origin(c, d.Version, h.Size)); err != nil {
		return err
	}
	return errors.Join(
		terminal.ReplaceFile(filepath.Join(r.report, study.RunFile), d.encode(), 0),
		terminal.ReplaceFile(filepath.Join(r.report, study.ReportFile), page.Bytes(), 0))
}
