package kernel

import "gigarank/collectives"

// Algorithm returns the algorithm of an operation.
func (c *Config) Algorithm(op collectives.Operation) collectives.Algorithm {
	if a, chosen := c.Algorithms[op]; chosen {
		return a
	}
	return collectives.Default(op)
}
