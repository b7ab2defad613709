package collectives_test

import (
	"testing"

	"gigarank/collectives"
)

// Algorithms that take a fan-out give the result of their operation for every fan-out.
func TestSchedulesByFanout(t *testing.T) {
	for _, p := range pairs() {
		if p.a.WithFanout(2).Check(p.op) != nil || collectives.TakesNodes(p.op, p.a) {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			for members := 1; members <= mostMembers(33); members++ {
				for _, fanout := range []int{2, 3, 4, 5, 8, 16, 40} {
					everyRoot(p.op, members, func(root int) {
						c := sized{pair{p.op, p.a.WithFanout(fanout)}, collectives.Size{Members: members, Root: root}}
						s := c.build(t)
						if err := check(p, s, root, ascending(members)); err != nil {
							t.Fatalf("%s: %v", c, err)
						}
						checkIdle(t, c, s)
					})
				}
			}
		})
	}
}
