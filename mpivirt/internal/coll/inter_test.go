package coll

import "testing"

// A token is a number that no rank has had before: of a rank, of another, and of a rank of another engine.
func TestTokensDiffer(t *testing.T) {
	const machine = "name: m\nnetwork: {model: flat, latency: 1us}\n"
	k, again := opened(t, machine, 4, 1, Auto), opened(t, machine, 4, 2, Auto)
	seen := map[uint64]bool{}
	for call := range 5 {
		for lp := range int32(4) {
			token := k.Token(lp)
			if seen[token] {
				t.Errorf("call %d of rank %d gives token %x, which was there before", call, lp, token)
			}
			seen[token] = true
			if lp < 2 && again.Token(lp) != token {
				t.Errorf("call %d of rank %d gives another token on two engines", call, lp)
			}
		}
	}
}
