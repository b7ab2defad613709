package mpivirt_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/mpivirt/steps"
	"gigarank/sync"
)

// counted counts the bytes that one engine sends in long messages. Of short ones, as rounds and
// promises, there are as many as the course on the host wants.
type counted struct {
	sync.Transport
	bytes int
}

func (c *counted) Send(dst int, message []byte) error {
	if len(message) > 4096 {
		c.bytes += len(message)
	}
	return c.Transport.Send(dst, message)
}

// sentBy runs a program on so many engines and returns the records that they have sent in all,
// their bytes in long messages, and the most of those that one of them has sent.
func sentBy(t *testing.T, engines, ranks int, main func(r *mpivirt.Rank) error) (records, bytes, most int) {
	t.Helper()
	ends := make([]*counted, engines)
	var transports []sync.Transport
	for i, end := range sync.NewInProcess(engines) {
		ends[i] = &counted{Transport: end}
		transports = append(transports, ends[i])
	}
	s, err := mpivirt.New(mpivirt.Config{
		Target: target(t, "name: m\nranks_per_node: 4\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n", ranks), Transports: transports,
		Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Allgather: collectives.RecursiveDoubling},
		Program:    mpivirt.Program{Name: "growth", Forms: []mpivirt.Form{mpivirt.Main(main)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range ends {
		bytes, most = bytes+end.bytes, max(most, end.bytes)
	}
	return int(result.Statistics.RemoteMessages), bytes, most
}

// The vectors that an engine sends for an allreduce grow as the logarithm of the number of
// engines, and so do those that go in all for each engine: the sum and the result go once
// over each branch of a tree, one vector each where every engine has 2^k participants.
func TestAllreduceVectorsPerEngine(t *testing.T) {
	const doubles, calls = 1024, 3
	vectors := func(engines int) (each, most float64) {
		_, bytes, largest := sentBy(t, engines, 4*engines, func(r *mpivirt.Rank) error {
			in, out := make([]float64, doubles), make([]float64, doubles)
			for i := range in {
				in[i] = 1 / float64(1+r.Rank()+i)
			}
			for range calls {
				if err := mpivirt.Allreduce(r.World(), in, out, mpivirt.Sum[float64]()); err != nil {
					return err
				}
			}
			return nil
		})
		const vector = 8 * doubles * calls
		return float64(bytes) / vector / float64(engines), float64(largest) / vector
	}
	for engines, levels := range map[int]float64{16: 4, 256: 8} {
		each, most := vectors(engines)
		t.Logf("%d engines: %.2f vectors each, at most %.2f", engines, each, most)
		// Two for each branch, and a tenth for what goes with them.
		if each > 2.1 {
			t.Errorf("%d engines send %.2f vectors each, want 2", engines, each)
		}
		if most > levels*1.05 {
			t.Errorf("of %d engines one sends %.2f vectors, want %v", engines, most, levels)
		}
	}
}

// Sums over many engines have the bits of those over one, by messages: in WORLD, and in
// communicators of which some engines have no member, or no leader of a node.
func TestSumsOverManyEngines(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ranks, engines := rapid.IntRange(1, 70).Draw(rt, "ranks"), rapid.IntRange(2, 24).Draw(rt, "engines")
		colors := rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 0, 1, mpivirt.Undefined}), ranks, ranks).Draw(rt, "colors")
		keys := rapid.SliceOfN(rapid.IntRange(-3, 3), ranks, ranks).Draw(rt, "keys")
		weight := rapid.SampledFrom([]int{-10, 0, 10}).Draw(rt, "weight of the rank in the key")
		c := mpivirt.Config{Target: target(t, fmt.Sprintf("name: m\nranks_per_node: %d\nmapping: %s\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n",
			rapid.IntRange(1, 5).Draw(rt, "ranks per node"), rapid.SampledFrom([]string{"block", "cyclic"}).Draw(rt, "mapping")), ranks)}
		c.Algorithms = map[collectives.Operation]collectives.Algorithm{
			collectives.Allreduce: rapid.SampledFrom([]collectives.Algorithm{collectives.NodeLeader, collectives.RecursiveDoubling}).Draw(rt, "algorithm"),
		}
		run := func(engines int, interpreter mpivirt.Interpreter) (sums []float64, fingerprint string) {
			sums = make([]float64, ranks)
			c.Collectives = interpreter
			c.Program = mpivirt.Program{Name: "sums", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				part, err := r.World().Split(colors[r.Rank()], keys[r.Rank()]+weight*r.Rank())
				if err != nil {
					return err
				}
				for _, comm := range []*mpivirt.Comm{r.World(), part} {
					if comm == nil {
						continue
					}
					out := make([]float64, 1)
					if err := mpivirt.Allreduce(comm, []float64{sums[r.Rank()] + 1/float64(3+r.Rank())}, out, mpivirt.Sum[float64]()); err != nil {
						return err
					}
					sums[r.Rank()] += out[0]
				}
				return nil
			})}}
			result, err := simulate(t, c, engines)
			if err != nil {
				rt.Fatal(err)
			}
			return sums, result.Fingerprint
		}
		want, one := run(1, mpivirt.Message)
		got, many := run(engines, mpivirt.Auto)
		if one != many || !slices.Equal(got, want) {
			rt.Fatalf("%d engines give %v, %s\none gives %v, %s", engines, got, many, want, one)
		}
	})
}

// Each engine but one sends one record for a split, with its colors and keys and those below it,
// and gets one, with the groups that it and those below it need. From each to all others there
// would be as many records as there are pairs.
func TestSplitRecordsPerEngine(t *testing.T) {
	for name, color := range map[string]func(rank int) int{
		"rows of 8":       func(rank int) int { return rank / 8 },
		"columns of many": func(rank int) int { return rank % 4 },
		"all":             func(int) int { return 0 },
	} {
		for _, engines := range []int{16, 256} {
			with, bytes, _ := sentBy(t, engines, 4*engines, func(r *mpivirt.Rank) error {
				_, err := r.World().Split(color(r.Rank()), r.Rank())
				return err
			})
			without, _, _ := sentBy(t, engines, 4*engines, func(r *mpivirt.Rank) error {
				return r.World().CollectiveSize(collectives.Allgather, 8, 0) // the algorithm of a split
			})
			// What is in long messages are the colors and keys of half the engines, one run each.
			if records := with - without; records != 2*(engines-1) || bytes > 64*engines/2 {
				t.Errorf("%s: a split takes %d records of %d engines, want %d, and %d bytes in long messages", name, records, engines, 2*(engines-1), bytes)
			}
		}
	}
}

// twelve has 12 ranks on a node, whose messages delay none. Where they share interfaces, collectives go by messages, which are copied where they wait.
const twelve = `name: twelve
ranks_per_node: 12
network: {model: twolevel, intra: {latency: 500ns, bandwidth: 6GB/s}, inter: {latency: 5us, bandwidth: 2GB/s}, overhead: {send: 300ns, receive: 300ns}, gap: 300ns, eager_limit: 128000B, reduce: {bandwidth: 1GB/s}}
`

// A split takes the time and the messages of an allgather of 8 bytes by the algorithm that libraries take
// for small blocks, on any number of engines, and so does a split of nodes. Where nodes have interfaces, see TestTimesOfSplitsAtInterfaces.
func TestSplitIsASmallAllgather(t *testing.T) {
	for ranks, algorithm := range map[int]collectives.Algorithm{
		2: collectives.RecursiveDoubling, 7: collectives.Bruck, 64: collectives.RecursiveDoubling, 100: collectives.Bruck, 40_000: collectives.Bruck,
	} {
		named := map[collectives.Operation]collectives.Algorithm{collectives.Allgather: algorithm}
		run := func(engines int, algorithms map[collectives.Operation]collectives.Algorithm, main func(r *mpivirt.Rank) error) *mpivirt.Result {
			r, err := simulate(t, mpivirt.Config{
				Target: target(t, twelve, ranks), Algorithms: algorithms,
				Program: mpivirt.Program{Name: "split", Forms: []mpivirt.Form{mpivirt.Main(main)}},
			}, engines)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		want := run(1, named, func(r *mpivirt.Rank) error { return r.World().CollectiveSize(collectives.Allgather, 8, 0) })
		for _, engines := range []int{1, 2} {
			for name, split := range map[string]func(r *mpivirt.Rank) (*mpivirt.Comm, error){
				"rows":  func(r *mpivirt.Rank) (*mpivirt.Comm, error) { return r.World().Split(r.Rank()/6, 0) },
				"all":   func(r *mpivirt.Rank) (*mpivirt.Comm, error) { return r.World().Split(0, 0) },
				"each":  func(r *mpivirt.Rank) (*mpivirt.Comm, error) { return r.World().Split(r.Rank(), 0) },
				"nodes": func(r *mpivirt.Rank) (*mpivirt.Comm, error) { return r.World().SplitNodes(0) },
			} {
				if engines == 2 && ranks > 100 && name != "rows" {
					continue // takes as long as the rest
				}
				got := run(engines, nil, func(r *mpivirt.Rank) error {
					_, err := split(r)
					return err
				})
				if got.Fingerprint != want.Fingerprint || got.Statistics.Messages != want.Statistics.Messages {
					t.Errorf("%s of %d ranks on %d engines: %v, %d messages; an allgather %v takes %v, %d messages",
						name, ranks, engines, got.VirtualTime, got.Statistics.Messages, algorithm, want.VirtualTime, want.Statistics.Messages)
				}
			}
		}
	}
}

// The CPU time of a split grows as the number of ranks, also where each rank is in a group of its own.
func TestCPUTimeOfSplitsGrowsAsRanks(t *testing.T) {
	run := func(ranks, group int) time.Duration {
		s := simulation(t, mpivirt.Config{
			Target: target(t, "xt5", ranks),
			Program: mpivirt.Program{Name: "split", Forms: []mpivirt.Form{steps.Main(func() steps.Program {
				return steps.New(func(r *steps.Rank, split *bool) steps.Outcome {
					if *split {
						r.NewComm(r.Rank() / group)
						return r.Finish()
					}
					*split = true
					return r.Split(r.Rank()/group, r.Rank())
				})
			})}},
		}, 1)
		defer s.Close()
		before := cpuTime()
		if _, err := s.Run(); err != nil {
			t.Fatal(err)
		}
		return cpuTime() - before
	}
	for _, group := range []int{1, 16, 1 << 20} {
		staysConstant(t, fmt.Sprintf("groups of %d", group), 15_000, func(ranks int) time.Duration { return run(ranks, group) })
	}
}

// The edges of a distributed graph take some messages for each doubling of the ranks, not one for each pair.
func TestMessagesOfDistributedGraphs(t *testing.T) {
	for ranks, levels := range map[int]uint64{64: 6, 100: 7, 1024: 10} {
		r, err := simulate(t, mpivirt.Config{
			Target: target(t, "xt5", ranks),
			Program: mpivirt.Program{Name: "ring", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				g, err := r.World().DistGraphCreate([]int{r.Rank()}, []int{1}, []int{(r.Rank() + 1) % ranks}, nil, false)
				if err != nil {
					return err
				}
				if n := g.Neighbors(); !slices.Equal(n.Sources, []int{(r.Rank() + ranks - 1) % ranks}) {
					return fmt.Errorf("rank %d has the neighbours %+v", r.Rank(), n)
				}
				return nil
			})}},
		}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if most := 2 * levels * uint64(ranks); r.Statistics.Messages > most { // with those of the duplicate
			t.Errorf("%d ranks send %d messages, want at most %d", ranks, r.Statistics.Messages, most)
		}
	}
}
