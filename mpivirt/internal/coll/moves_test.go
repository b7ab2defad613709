package coll

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"gigarank/collectives"
)

// Blocks reach their places, few and many, of whole cache lines and others, of members that fill strips
// and groups or do not.
func TestExchangeBlocks(t *testing.T) {
	const apart = 1000
	for _, c := range []struct{ members, size int }{
		{9, 0}, {9, 1}, {9, 64}, {9, 100}, {9, farBytes / 81}, {9, (farBytes/81 + 64) &^ 63}, {9, farBytes/81 + 100},
		{strip + 3, 8}, {strip + 3, 100}, {2*strip + 5, 512}, {2*strip + 5, 700}, {strip, 2048},
	} {
		noise := make([]byte, c.members*(c.size+apart))
		random := rand.NewChaCha8([32]byte{})
		_, _ = random.Read(noise)
		layout := collectives.Uniform(int64(c.size), 1)
		inst := instance{layout: &layout, comm: &Communicator{}, local: &localState{}}
		inst.comm.Locals, inst.comm.Size = c.members, c.members
		inputs, outputs := make([][]byte, c.members), make([][]byte, c.members)
		for m := range inputs {
			inputs[m], outputs[m] = noise[m*apart:][:c.members*c.size], make([]byte, c.members*c.size)
		}
		inst.local.outputs = outputs
		exchangeBlocks(outputs, inputs, inst.comm.First, c.size, inst.far())
		for receiver, out := range outputs {
			for sender := range c.members {
				if !bytes.Equal(out[sender*c.size:][:c.size], inputs[sender][receiver*c.size:][:c.size]) {
					t.Fatalf("%d members, %d bytes: the block from %d to %d is another", c.members, c.size, sender, receiver)
				}
			}
		}
	}
}
