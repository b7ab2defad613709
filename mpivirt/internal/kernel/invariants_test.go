//go:build invariants

package kernel

import (
	"strings"
	"testing"

	"gigarank/collectives"
	"gigarank/engine"
	"gigarank/invariant"
	"gigarank/network"
	"gigarank/vtime"
)

// backwards is noise that breaks the rule that a compute phase ends after it began.
type backwards struct{}

func (backwards) Extend(_ int, _ vtime.Time, d vtime.Duration) vtime.Duration { return -d }

// A clock that goes back ends the run, as a bug of gigarank and not of the rank.
func TestClockThatGoesBackIsFound(t *testing.T) {
	s, err := New(Config{
		Target: flatTarget(t, 2), Transports: engine.NewInProcess(1), Noise: backwards{},
		Program: Program{Name: "backwards", Forms: []Form{listed{enterBarrier, func(k *Kernel, lp int32) bool {
			k.Compute(lp, 1000)
			return true
		}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Run()
	if err == nil || !strings.Contains(err.Error(), "gigarank itself failed") || !strings.Contains(err.Error(), "the clock of rank 0 goes back") {
		t.Errorf("got %v", err)
	}
}

func flatTarget(t *testing.T, ranks int64) *network.Target {
	t.Helper()
	m, err := network.Parse("flat", []byte("name: flat\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	tgt, err := m.Target(ranks)
	if err != nil {
		t.Fatal(err)
	}
	return tgt
}

// lone returns the kernel of the only engine of a simulation of so many ranks.
func lone(t *testing.T, ranks int) *Kernel {
	t.Helper()
	c := &Config{Target: flatTarget(t, int64(ranks))}
	partition := engine.Partition{LPs: ranks, Engines: 1}
	return newKernel(c, engine.New(engine.Config{Partition: partition, Transport: engine.NewInProcess(1)[0]}))
}

// Each of these breaks something that must hold in a kernel of four ranks.
func TestBrokenKernelIsFound(t *testing.T) {
	post := func(k *Kernel, source int) int32 {
		return k.receive(0, k.Compose(Irecv, k.comms[World], 0).Receives(nil, 0, true, source, AnyTag))
	}
	arrive := func(k *Kernel) int32 {
		index := k.messages.take()
		*k.messages.at(index) = message{comm: World, source: 1, rank: 1, arrival: 5}
		k.arrive(0, index)
		return index
	}
	begin := func(k *Kernel) *instance {
		v := k.Barrier
		v.algorithm = collectives.NodeLeader
		return k.newInstance(k.comms[World], 0, 0, &v)
	}
	for _, c := range []struct {
		why   string
		want  string
		spoil func(k *Kernel)
	}{
		{"a wildcard too many", "counts 2", func(k *Kernel) {
			post(k, AnySource)
			k.box(0).wildcards++
			k.checkMailbox(0)
		}},
		{"a list that ends too early", "the last receive is 4, its list ends with 3", func(k *Kernel) {
			first := post(k, 1)
			post(k, 2)
			k.box(0).posted.tail = first
			k.checkMailbox(0)
		}},
		{"a list of messages that ends too early", "list of messages", func(k *Kernel) {
			arrive(k)
			k.box(0).unexpected.tail = 0
			k.checkMailbox(0)
		}},
		{"a receive that waits though its message is there", "which is there", func(k *Kernel) {
			arrive(k)
			post(k, 3)
			k.requests.at(k.box(0).posted.head).peer = 1
			k.checkMailbox(0)
		}},
		{"a complete receive that is still posted", "has posted request", func(k *Kernel) {
			k.requests.at(post(k, 1)).complete = true
			k.checkMailbox(0)
		}},
		{"a Waitall that waits for nothing", "for 2 requests; 1 are not complete", func(k *Kernel) {
			k.waitRequests(0, waitAll, []int32{post(k, 1)}, Waitall)
			k.box(0).wait.pending++
			k.checkMailbox(0)
		}},
		{"a request that is released twice", "not in use", func(k *Kernel) {
			index := k.newRequest(0, sendRequest, Isend)
			k.requests.release(index)
			k.requests.release(index)
		}},
		{"more members join than a node has", "1 more members have joined node 0", func(k *Kernel) {
			begin(k).enterOthers(0, 0, 3)
		}},
		{"a member leaves that has not entered", "0 have entered, 0 are counted, 1 have left", func(k *Kernel) {
			k.left(begin(k), 1)
		}},
		{"an instance ends twice", "ends twice", func(k *Kernel) {
			k.comms[World].retire(begin(k))
		}},
		{"a round that leaves a receiver out", "visited 0 times", func(*Kernel) {
			checkRuns(collectives.Pattern{Kind: collectives.Irregular, Distance: 1}, 4, 0, 4)
		}},
		{"a round that turns a clock back", "goes back from 3ps to 2ps", func(*Kernel) {
			b := &arrayRun{work: []vtime.Time{7, 2}}
			b.checkRound([]vtime.Time{7, 3})
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			if text := violation(t, func() { c.spoil(lone(t, 4)) }); !strings.Contains(text, c.want) {
				t.Errorf("found %q, want %q", text, c.want)
			}
		})
	}
}

// violation runs f, which must break an invariant, and returns what was found.
func violation(t *testing.T, f func()) (text string) {
	t.Helper()
	defer func() {
		t.Helper()
		v, ok := recover().(*invariant.Violation)
		if !ok {
			t.Fatal("no broken invariant is found")
		}
		text = v.Text
	}()
	f()
	return ""
}
