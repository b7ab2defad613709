package coll

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
)

// copyPast writes what copy writes, and nothing besides, wherever the pieces begin.
func TestCopyPast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SliceOfN(rapid.Byte(), 0, 1000).Draw(t, "from")
		to := make([]byte, rapid.IntRange(0, 1000).Draw(t, "to"))
		wanted := make([]byte, len(to))
		first := rapid.IntRange(0, len(to)).Draw(t, "first in to") &^ rapid.SampledFrom([]int{0, 63}).Draw(t, "mask")
		last := rapid.IntRange(first, len(to)).Draw(t, "last in to")
		skip := rapid.IntRange(0, len(from)).Draw(t, "first in from")
		copy(wanted[first:last], from[skip:])
		copyPast(to[first:last], from[skip:])
		fence()
		if !bytes.Equal(to, wanted) {
			t.Fatalf("%v, want %v", to, wanted)
		}
	})
}

// Blocks reach their places, few and many, of whole cache lines and others.
func TestExchangeBlocks(t *testing.T) {
	const members, apart = 9, 1000
	const far = farBytes / (members * members)
	noise := make([]byte, members*(far+apart+200))
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(noise)
	for _, size := range []int{0, 1, 64, 100, far, (far + 64) &^ 63, far + 100} {
		layout := collectives.Uniform(int64(size), 1)
		inst := instance{layout: &layout}
		inputs, outputs := make([][]byte, members), make([][]byte, members)
		for m := range inputs {
			inputs[m], outputs[m] = noise[m*apart:][:members*size], make([]byte, members*size)
		}
		inst.exchangeBlocks(outputs, inputs)
		for receiver, out := range outputs {
			for sender := range members {
				if !bytes.Equal(out[sender*size:][:size], inputs[sender][receiver*size:][:size]) {
					t.Fatalf("%d bytes: the block from %d to %d is another", size, sender, receiver)
				}
			}
		}
	}
}
