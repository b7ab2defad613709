package tuning_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	stdsync "sync"
	"testing"
	"time"

	"gigarank/collectives"
	"gigarank/internal/tuning"
	"gigarank/network"
)

// mostLoss is the ratio to the time of the fastest algorithm that no default exceeds.
const mostLoss = 1.5

// On every preset the default takes at most mostLoss times as long as the fastest algorithm, at random points. The points are the
// same in each run: between the sizes that are simulated nothing bounds the loss. scripts/search draws other points by
// GIGARANK_SEED, and scripts/defaults looks at more ranks.
func TestDefaultsAreNearTheFastest(t *testing.T) {
	const limit = 0.01 // expected CPU time of a simulation in seconds
	points := 12       // of a preset
	if testing.Short() {
		points = 1
	}
	seed := uint64(1)
	if text := os.Getenv("GIGARANK_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(seed, 0))
	ops := slices.DeleteFunc(collectives.Operations(), func(op collectives.Operation) bool { return !tuning.On(xt5(t)).ByNodes(op) })
	for _, preset := range network.Presets() {
		m, err := network.Load(preset.Name, os.ReadFile)
		if err != nil {
			t.Fatal(err)
		}
		for range points {
			q := tuning.Question{Operation: ops[random.IntN(len(ops))], Ranks: 2 + int64(random.IntN(1<<random.IntN(8))), Bytes: 8 << random.IntN(20)}
			if q.Operation == collectives.Barrier {
				q.Bytes = 0
			}
			if c := tuning.On(m).Compare(q, limit); c.Loss > mostLoss {
				t.Errorf("GIGARANK_SEED=%d: %v of %d bytes on %d ranks of %s: %v takes %.2f times as long as %v", seed, q.Operation, q.Bytes, q.Ranks, m.Name(), c.Chosen, c.Loss, c.Fastest)
			}
		}
	}
}

func xt5(t *testing.T) *network.Machine {
	m, err := network.Load("xt5", os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The answer to a question is the same whoever asks first and how often. A known answer takes no memory.
func TestChoiceIsAFunctionOfTheQuestion(t *testing.T) {
	text := fmt.Sprintf("name: asked-%d\nranks_per_node: 4\nnetwork: {model: flat, latency: 2us, bandwidth: 2GB/s, reduce: {bandwidth: 1GB/s}}\n", time.Now().UnixNano())
	var questions []collectives.Question
	counts, sizes := []int{1, 2, 7, 32}, []int64{0, 8, 100, 5000, 1 << 20}
	if testing.Short() { // enough for the race detector
		counts, sizes = counts[2:3], sizes[2:4]
	}
	for _, op := range collectives.Operations() {
		for _, ranks := range counts {
			for _, bytes := range sizes {
				for _, commutative := range []bool{true, false} {
					questions = append(questions, collectives.Question{Operation: op, Ranks: ranks, PerNode: min(ranks, 4), Bytes: bytes, Commutative: commutative})
				}
			}
		}
	}
	shared := tuning.On(machine(t, text))
	answers := make([][]collectives.Algorithm, 3)
	var asking stdsync.WaitGroup
	for k := range answers {
		asking.Go(func() {
			answers[k] = make([]collectives.Algorithm, len(questions))
			for i := range questions {
				at := (i + k*len(questions)/3) % len(questions)
				answers[k][at] = shared.Choose(questions[at])
			}
		})
	}
	asking.Wait()
	for i, q := range questions {
		a := answers[0][i]
		if answers[1][i] != a || answers[2][i] != a {
			t.Errorf("%+v: %v, %v and %v", q, a, answers[1][i], answers[2][i])
		}
		if !q.Commutative && combines(q.Operation) && !collectives.Ordered(q.Operation, a) {
			t.Errorf("%+v: %v does not keep the order of ranks", q, a)
		}
		if err := a.Check(q.Operation); err != nil {
			t.Error(err)
		}
	}
	q := questions[len(questions)-1]
	if n := testing.AllocsPerRun(100, func() { shared.Choose(q) }); n != 0 {
		t.Errorf("a known answer makes %v allocations", n)
	}
}

func combines(op collectives.Operation) bool {
	return slices.Contains([]collectives.Operation{collectives.Reduce, collectives.Allreduce, collectives.ReduceScatter, collectives.Scan, collectives.Exscan}, op)
}

// What the hardware of a machine carries out stays with it. Vectors that are too long for it go by another algorithm.
func TestHardwareIsTheDefault(t *testing.T) {
	m, err := network.Load("bluegene-q", os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	q := collectives.Question{Operation: collectives.Allreduce, Ranks: 128, PerNode: 16, Bytes: 8, Commutative: true, Hardware: collectives.Hardware{Offload: true}}
	if a := tuning.On(m).Choose(q); a != collectives.Offload {
		t.Errorf("8 bytes go by %v, not by the network", a)
	}
	q.Bytes, q.Hardware = 1<<20, collectives.Hardware{}
	if a := tuning.On(m).Choose(q); a == collectives.Offload {
		t.Error("1 MiB goes by the network, which takes 512 bytes")
	}
}

// On very many ranks only algorithms that go over arrays, or in few rounds, are chosen, and the choice takes little time.
func TestChoiceOnVeryManyRanks(t *testing.T) {
	m := xt5(t)
	began := time.Now()
	for _, op := range collectives.Operations() {
		for _, bytes := range []int64{8, 1 << 20} {
			for _, ranks := range []int{1 << 30, 200_000_000} {
				a := tuning.On(m).Choose(collectives.Question{Operation: op, Ranks: ranks, PerNode: 12, Bytes: bytes, Commutative: true})
				if a == collectives.Default(op) {
					continue
				}
				s, err := collectives.For(op, a, collectives.Size{Members: ranks, PerNode: 12, Bytes: bytes})
				if err != nil || s.MaxRounds() > 100 {
					t.Errorf("%v of %d bytes on %d ranks goes by %v in many rounds (%v)", op, bytes, ranks, a, err)
				}
			}
		}
	}
	t.Logf("all choices took %v", time.Since(began))
}

// Barriers, broadcasts and allreduces whose times on a node the machine gives are not compared with other algorithms.
func TestMeasuredCollectivesAreTheDefault(t *testing.T) {
	m, err := network.Parse("m", []byte("name: m\nranks_per_node: 8\nnetwork: {model: flat, latency: 1ns, join: [{size: 0, delay: 1ms}], node_bcast: [{size: 0, delay: 1ms}]}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for op, want := range map[collectives.Operation]collectives.Algorithm{collectives.Barrier: collectives.NodeLeader, collectives.Bcast: collectives.Offload, collectives.Allreduce: collectives.NodeLeader} {
		q := collectives.Question{Operation: op, Ranks: 8, PerNode: 8, Bytes: 8, Commutative: true, Hardware: collectives.Hardware{Measured: true}}
		if got := tuning.On(m).Choose(q); got != want {
			t.Errorf("%v by %v, want %v", op, got, want)
		}
		if q.Hardware.Measured = false; tuning.On(m).Choose(q) == want {
			t.Errorf("%v by %v, which takes a million times as long as messages", op, want)
		}
	}
}
