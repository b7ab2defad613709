package gigarank_test

import (
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "gigarank"

// A rule says what one package may import besides the standard library:
// packages of this module by their path inside it, others by their full path.
// Test files may import what their package may, and what testsOnly and
// testLibraries name.
type rule struct {
	imports   string
	testsOnly string
	pure      bool   // a pure core package: see impure
	unsafe    string // why a pure package may import unsafe
}

// rules is the import graph: one line for each package.
//
// The command line imports deeper than bench, mpivirt and network because its
// flags name values of sync, lp and collectives, and because it opens the
// transport over MPI.
var rules = map[string]rule{
	"": {},

	"vtime":                            {pure: true},
	"internal/random":                  {pure: true, imports: "vtime"},
	"internal/invariant":               {pure: true},
	"internal/invariant/invarianttest": {imports: "internal/invariant"},
	"internal/seed":                    {},
	"internal/prefetch":                {pure: true, unsafe: "the addresses of the lines"},
	"internal/spelling":                {pure: true},
	"internal/quantity":                {pure: true},
	"internal/input":                   {pure: true, imports: "go.yaml.in/yaml/v3"},

	"lp": {
		pure:    true,
		imports: "internal/prefetch",
		unsafe:  "the address of a suspended LP's stack, which is prefetched before the LP goes on",
	},
	"network":            {pure: true, imports: "vtime internal/random internal/spelling internal/quantity internal/input go.yaml.in/yaml/v3"},
	"network/contention": {pure: true, imports: "vtime github.com/google/btree"},

	"sync/internal/buffers": {},
	"sync":                  {imports: "vtime internal/invariant internal/prefetch sync/internal/buffers", testsOnly: "sync/transporttest internal/invariant/invarianttest"},
	"sync/transporttest":    {imports: "vtime sync"},
	"sync/mpi":              {imports: "sync sync/internal/buffers", testsOnly: "sync/transporttest"},

	"internal/watchdog": {},

	"collectives":         {pure: true, imports: "vtime internal/spelling internal/quantity"},
	"collectives/library": {pure: true, imports: "internal/spelling internal/quantity internal/input collectives go.yaml.in/yaml/v3"},
	"engine":              {pure: true, imports: "vtime internal/random internal/invariant sync internal/watchdog", testsOnly: "internal/invariant/invarianttest"},
	"mpivirt/internal/stats": {
		pure:    true,
		imports: "vtime",
		unsafe:  "strings at one address are equal without a look at their bytes",
	},
	"mpivirt/internal/world": {
		pure:    true,
		imports: "vtime internal/random internal/invariant internal/spelling internal/prefetch network collectives engine mpivirt/internal/stats golang.org/x/sys/cpu",
		unsafe:  "the memory of arrays that the host is told of; whether two buffers overlap",
	},
	"mpivirt/internal/resource": {
		pure:    true,
		imports: "vtime internal/invariant internal/spelling network network/contention engine mpivirt/internal/stats mpivirt/internal/world",
		unsafe:  "the sizes of processors and of what they hold",
	},
	"mpivirt/internal/p2p": {
		pure:      true,
		imports:   "vtime internal/random internal/invariant internal/spelling network engine mpivirt/internal/stats mpivirt/internal/world mpivirt/internal/resource",
		unsafe:    "the sizes of mailboxes and messages",
		testsOnly: "internal/invariant/invarianttest",
	},
	"mpivirt/internal/maxplus": {pure: true, imports: "vtime internal/invariant network network/contention collectives mpivirt/internal/stats"}, // accounts
	"mpivirt/internal/coll": {
		pure:      true,
		imports:   "vtime internal/random internal/invariant internal/spelling network collectives engine mpivirt/internal/stats mpivirt/internal/world mpivirt/internal/resource mpivirt/internal/p2p mpivirt/internal/maxplus",
		unsafe:    "the sizes of agents and messages; whether two buffers are one",
		testsOnly: "internal/invariant/invarianttest",
	},
	"mpivirt/internal/kernel": {
		pure: true,
		imports: "vtime internal/invariant internal/spelling lp network collectives engine" +
			" mpivirt/internal/stats mpivirt/internal/world mpivirt/internal/resource mpivirt/internal/p2p mpivirt/internal/coll",
		unsafe: "the sizes of what is kept of a rank for statistics",
	},
	// No simulation asks it.
	"mpivirt/internal/forecast": {
		pure: true,
		imports: "vtime internal/random network collectives engine" +
			" mpivirt/internal/world mpivirt/internal/resource mpivirt/internal/p2p mpivirt/internal/maxplus mpivirt/internal/coll mpivirt/internal/kernel",
	},
	"mpivirt/internal/topology": {pure: true, imports: "internal/spelling mpivirt/internal/world"},
	"mpivirt/internal/typed": {
		pure: true,
		imports: "internal/spelling collectives mpivirt/internal/world mpivirt/internal/kernel mpivirt/internal/topology" +
			// Whether the processor adds vectors. The sums are the same.
			" golang.org/x/sys/cpu",
		// A program's typed slices are the bytes of a message without a copy.
		unsafe: "views of typed buffers as bytes",
	},
	"mpivirt/datatype": {
		pure:    true,
		imports: "internal/spelling mpivirt/internal/typed mpivirt/internal/world",
		unsafe:  "sizes and alignments of Go's types",
	},
	"mpivirt": {
		pure:    true,
		imports: "vtime internal/spelling lp network collectives engine mpivirt/internal/world mpivirt/internal/kernel mpivirt/internal/forecast mpivirt/internal/topology mpivirt/internal/typed mpivirt/datatype",
		// Its tests run several engines over the in-process transport.
		testsOnly: "internal/random sync internal/cputime mpivirt/steps mpivirt/record mpivirt/replay mpivirt/timeline trace",
	},
	"mpivirt/steps": {
		pure:    true,
		imports: "vtime network collectives mpivirt mpivirt/internal/world mpivirt/internal/kernel mpivirt/internal/topology mpivirt/internal/typed",
	},
	"trace/dim": {pure: true, imports: "internal/spelling trace", testsOnly: "vtime network mpivirt mpivirt/replay sync"},
	"trace":     {pure: true, imports: "internal/spelling github.com/klauspost/compress/zstd", unsafe: "the places of the fields in an operation"},
	// It compiles the recorder of real programs, and reads the files of their tasks.
	"trace/record": {
		imports:   "internal/spelling trace",
		testsOnly: "sync network mpivirt mpivirt/native mpivirt/native/toolchain mpivirt/record mpivirt/replay",
	},
	"mpivirt/record": {
		pure:    true,
		imports: "vtime trace mpivirt/internal/world mpivirt/internal/kernel",
	},
	"mpivirt/timeline": {
		pure:    true,
		imports: "vtime mpivirt/internal/world mpivirt/internal/kernel",
	},
	"mpivirt/replay": {
		pure:      true,
		imports:   "vtime trace mpivirt/internal/world mpivirt/internal/kernel",
		testsOnly: "sync network collectives bench mpivirt mpivirt/steps mpivirt/record",
	},
	// Its programs are loaded from the host's files.
	"mpivirt/native": {
		imports:   "vtime internal/spelling collectives mpivirt/internal/world mpivirt/internal/kernel mpivirt/internal/topology mpivirt/native/toolchain golang.org/x/sys/unix",
		testsOnly: "sync network mpivirt mpivirt/record mpivirt/replay trace bench internal/cputime internal/tuning",
	},
	"mpivirt/native/toolchain":   {testsOnly: "internal/cputime"},                     // of which it has a twin in C
	"mpivirt/native/skeleton/ir": {pure: true, testsOnly: "mpivirt/native/toolchain"}, // of which its modules in testdata have mpi.h
	"mpivirt/native/skeleton": {
		imports:   "mpivirt/native/skeleton/ir mpivirt/native/skeleton/slice mpivirt/native/toolchain",
		testsOnly: "sync network mpivirt mpivirt/native", // its programs run there
	},
	"mpivirt/native/skeleton/effects": {pure: true},
	"mpivirt/native/skeleton/slice":   {pure: true, imports: "internal/spelling mpivirt/native/skeleton/ir mpivirt/native/skeleton/graph mpivirt/native/skeleton/effects"},
	"mpivirt/native/skeleton/graph":   {pure: true, imports: "mpivirt/native/skeleton/ir"},
	// It writes the numbers of procedures for C.
	"mpivirt/native/toolchain/procedures": {imports: "mpivirt/internal/world"},

	"bench": {
		imports: "vtime internal/random internal/spelling internal/quantity internal/training lp sync network collectives engine mpivirt mpivirt/steps" +
			// It asks the system what reading a page takes.
			" golang.org/x/sys/unix",
		// The matrix runs every program on host processes, too.
		testsOnly: "sync/mpi internal/noise",
	},
	"internal/noise":    {pure: true, imports: "vtime internal/random internal/input mpivirt"},
	"internal/training": {pure: true, imports: "vtime internal/spelling internal/quantity internal/input go.yaml.in/yaml/v3"},
	"internal/result":   {pure: true},
	"internal/profile":  {imports: "internal/input internal/quantity internal/result internal/fit", pure: true},
	"internal/loggp":    {pure: true, imports: "vtime internal/spelling network"},
	"internal/fit":      {imports: "vtime internal/spelling internal/input sync network collectives internal/loggp internal/measurements mpivirt"},
	// It simulates measured points itself.
	"internal/measurements": {imports: "vtime internal/spelling internal/input sync network collectives collectives/library mpivirt mpivirt/steps"},
	// It reads the clocks of the host.
	"internal/cputime": {imports: "vtime golang.org/x/sys/unix"},
	"study": {
		imports: "vtime internal/spelling internal/quantity network collectives collectives/library mpivirt bench internal/noise internal/result internal/profile internal/measurements internal/tuning" +
			// Only one process may write the results.
			" golang.org/x/sys/unix",
		// The programs are simulated in its tests.
		testsOnly: "internal/random sync mpivirt/steps",
	},
	"internal/measure/mutations": {},
	"internal/measure/npb":       {imports: "trace"},
	"internal/measure/report":    {imports: "internal/spelling sync network collectives mpivirt mpivirt/steps bench"},
	"internal/measure/forecast":  {imports: "network collectives mpivirt bench", testsOnly: "sync"},
	"internal/measure/recorded":  {imports: "internal/spelling internal/quantity collectives collectives/library"},
	"internal/tuning":            {imports: "internal/quantity network collectives collectives/library mpivirt internal/measurements", testsOnly: "sync"},
	"internal/measure/defaults":  {imports: "internal/quantity network collectives internal/tuning study"},
	"internal/measure/truth":     {imports: "vtime internal/random internal/quantity network collectives engine mpivirt mpivirt/steps"},
	"cmd/gigarank/internal/terminal": {
		imports: "sync internal/spelling internal/quantity internal/input mpivirt bench study" +
			" github.com/spf13/pflag github.com/vbauerster/mpb/v8 github.com/vbauerster/mpb/v8/decor" +
			" go.uber.org/zap go.uber.org/zap/zapcore golang.org/x/sys/unix golang.org/x/term",
		testsOnly: "vtime",
	},
	"cmd/gigarank/internal/terminal/terminaltest": {imports: "cmd/gigarank/internal/terminal"},
	"cmd/gigarank/internal/host": {
		imports: "sync sync/mpi mpivirt bench cmd/gigarank/internal/terminal" +
			" github.com/spf13/pflag golang.org/x/sys/unix",
		testsOnly: "cmd/gigarank/internal/host/hosttest cmd/gigarank/internal/terminal/terminaltest",
	},
	"cmd/gigarank/internal/host/hosttest": {imports: "sync sync/mpi"},
	"cmd/gigarank": {
		imports: "vtime internal/spelling internal/quantity internal/input lp sync sync/mpi network collectives collectives/library mpivirt mpivirt/native mpivirt/native/skeleton mpivirt/native/toolchain mpivirt/record mpivirt/replay mpivirt/timeline trace trace/dim trace/record internal/cputime bench internal/noise internal/training internal/result internal/profile study internal/loggp internal/fit internal/measurements internal/tuning" +
			" cmd/gigarank/internal/terminal cmd/gigarank/internal/host" +
			" github.com/spf13/cobra github.com/spf13/cobra/doc github.com/spf13/pflag go.uber.org/zap golang.org/x/sys/unix",
		testsOnly: "mpivirt/steps cmd/gigarank/internal/terminal/terminaltest cmd/gigarank/internal/host/hosttest",
	},
}

// testLibraries may be imported by the tests of every package.
const testLibraries = "internal/seed pgregory.net/rapid github.com/google/go-cmp/cmp github.com/cockroachdb/datadriven"

// impure is what a pure core package does not import outside its tests: the operating
// system, the wall clock, the network of the host, logging, global random numbers, C
// and, unless its rule gives a reason, unsafe. A name covers everything beneath it.
var impure = strings.Fields("os io/ioutil syscall time net log math/rand crypto/rand plugin C unsafe")

// tagSets are the builds whose imports are checked.
var tagSets = [][]string{nil, {"mpi"}, {"invariants"}, {"mpi", "invariants"}}

// faults returns the imports that the package may not have. tests is set for those of
// its test files.
func faults(pkg string, imports []string, tests bool) []error {
	r, known := rules[pkg]
	if !known {
		return []error{fmt.Errorf("package %q is missing from the table: add a rule for it to deps_test.go (a program of your own: begin the name of its directory with _)", pkg)}
	}
	allowed := strings.Fields(r.imports)
	if tests {
		allowed = append(allowed, strings.Fields(r.testsOnly+" "+testLibraries)...)
		allowed = append(allowed, pkg)
	}
	var found []error
	for _, imported := range imports {
		name, local := local(imported)
		switch {
		case local || !standard(imported):
			if !slices.Contains(allowed, name) {
				found = append(found, fmt.Errorf("%s imports %s (tests: %t): no such edge in deps_test.go; "+
					"pass the values that it needs, or change the table and ARCHITECTURE.md, and say why in docs/decisions", pkg, imported, tests))
			}
		case r.pure && !tests && isImpure(imported) && (imported != "unsafe" || r.unsafe == ""):
			found = append(found, fmt.Errorf("%s imports %s: it is a pure core package; "+
				"do this at the edge and pass the result in as a value", pkg, imported))
		}
	}
	return found
}

// local strips the module's name from the path of one of its packages.
func local(imported string) (string, bool) {
	if imported == module {
		return "", true
	}
	name, ok := strings.CutPrefix(imported, module+"/")
	return name, ok
}

// standard reports whether an import is of the standard library, whose paths begin with
// a word without a dot.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

func isImpure(imported string) bool {
	return slices.ContainsFunc(impure, func(name string) bool {
		return imported == name || strings.HasPrefix(imported, name+"/")
	})
}

// packageDirs returns the directories of the module that hold Go files, without nested
// modules, testdata and directories that the go command ignores.
func packageDirs(root string) ([]string, error) {
	var dirs []string
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		switch {
		case !entry.IsDir():
			if dir := filepath.Dir(file); strings.HasSuffix(base, ".go") && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		case file == root:
		case base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_"):
			return filepath.SkipDir
		default:
			if nested, _ := filepath.Glob(filepath.Join(file, "go.mod")); nested != nil {
				return filepath.SkipDir
			}
		}
		return nil
	})
	return dirs, err
}

// idle returns the permissions of a package's rule that it does not use. A package that
// only the tests import belongs in testsOnly, not in imports.
func idle(pkg string, r rule, imports, testImports []string) []error {
	var found []error
	report := func(field, name, remedy string) {
		found = append(found, fmt.Errorf("the rule of %q names %s in %s, which no file that it is for imports: %s",
			pkg, name, field, remedy))
	}
	for _, name := range strings.Fields(r.imports) {
		switch {
		case contains(imports, name):
		case contains(testImports, name):
			report("imports", name, "only tests do, move it to testsOnly in deps_test.go")
		default:
			report("imports", name, "take it out of deps_test.go")
		}
	}
	for _, name := range strings.Fields(r.testsOnly) {
		if !contains(testImports, name) {
			report("testsOnly", name, "take it out of deps_test.go")
		}
	}
	if r.unsafe != "" && !slices.Contains(imports, "unsafe") {
		report("unsafe", "a reason", "take it out of deps_test.go")
	}
	return found
}

// contains reports whether one of the imports is the package that a rule names.
func contains(imports []string, name string) bool {
	return slices.ContainsFunc(imports, func(imported string) bool {
		short, _ := local(imported)
		return short == name
	})
}

func TestImportGraph(t *testing.T) {
	dirs, err := packageDirs(".")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(dirs, "vtime") {
		t.Fatalf("found no package vtime below the root, only %v: the walk is wrong", dirs)
	}
	reported := map[string]bool{}
	imports, testImports := map[string][]string{}, map[string][]string{} // in any build, by package
	for _, tags := range tagSets {
		context := build.Default
		context.BuildTags = tags
		context.CgoEnabled = slices.Contains(tags, "mpi")
		for _, dir := range dirs {
			found, err := context.ImportDir(dir, 0)
			var none *build.NoGoError
			if errors.As(err, &none) {
				continue
			}
			if err != nil {
				t.Errorf("%s with tags %v: %v", dir, tags, err)
				continue
			}
			pkg := strings.TrimPrefix(path.Clean(filepath.ToSlash(dir)), ".")
			ofTests := slices.Concat(found.TestImports, found.XTestImports)
			imports[pkg] = append(imports[pkg], found.Imports...)
			testImports[pkg] = append(testImports[pkg], ofTests...)
			faulty := slices.Concat(faults(pkg, found.Imports, false), faults(pkg, ofTests, true))
			for _, fault := range faulty {
				if !reported[fault.Error()] {
					reported[fault.Error()] = true
					t.Error(fault)
				}
			}
		}
	}
	for pkg, r := range rules {
		for _, fault := range idle(pkg, r, imports[pkg], testImports[pkg]) {
			t.Error(fault)
		}
	}
	ofAllTests := slices.Concat(slices.Collect(maps.Values(testImports))...)
	for _, library := range strings.Fields(testLibraries) {
		if !slices.Contains(ofAllTests, library) && !slices.Contains(ofAllTests, module+"/"+library) {
			t.Errorf("no test imports %s: take it out of testLibraries", library)
		}
	}
}

// Each kind of crossing is found, and its neighbour that is allowed is not.
func TestCrossedEdgesAreFound(t *testing.T) {
	for _, c := range []struct {
		why     string
		pkg     string
		imports string
		tests   bool
		want    int
	}{
		{"the engine knows nothing of MPI", "engine", "gigarank/mpivirt", false, 1},
		{"the engine stands on sync", "engine", "gigarank/vtime gigarank/sync fmt", false, 0},
		{"nor of real MPI", "engine", "gigarank/sync/mpi", false, 1},
		{"schedules know nothing of machines", "collectives", "gigarank/network", false, 1},
		{"the ground imports no room", "vtime", "gigarank/internal/random", false, 1},
		{"every crossing counts", "lp", "gigarank/engine gigarank/network", false, 2},
		{"no wall clock in the pure core", "network", "time", false, 1},
		{"what lies under a name is covered", "engine", "math/rand/v2 os/exec net/http log/slog", false, 4},
		{"a name covers no longer word", "engine", "math/bits", false, 0},
		{"no cgo in the pure core", "mpivirt", "C", false, 1},
		{"unsafe wants a reason", "engine", "unsafe", false, 1},
		{"mpivirt gives one", "mpivirt/internal/typed", "unsafe", false, 0},
		{"sync is no part of the pure core", "sync", "time sync", false, 0},
		{"tests may use the host", "engine", "os time os/exec", true, 0},
		{"tests may use the test libraries", "vtime", "pgregory.net/rapid", true, 0},
		{"code may not", "vtime", "pgregory.net/rapid", false, 1},
		{"a library is allowed where it is listed", "network", "go.yaml.in/yaml/v3", false, 0},
		{"and nowhere else", "engine", "go.yaml.in/yaml/v3", false, 1},
		{"an external test imports its package", "lp", "gigarank/lp", true, 0},
		{"a test crosses no edge that is not its own", "lp", "gigarank/engine", true, 1},
		{"a conformance suite is for tests", "sync", "gigarank/sync/transporttest", true, 0},
		{"and not for code", "sync", "gigarank/sync/transporttest", false, 1},
		{"an unknown package is a fault", "network/unheard", "", false, 1},
	} {
		if found := faults(c.pkg, strings.Fields(c.imports), c.tests); len(found) != c.want {
			t.Errorf("%s: %s importing %q (tests: %t) has %d faults, want %d: %v",
				c.why, c.pkg, c.imports, c.tests, len(found), c.want, found)
		}
	}
}

// Each kind of permission without use is found, and one that is used is not.
func TestIdleEdgesAreFound(t *testing.T) {
	example := rule{
		imports:   "vtime lp github.com/google/btree",
		testsOnly: "sync",
		unsafe:    "an address",
	}
	for _, c := range []struct {
		why                  string
		imports, testImports string
		want                 int
	}{
		{"all is used", "fmt gigarank/vtime gigarank/lp github.com/google/btree unsafe", "gigarank/sync os", 0},
		{"an edge leads nowhere", "gigarank/vtime github.com/google/btree unsafe", "gigarank/sync", 1},
		{"a library counts", "gigarank/vtime gigarank/lp unsafe", "gigarank/sync", 1},
		{"tests do not use an edge for code", "gigarank/vtime github.com/google/btree unsafe", "gigarank/sync gigarank/lp", 1},
		{"code does not use an edge for tests", "gigarank/vtime gigarank/lp github.com/google/btree unsafe gigarank/sync", "", 1},
		{"a reason for unsafe wants unsafe", "gigarank/vtime gigarank/lp github.com/google/btree", "gigarank/sync unsafe", 1},
		{"a package below is another", "gigarank/vtime gigarank/lp/kind github.com/google/btree unsafe", "gigarank/sync", 1},
		{"a package that is gone uses nothing", "", "", 5},
	} {
		found := idle("example", example, strings.Fields(c.imports), strings.Fields(c.testImports))
		if len(found) != c.want {
			t.Errorf("%s: %d idle edges, want %d: %v", c.why, len(found), c.want, found)
		}
	}
}

// The rules themselves name only packages that have a rule, and no cycle.
func TestRulesAreClosedAndAcyclic(t *testing.T) {
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(pkg string, trail []string)
	visit = func(pkg string, trail []string) {
		trail = append(trail, pkg)
		if state[pkg] == open {
			t.Errorf("the rules allow a cycle: %s", strings.Join(trail, " → "))
		}
		if state[pkg] != 0 {
			return
		}
		state[pkg] = open
		for _, name := range strings.Fields(rules[pkg].imports) {
			first, _, _ := strings.Cut(name, "/")
			if strings.Contains(first, ".") {
				continue
			}
			if _, known := rules[name]; !known {
				t.Errorf("the rule of %s names %s, which has no rule", pkg, name)
				continue
			}
			visit(name, trail)
		}
		state[pkg] = done
	}
	for pkg := range rules {
		visit(pkg, nil)
	}
}
