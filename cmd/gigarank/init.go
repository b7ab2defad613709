package main

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"gigarank/cmd/gigarank/internal/terminal"
)

//go:embed module
var moduleFiles embed.FS

const initHelp = `Init makes a Go module of your own in DIR, outside the checkout of gigarank:
  main.go       a program to start from, on goroutine ranks
  machine.yaml  a machine file
  job.sh        a job script for Slurm, which also runs without it
  go.mod        with a replacement of module gigarank by its checkout

The checkout is that from which this binary was built, or the checkout of --source. Its
requirements and their checksums are taken over, so that the module builds without a
network where gigarank does.

`

func newInit(c *terminal.Console) *cobra.Command {
	var source string
	cmd := &cobra.Command{
		Use:     "init DIR",
		Short:   "Make a module with a program, a machine file and a job script",
		Long:    initHelp + terminal.ExitHelp,
		Example: "  gigarank init ~/hello\n  cd ~/hello && go run .",
		Args:    arguments(1, "one DIR"),
		RunE:    func(_ *cobra.Command, args []string) error { return initModule(c, args[0], source) },
	}
	cmd.Flags().StringVar(&source, "source", "", "checkout `DIR` of gigarank (default the checkout from which this binary was built)")
	return cmd
}

// builtFrom returns the root of the checkout from which the binary was built, "" where the
// build has left it out.
func builtFrom() string {
	_, file, _, known := runtime.Caller(0)
	if !known || !filepath.IsAbs(file) {
		return ""
	}
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// initModule carries out the command.
func initModule(c *terminal.Console, dir, source string) error {
	var faults terminal.UsageError
	if source == "" {
		source = builtFrom()
	}
	goMod, goSum, err := requirements(source)
	faults.Add("--source", err)
	name, err := moduleName(dir)
	faults.Add("DIR", err)
	if err == nil {
		faults.Add("DIR", emptyDirectory(dir))
	}
	if len(faults) > 0 {
		return faults.OrNil()
	}
	source, err = filepath.Abs(source)
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"go.mod": fmt.Appendf(nil, "module %s\n\ngo %s\n\nrequire gigarank v0.0.0\n\nreplace gigarank => %q\n\n%s", name, goMod.version, source, goMod.required),
		"go.sum": goSum,
	}
	for from, to := range map[string]string{"main.go.txt": "main.go", "machine.yaml": "machine.yaml", "job.sh": "job.sh"} {
		text, err := moduleFiles.ReadFile("module/" + from)
		if err != nil {
			return err
		}
		files[to] = []byte(strings.ReplaceAll(string(text), "NAME", name))
	}
	for file, text := range files {
		mode := os.FileMode(0o666)
		if filepath.Ext(file) == ".sh" {
			mode = 0o777
		}
		if err := os.WriteFile(filepath.Join(dir, file), text, mode); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(c.Stdout, "module %s in %s: cd %s && go run .\n", name, dir, dir)
	return err
}

// moduleLines are the lines that a module takes over from go.mod of gigarank.
type moduleLines struct{ version, required string }

var (
	goVersion    = regexp.MustCompile(`(?m)^go (\S+)$`)
	requirement  = regexp.MustCompile(`(?m)^\t(\S+ v\S+)(?: // indirect)?$`)
	ofGigarank   = regexp.MustCompile(`(?m)^module gigarank$`)
	moduleLetter = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
)

// requirements reads the files of a checkout.
func requirements(source string) (m moduleLines, goSum []byte, err error) {
	const remedy = "name the directory of gigarank's go.mod by --source"
	if source == "" {
		return m, nil, errors.New("this binary does not say where it was built: " + remedy)
	}
	text, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err == nil && !ofGigarank.Match(text) {
		err = fmt.Errorf("%s is no checkout of gigarank", source)
	}
	if err == nil {
		goSum, err = os.ReadFile(filepath.Join(source, "go.sum"))
	}
	if err != nil {
		return m, nil, fmt.Errorf("%w: %s", err, remedy)
	}
	m.version = string(goVersion.FindSubmatch(text)[1])
	var lines strings.Builder
	lines.WriteString("require (\n")
	for _, line := range requirement.FindAllSubmatch(text, -1) {
		_, _ = fmt.Fprintf(&lines, "\t%s // indirect\n", line[1])
	}
	lines.WriteString(")\n")
	m.required = lines.String()
	return m, goSum, nil
}

// moduleName returns the name of the module in a directory: the last part of its path.
func moduleName(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	name := filepath.Base(path)
	if !moduleLetter.MatchString(name) || name == "gigarank" {
		return "", fmt.Errorf("%q is no name of a module and a program: use letters, digits, - and _, begin with a letter, and do not use gigarank", name)
	}
	return name, nil
}

// emptyDirectory makes a directory unless it is there. It must be empty.
func emptyDirectory(dir string) error {
	if err := terminal.MakeDirectory(dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s has files, such as %s: name a new directory", dir, entries[0].Name())
	}
	return nil
}
