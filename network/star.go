package network

// star links every node to one switch.
type star struct{}

var starKind = topologyKind{
	name:     "star",
	examples: []string{"{}"},
	parse:    func(*object, []*topologyKind) topologySpec { return star{} },
}

func (star) kind() string        { return "star" }
func (star) write(*objectWriter) {}
func (star) build(int) topology  { return star{} }

func (star) hops(a, b int) int {
	if a == b {
		return 0
	}
	return 2
}
func (star) steady(a, b int) int {
	return unlimited
}
func (star) capacity() int { return unlimited }
func (star) fewest() int   { return 2 }
func (star) most(int) int  { return 2 }

// route of a star has no links but those of its nodes.
func (star) route(_, _ int, _ share, hops []hop) []hop { return hops }
func (star) width(hop, share) share                    { return share{} }
func (star) switched() bool                            { return true }
func (star) tapers() bool                              { return false }
