package mpivirt

import "fmt"

// broken panics: something that the code relies on does not hold. That is a bug
// in gigarank, not in the simulated program.
func broken(format string, arguments ...any) {
	panic("mpivirt: invariant broken: " + fmt.Sprintf(format, arguments...))
}
