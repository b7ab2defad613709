package mpivirt

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"

	"gigarank/mpivirt/internal/kernel"
)

// Place implements [kernel.Locator].
func (g *goroutines) Place(i int32) (place string) {
	g.Visit(int(i), func() { place = callingLine() })
	return place
}

// callingLine returns the function, file and line of the program that has called MPI, from the calls beneath the caller; "" if
// there is none.
func callingLine() string {
	var callers [64]uintptr
	return lineIn(callers[:runtime.Callers(1, callers[:])])
}

// lineIn returns the function, file and line of the first call of the program among some callers; "" if there is none.
func lineIn(callers []uintptr) string {
	frames := runtime.CallersFrames(callers)
	for {
		f, more := frames.Next()
		if f.Function != "" && !isSimulator(f.Function) {
			return fmt.Sprintf("%s (%s:%d)", f.Function[strings.LastIndex(f.Function, "/")+1:], filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// Site implements [kernel.Siter]: a site is the address to which a call returns, counted from the address of a function. Processes may have
// loaded the program at different addresses.
func (*goroutines) Site(int32) kernel.Site { return callingSite() }

// Called implements [kernel.Caller].
func (g *goroutines) Called(i int32) (s kernel.Site) {
	if g.handed != i {
		return callingSite()
	}
	g.Visit(int(i), func() { s = callingSite() })
	return s
}

// SiteText implements [kernel.Caller].
func (*goroutines) SiteText(s kernel.Site) string { return lineAt(uintptr(s) + counted) }

// counted is the address from which sites are counted.
var counted = reflect.ValueOf(isSimulator).Pointer()

// callingSite returns the site of the call of MPI, from the calls beneath the caller; 0 if there is none.
func callingSite() kernel.Site {
	var callers [64]uintptr
	for _, pc := range callers[:runtime.Callers(1, callers[:])] {
		if lineAt(pc) != "" {
			return kernel.Site(pc - counted)
		}
	}
	return 0
}

// lines has, by address, what lineAt has returned. Engines of the process share them.
var lines sync.Map

// lineAt returns the function, file and line of the program at an address to which a call returns; "" if it is the simulator's.
func lineAt(pc uintptr) string {
	if line, known := lines.Load(pc); known {
		return line.(string)
	}
	line := lineIn([]uintptr{pc})
	lines.Store(pc, line)
	return line
}

// isSimulator reports whether a function belongs to the simulator or the runtime, and not to a program.
func isSimulator(function string) bool {
	for _, of := range [...]string{"gigarank/mpivirt.", "gigarank/mpivirt/", "gigarank/lp.", "runtime.", "iter.", "sync."} {
		if strings.HasPrefix(function, of) {
			return true
		}
	}
	return false
}

// CommName implements [kernel.Locator]. Ranks in Go cannot name communicators.
func (*goroutines) CommName(_, _ int32) string { return "" }
