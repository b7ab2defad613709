package kernel

import (
	"fmt"
	"slices"

	"gigarank/internal/invariant"
)

// Kind is a kind of rank: how the ranks of a program run. Results do not depend on the kind.
type Kind struct {
	Name    string  // as given on the command line
	Summary string  // one line
	Bytes   float64 // memory of a rank that has not called MPI, including its clock of 8, without its program's state
	Stack   float64 // the part of Bytes that a finished rank leaves to a rank that begins later
	Growth  float64 // growth of that part when a rank calls deeper than in a barrier: stack
	Engine  float64 // memory of an engine with such ranks, beyond that of an engine with event ranks
	Time    float64 // CPU time of the host, in ns, to resume a rank after a collective

	// Transient is true if the memory of a collective's input may be reused once Submit has
	// returned. False is safe.
	Transient bool

	// Measurable is true if ranks tell the kernel where bursts of computing begin and end.
	Measurable bool

	// Sited is true if bodies of the kind are [Siter].
	Sited bool

	// NeedsContents is true if ranks are programs that read the memory of messages, so that sizes alone do not do.
	NeedsContents bool

	// Movable is true if any goroutine may run an engine at any time between the turns of two of
	// its ranks. False is safe.
	Movable bool

	// Prepare prepares the process for n ranks, which several engines then make at the same time;
	// nil if no preparation is needed. touch is [Config].Touch.
	Prepare func(n, engines int, touch func(memory []byte))
}

// String returns the name of the kind.
func (k *Kind) String() string { return k.Name }

// kinds lists the kinds in the order in which they were registered.
var kinds []*Kind

// RegisterKind adds a kind to [Kinds] and returns it. The package of a kind registers the kind on
// initialisation. Names of kinds are unique.
func RegisterKind(k Kind) *Kind {
	if slices.ContainsFunc(kinds, func(other *Kind) bool { return other.Name == k.Name }) {
		invariant.Broken("two kinds of rank are named %q", k.Name)
	}
	kinds = append(kinds, &k)
	return &k
}

// Kinds returns the kinds of the packages that the program imports.
func Kinds() []*Kind { return slices.Clone(kinds) }

// Contentless returns the error of messages without contents for ranks of a kind, nil if they do with sizes.
func (k *Kind) Contentless() error {
	if !k.NeedsContents {
		return nil
	}
	return fmt.Errorf("%v ranks read what they receive: simulate them with contents", k)
}

// Program is a program to simulate.
type Program struct {
	// Name is the program's name on the command line.
	Name string
	// Forms of the program, one for each kind; at least one is needed.
	Forms []Form
	// Repeats is the blocking collective of WORLD that all ranks call repeatedly as their only
	// communication; nil for other programs. Where the ranks of a node share interfaces, its
	// messages then take the interfaces round by round, and it can be carried out in bulk. Its operation commutes, and the
	// blocks of a reduce-scatter have equal lengths. Any other communication of such a program ends the simulator.
	Repeats *Repeated
}

// Form is a program in the form for ranks of one kind.
type Form interface {
	// Kind returns the kind of rank.
	Kind() *Kind
	// Body returns the body of an engine with n ranks.
	Body(k *Kernel, n int) Body
}

// form returns the form of a program for a kind, nil for none. A nil kind stands for the kind of
// the first form.
func (p *Program) form(kind *Kind) Form {
	for _, f := range p.Forms {
		if kind == nil || f.Kind() == kind {
			return f
		}
	}
	return nil
}

// RankKind returns the kind of the ranks, nil if neither the kind nor a program is set.
func (c *Config) RankKind() *Kind {
	if c.Kind == nil && len(c.Program.Forms) > 0 && c.Program.Forms[0] != nil {
		return c.Program.Forms[0].Kind()
	}
	return c.Kind
}

// check returns the error of a program that cannot run as ranks of a kind.
func (p *Program) check(kind *Kind) error {
	switch {
	case len(p.Forms) == 0:
		return fmt.Errorf("program %q has no form: give Forms one for each kind of rank", p.Name)
	case slices.Contains(p.Forms, nil):
		return fmt.Errorf("program %q has a nil form: leave it out", p.Name)
	case p.form(kind) == nil:
		return fmt.Errorf("program %q has no form for %v ranks: use --lp %v", p.Name, kind, p.Forms[0].Kind())
	}
	return nil
}
