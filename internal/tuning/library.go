package tuning

import (
	"cmp"

	"gigarank/collectives"
	"gigarank/collectives/library"
	"gigarank/network"
)

// Library returns the library that chooses the algorithms on a machine: the named one, which may be a file that read reads, or else
// the machine's. Without a library simulations on the machine choose. The machine may be nil: then a library has to be named, or
// the result is nil.
func Library(name string, m *network.Machine, read func(path string) ([]byte, error)) (collectives.Library, error) {
	if m != nil {
		name = cmp.Or(name, m.Library())
	}
	switch {
	case name != "" && name != NoLibrary:
		table, err := library.Load(name, read)
		if err != nil {
			return nil, err
		}
		return table, nil
	case m == nil:
		return nil, nil
	}
	return On(m), nil
}
