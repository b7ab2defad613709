package coll

import (
	"testing"

	"pgregory.net/rapid"

	"gigarank/mpivirt/internal/world"
)

// The hash table holds what a map of the same keys holds. Of an instance that has failed it gives back the
// messages of calls that nobody can leave before all have entered, and keeps others.
func TestEarlyMessagesAreMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s world.Slab[roundMessage]
		var c earlyMessages
		twin := map[earlyKey]int32{}
		for range rapid.IntRange(1, 500).Draw(t, "steps") {
			key := earlyKey{
				lp: rapid.Int32Range(0, 3).Draw(t, "lp"), comm: rapid.Int32Range(0, 1).Draw(t, "comm"),
				number: rapid.Uint32Range(0, 1).Draw(t, "number"), round: rapid.Int32Range(0, 40).Draw(t, "round"),
			}
			if got := c.find(&s, key); got != twin[key] {
				t.Fatalf("%v: %d, want %d", key, got, twin[key])
			}
			if twin[key] == 0 {
				index := s.Take()
				call := rapid.SampledFrom([]world.Procedure{world.Bcast, world.Allreduce}).Draw(t, "call")
				*s.At(index) = roundMessage{lp: key.lp, comm: key.comm, number: key.number, round: key.round, signature: signature(call)}
				c.add(&s, index)
				twin[key] = index
			} else if rapid.Bool().Draw(t, "remove") {
				c.remove(&s, key)
				s.Release(twin[key])
				delete(twin, key)
			}
		}
		failed := func(key earlyKey, index int32) bool {
			return key.comm == 1 && key.number == 0 && s.At(index).signature.call() == world.Allreduce
		}
		for _, index := range c.takeInstance(&s, 1, 0) {
			key := s.At(index).early()
			if !failed(key, index) || twin[key] != index {
				t.Fatalf("%v is taken", key)
			}
			delete(twin, key)
		}
		for key, index := range twin {
			if failed(key, index) || c.find(&s, key) != index {
				t.Fatalf("%v: %d, want %d", key, c.find(&s, key), index)
			}
		}
		if c.used != len(twin) {
			t.Fatalf("%d in use, want %d", c.used, len(twin))
		}
	})
}
