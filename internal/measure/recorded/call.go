package main

import (
	"fmt"

	"gigarank/collectives"
)

// element is the size of an element, a double.
const element = 8

// call is a call of an operation by all ranks.
type call struct {
	operation collectives.Operation
	ranks     int
	bytes     int64 // of the vector or of a rank's block
	root      int
}

// line returns the call as the recorder reads it.
func (k call) line() string { return fmt.Sprintf("%s %d %d", k.operation, k.bytes, k.root) }

func (k call) question() collectives.Question {
	return collectives.Question{
		Operation: k.operation, Ranks: k.ranks, PerNode: k.ranks, Bytes: k.bytes, Commutative: true, ElementBytes: element,
	}
}

// message is a message of some rank.
type message struct {
	to    int
	bytes int64
}

// scheduled returns the messages of each rank in the schedule of an algorithm, in their order.
func (k call) scheduled(a collectives.Algorithm) ([][]message, error) {
	s, err := collectives.For(k.operation, a, collectives.Size{Members: k.ranks, Root: k.root, PerNode: k.ranks, Bytes: k.bytes})
	if err != nil {
		return nil, fmt.Errorf("%s among %d: %w", k.operation, k.ranks, err)
	}
	layout := collectives.LayoutOf(k.operation, s, k.bytes/element, element)
	all := make([][]message, k.ranks)
	for rank := range all {
		for r := s.Next(rank, 0); r < s.Rounds(rank); r = s.Next(rank, r+1) {
			if step := s.Step(rank, r); step.To != collectives.None && step.To != rank {
				all[rank] = append(all[rank], message{step.To, layout.Bytes(step.Send, s.Positions())})
			}
		}
	}
	return all, nil
}
