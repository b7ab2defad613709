package collectives_test

import (
	"fmt"

	"gigarank/collectives"
)

// The steps of member 2 of 6 in an allreduce by recursive doubling: it folds into
// member 3 and gets the result back.
func Example() {
	s, err := collectives.New(collectives.Allreduce, collectives.RecursiveDoubling, 6, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	layout := collectives.LayoutOf(collectives.Allreduce, s, 1000, 8)
	for _, member := range []int{2, 3} {
		for r := s.Next(member, 0); r < s.Rounds(member); r = s.Next(member, r+1) {
			step := s.Step(member, r)
			if step.To != collectives.None {
				fmt.Printf("round %d: %d sends %d bytes to %d\n", r, member, layout.Bytes(step.Send, s.Positions()), step.To)
			}
			if step.From != collectives.None {
				fmt.Printf("round %d: %d receives from %d\n", r, member, step.From)
			}
		}
	}
	// Output:
	// round 0: 2 sends 8000 bytes to 3
	// round 3: 2 receives from 3
	// round 0: 3 receives from 2
	// round 1: 3 sends 8000 bytes to 1
	// round 1: 3 receives from 1
	// round 2: 3 sends 8000 bytes to 5
	// round 2: 3 receives from 5
	// round 3: 3 sends 8000 bytes to 2
}
