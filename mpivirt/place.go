package mpivirt

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
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
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers[:])])
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
