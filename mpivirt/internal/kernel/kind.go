package kernel

import (
	"fmt"
	"slices"

	"gigarank/invariant"
)

// Kind is a kind of rank: how the ranks of a program run. Results do not depend on it.
type Kind struct {
	Name    string  // as given on the command line
	Summary string  // one line
	Bytes   float64 // memory of a rank that has not called MPI, its clock of 8 included, without its program's state
	Deep    float64 // memory that a rank takes more once it waits deep within a call
	Time    float64 // of the host, in ns of CPU, for a rank that goes on after a collective

	// Transient says that the memory of a collective's input may be used again once Submit
	// has returned. False is safe.
	Transient bool
}

// String returns the name of the kind.
func (k *Kind) String() string { return k.Name }

// kinds are in the order in which they were registered.
var kinds []*Kind

// RegisterKind makes a kind known to [Kinds]. A package that carries out a kind of rank
// registers it when the package is initialised. No two kinds have one name.
func RegisterKind(k Kind) *Kind {
	if slices.ContainsFunc(kinds, func(other *Kind) bool { return other.Name == k.Name }) {
		invariant.Broken("two kinds of rank are named %q", k.Name)
	}
	kinds = append(kinds, &k)
	return &k
}

// Kinds returns the kinds of the packages that the program imports.
func Kinds() []*Kind { return slices.Clone(kinds) }

// Program is a program to simulate.
type Program struct {
	// Name as given on the command line.
	Name string
	// Forms of the program, of one kind each. At least one is needed.
	Forms []Form
}

// Form is a program in the form for ranks of one kind.
type Form interface {
	// Kind returns the kind of rank.
	Kind() *Kind
	// Body makes the n ranks of an engine. It calls made now and then with the number of
	// ranks that there are so far.
	Body(k *Kernel, n int, made func(n int)) Body
}

// form returns the form for a kind, nil if there is none. A nil kind stands for that of the
// first form.
func (p *Program) form(kind *Kind) Form {
	for _, f := range p.Forms {
		if kind == nil || f.Kind() == kind {
			return f
		}
	}
	return nil
}

// kind returns the kind of the ranks, nil if neither the kind nor a program is known.
func (c *Config) kind() *Kind {
	if c.Kind == nil && len(c.Program.Forms) > 0 {
		return c.Program.Forms[0].Kind()
	}
	return c.Kind
}

// check returns what is wrong with a program that is to run as ranks of a kind.
func (p *Program) check(kind *Kind) error {
	switch {
	case len(p.Forms) == 0:
		return fmt.Errorf("program %q has no form", p.Name)
	case slices.Contains(p.Forms, nil):
		return fmt.Errorf("program %q has a nil form", p.Name)
	case p.form(kind) == nil:
		return fmt.Errorf("program %q has no form for %v ranks: use --lp %v", p.Name, kind, p.Forms[0].Kind())
	}
	return nil
}
