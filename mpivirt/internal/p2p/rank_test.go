package p2p

import (
	"testing"

	"gigarank/engine"
	"gigarank/mpivirt/internal/world"
	"gigarank/network"
	"gigarank/vtime"
)

// longerByHalf lengthens each compute phase by a half, and by the number of the rank in us.
type longerByHalf struct{}

func (longerByHalf) Extend(rank int, _ vtime.Time, d vtime.Duration) vtime.Duration {
	return d + d/2 + vtime.Duration(rank)*vtime.Microsecond
}

// A compute phase takes the time that the noise gives it, on each engine that of the rank.
func TestNoiseLengthensComputing(t *testing.T) {
	m, err := network.Parse("flat", []byte("name: flat\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(4)
	if err != nil {
		t.Fatal(err)
	}
	partition, transports := engine.Partition{LPs: 4, Engines: 2}, engine.NewInProcess(2)
	for i, transport := range transports {
		k := &Messages{}
		k.Partition.Init(world.Settings{Engine: engine.New(engine.Config{Partition: partition, Transport: transport, Lookahead: func(int) vtime.Duration { return vtime.Microsecond }}), Target: target})
		k.Open(longerByHalf{}, 0, nil)
		if err := k.Compute(1, 10*vtime.Microsecond, world.Compute); err != nil {
			t.Fatal(err)
		}
		rank := 2*i + 1
		if got, want := k.Partition.Clock[1], vtime.Time(15+rank)*vtime.Time(vtime.Microsecond); got != want {
			t.Errorf("rank %d has computed until %v, want %v", rank, got, want)
		}
	}
}
