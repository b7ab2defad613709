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
