package mpivirt_test

import (
	"fmt"
	"testing"

	"gigarank/mpivirt"
)

// Alltoallv calls one behind another, with blocks of other kinds each: the ranks of an engine may have rows of lengths where those of another engine have
// lists, and the same ranks have the other in the next call. Contents are those that the senders have stored, and times those of messages.
func TestAlltoallvAmongRowsAndLists(t *testing.T) {
	const ranks, long = 24, 1500
	kinds := []struct {
		name  string
		bytes func(from, to int) int
	}{
		{"all alike", func(from, to int) int { return 3 }},
		{"alike by sender", func(from, to int) int { return 1 + from%3 }},
		{"differ", func(from, to int) int { return (7*from + 3*to) % 5 }},
		{"some alike", func(from, to int) int {
			if from < ranks/2 {
				return 2
			}
			return 1 + (from+to)%4
		}},
		{"the first have rows, the last have lists", func(from, to int) int {
			if from < ranks/2 && to < ranks/2 || to == (from+1)%ranks {
				return 1 + (from+to)%4
			}
			return 0
		}},
		{"the first have lists, the last have rows", func(from, to int) int {
			if from >= ranks/2 && to >= ranks/2 || to == (from+5)%ranks {
				return 1 + (from+to)%4
			}
			return 0
		}},
		{"one above the eager limit", func(from, to int) int {
			if from == 20 && to == 2 {
				return long
			}
			return 1 + (from+2*to)%6
		}},
	}
	content := func(from, to, i int) byte { return byte(31*from + 7*to + i) }
	program := mpivirt.Program{Name: "rows", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
		me := r.Rank()
		for turn := range 2 * len(kinds) {
			kind := kinds[turn*3%len(kinds)]
			var out, want []byte
			sent, received := make([]int, ranks), make([]int, ranks)
			for other := range ranks {
				sent[other], received[other] = kind.bytes(me, other), kind.bytes(other, me)
				for i := range sent[other] {
					out = append(out, content(me, other, i))
				}
				for i := range received[other] {
					want = append(want, content(other, me, i))
				}
			}
			in := make([]byte, len(want))
			if err := mpivirt.Alltoallv(r.World(), out, sent, in, received); err != nil {
				return fmt.Errorf("%s: %w", kind.name, err)
			}
			if string(in) != string(want) {
				return fmt.Errorf("%s: rank %d has %v, want %v", kind.name, me, in, want)
			}
		}
		return nil
	})}}
	machine := fmt.Sprintf("name: m\nranks_per_node: 4\nnetwork: {model: twolevel, eager_limit: %dB, intra: {latency: 1us, bandwidth: 4GB/s}, inter: {latency: 3us, bandwidth: 1GB/s}}\n", long-1)
	run := func(interpreter mpivirt.Interpreter, engines int) string {
		t.Helper()
		result, err := simulate(t, mpivirt.Config{Target: target(t, machine, ranks), Program: program, Collectives: interpreter}, engines)
		if err != nil {
			t.Fatalf("%v, %d engines: %v", interpreter, engines, err)
		}
		return fmt.Sprint(result.Fingerprint)
	}
	want := run(mpivirt.Message, 1)
	for engines := 1; engines <= 5; engines++ {
		if got := run(mpivirt.Bulk, engines); got != want {
			t.Errorf("in bulk on %d engines the fingerprint is %s, want %s as by messages", engines, got, want)
		}
	}
}
