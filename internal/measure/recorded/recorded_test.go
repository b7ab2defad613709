package main

import (
	"slices"
	"strings"
	"testing"

	"gigarank/collectives"
)

// Linear collectives by hand: the root sends to one after another; a reduce goes the other way.
func TestScheduledByHand(t *testing.T) {
	for _, c := range []struct {
		call call
		want [][]message
	}{
		{call{collectives.Bcast, 4, 64, 2}, [][]message{nil, nil, {{0, 64}, {1, 64}, {3, 64}}, nil}},
		{call{collectives.Reduce, 3, 8, 1}, [][]message{{{1, 8}}, nil, {{1, 8}}}},
		{call{collectives.Scatter, 3, 16, 0}, [][]message{{{1, 16}, {2, 16}}, nil, nil}},
	} {
		got, err := c.call.scheduled(collectives.Linear)
		if err != nil || !slices.EqualFunc(got, c.want, slices.Equal[[]message]) {
			t.Errorf("%+v: %v, %v, want %v", c.call, got, err, c.want)
		}
	}
}

// A report counts equal calls, other orders and other messages, fails on a difference without a reason, and on a
// reason of no use.
func TestReport(t *testing.T) {
	k := call{collectives.Bcast, 2, 8, 0}
	sent := [][]message{{{1, 8}, {1, 16}}, nil}
	r := newReport()
	r.add(k, collectives.Linear, sent, sent)
	if err := r.finish(&strings.Builder{}, false); err != nil {
		t.Error(err)
	}
	r.add(k, collectives.Linear, sent, [][]message{{{1, 16}, {1, 8}}, nil})
	r.add(k, collectives.Linear, sent, [][]message{{{1, 8}}, nil})
	var out strings.Builder
	err := r.finish(&out, false)
	if err == nil || !strings.Contains(out.String(), "1 of 3 calls are equal, 0 differ for reasons that are listed, 2 without") {
		t.Errorf("%v\n%s", err, out.String())
	}
	for _, want := range []string{"bcast      linear     3      1      1            1", "rank 0:", "[{1 16} {1 8}]"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	r = newReport()
	r.add(k, collectives.Linear, sent, sent)
	if err := r.finish(&strings.Builder{}, true); err == nil || !strings.Contains(err.Error(), "is of no use") {
		t.Errorf("unused reasons: %v", err)
	}
}

// The differences name algorithms that exist, each once for an operation.
func TestDifferences(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range differences {
		if _, err := collectives.ParseAlgorithm(d.operation, d.algorithm); err != nil {
			t.Error(err)
		}
		if key := d.operation.String() + " " + d.algorithm; seen[key] {
			t.Errorf("%s is listed twice", key)
		} else {
			seen[key] = true
		}
	}
}
