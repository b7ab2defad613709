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

// A request stands for an operation of the rank that has begun it, until the rank has waited for it (MPI 4.1, 3.7). Requests that all ranks
// share are always good.
func TestRequestsOfRanks(t *testing.T) {
	m := opened(t, 2)
	index := m.NewRequest(0, SendRequest, world.Isend)
	for _, good := range []int32{0, index, m.CompletedSend, m.CompletedReceive} {
		if err := m.CheckRequest(0, good); err != nil {
			t.Errorf("request %d of rank 0: %v", good, err)
		}
	}
	if err := m.CheckRequest(1, index); err == nil {
		t.Error("rank 1 waits for a request of rank 0")
	}
	if err := m.CheckRequest(0, index+1); err == nil {
		t.Error("rank 0 waits for a request that there is not")
	}
	generation := m.Requests.At(index).generation
	if !m.HoldsRequest(0, index, generation) || m.HoldsRequest(1, index, generation) || m.HoldsRequest(0, index, generation+1) {
		t.Error("a request does not belong to its rank and generation")
	}
	m.Requests.Release(index)
	if err := m.CheckRequest(0, index); err == nil {
		t.Error("rank 0 waits for a request that it has waited for")
	}
	again := m.NewRequest(0, SendRequest, world.Isend)
	if again != index || m.HoldsRequest(0, again, generation) {
		t.Errorf("request %d, made after request %d, has its generation", again, index)
	}
	for kind, want := range map[requestKind]world.Status{
		SendRequest: world.EmptyStatus, CollectiveRequest: world.EmptyStatus, procNullRequest: world.ProcNullStatus, cancelledRequest: world.CancelledStatus,
		ReceiveRequest: {Source: 3, Tag: 4, Bytes: 5}, exchangeRequest: {Source: 3, Tag: 4, Bytes: 5},
	} {
		*m.Requests.At(index) = request{Kind: kind, Peer: 3, Tag: 4, Bytes: 5}
		if got := m.RequestStatus(index); got != want {
			t.Errorf("a request of kind %d has the status %+v, want %+v", kind, got, want)
		}
	}
}

// An LP has unexpected messages from the first that comes before its receive until the last is taken.
func TestUnexpectedMessages(t *testing.T) {
	m := opened(t, 2)
	if m.HasUnexpected(0) {
		t.Error("an LP without a mailbox has messages")
	}
	m.Box(0)
	if m.HasUnexpected(0) {
		t.Error("an LP has messages before any has come")
	}
	comes(m, world.World, 1, 5, 100)
	if !m.HasUnexpected(0) || m.HasUnexpected(1) {
		t.Error("the message for LP 0 is not there, or is at another LP")
	}
	m.removeUnexpected(m.Box(0), m.Box(0).unexpected.head)
	if m.HasUnexpected(0) {
		t.Error("an LP has messages after the last was taken")
	}
}
