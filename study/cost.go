package study

import (
	"gigarank/bench"
	"gigarank/mpivirt"
)

// hostCost estimates the CPU time of a point on one engine, in ns. It orders the points
// and leaves hopeless algorithms out of a default; nothing else depends on it.
func (p *Plan) hostCost(point Point) float64 {
	target, err := p.Machine(point).Target(point.Ranks)
	if err != nil {
		return 0 // checkTargets has said so
	}
	var c bench.Config
	c.Kind, c.Target = leanest(p.Entry), target
	p.Choose(point, &c.Config)
	c.Options = bench.Options{Iterations: point.Iterations, Payload: point.Payload, Datatype: p.Datatype, NoContents: p.NoContents}
	if point.Payload == 0 {
		c.Payload = bench.None
	}
	return float64(point.Iterations) * bench.CostOf(p.Entry, c, 1).Time
}

// leanest returns the kind of rank that takes the least memory. A study uses it unless
// another is asked for.
func leanest(e bench.Entry) *mpivirt.Kind {
	least := e.Forms[0]
	for _, kind := range e.Forms {
		if kind.Bytes < least.Bytes {
			least = kind
		}
	}
	return least
}
