package mpivirt_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// exchanged is what a rank has seen of an alltoallv.
type exchanged struct {
	end   vtime.Time
	err   string
	bytes string
}

// An alltoallv takes the same time and moves the same bytes by messages and over arrays, on any engines: with most blocks
// empty, with blocks above the eager limit, with blocks that are shorter or longer than expected, on a communicator of some
// ranks, and with ranks that come late.
func TestUnevenBlocks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ranks := rapid.IntRange(2, 13).Draw(rt, "ranks")
		if rapid.IntRange(0, 9).Draw(rt, "many ranks") == 0 {
			ranks += 24 // lengths of blocks are read for sixteen rounds at a time
		}
		machine := drawMachine(rt)
		tgt := target(t, machine, ranks)
		parts := rapid.IntRange(1, 2).Draw(rt, "communicators")
		most := rapid.SampledFrom([]int{1, 20, 3000}).Draw(rt, "most bytes")
		share := rapid.IntRange(1, 100).Draw(rt, "percent of blocks")
		alike := rapid.IntRange(0, 3).Draw(rt, "alike") == 0
		count := func(name string) int {
			if rapid.IntRange(1, 100).Draw(rt, name+" there") > share && (!alike || share < 50) {
				return 0
			}
			if alike {
				return most
			}
			return rapid.IntRange(1, most).Draw(rt, name)
		}
		sends, expects, late := make([][]int, ranks), make([][]int, ranks), make([]vtime.Duration, ranks)
		for i := range ranks {
			sends[i], expects[i] = make([]int, ranks), make([]int, ranks)
			late[i] = vtime.Duration(rapid.IntRange(0, 5_000_000).Draw(rt, "late"))
		}
		wrong := rapid.Bool().Draw(rt, "counts may differ")
		for from := range ranks {
			for to := range ranks {
				if from%parts != to%parts {
					continue
				}
				sends[from][to] = count("block")
				if expects[to][from] = sends[from][to]; wrong && rapid.IntRange(0, 9).Draw(rt, "differs") == 0 {
					expects[to][from] = count("expected")
				}
			}
		}
		run := func(engines int, interpreter mpivirt.Interpreter, strict bool) ([]exchanged, *mpivirt.Result) {
			seen := make([]exchanged, ranks)
			result, err := simulate(t, mpivirt.Config{Target: tgt, Collectives: interpreter, Strict: strict, Program: mpivirt.Program{Name: "uneven", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				r.SetErrorsReturn(true)
				me := r.Rank()
				comm, err := r.World().Split(me%parts, me)
				if err != nil {
					return err
				}
				var out, in []int
				var data []byte
				room := 0
				for peer := me % parts; peer < ranks; peer += parts {
					out, in = append(out, sends[me][peer]), append(in, expects[me][peer])
					for i := range sends[me][peer] {
						data = append(data, byte(me*31+peer*7+i))
					}
					room += expects[me][peer]
				}
				for range 2 {
					r.Compute(late[me])
					got := make([]byte, room)
					err = mpivirt.Alltoallv(comm, data, out, got, in)
					if err != nil && !errors.Is(err, mpivirt.ErrTruncate) {
						return err
					}
					seen[me] = exchanged{end: r.Now(), err: fmt.Sprint(err)}
					if err == nil { // else the bytes are undefined
						seen[me].bytes = fmt.Sprint(got)
					}
					if !wrong {
						checkUneven(rt, me, parts, expects[me], got)
					}
				}
				return nil
			})}}}, engines)
			if err != nil {
				rt.Fatal(err)
			}
			return seen, result
		}
		want, first := run(1, mpivirt.Message, false)
		for engines := 1; engines <= min(ranks, 5); engines++ {
			got, result := run(engines, mpivirt.Auto, rapid.Bool().Draw(rt, "strict"))
			for rank := range want {
				if got[rank] != want[rank] {
					rt.Fatalf("%d engines: rank %d sees %v, by messages %v", engines, rank, got[rank], want[rank])
				}
			}
			if result.Fingerprint != first.Fingerprint || result.Statistics.Messages != first.Statistics.Messages {
				rt.Fatalf("%d engines: fingerprint %v and %d messages, by messages %v and %d", engines, result.Fingerprint, result.Statistics.Messages, first.Fingerprint, first.Statistics.Messages)
			}
		}
	})
}

// checkUneven compares the blocks that a rank has received with those that the others have sent.
func checkUneven(t *rapid.T, me, parts int, expects []int, got []byte) {
	at := 0
	for from := me % parts; from < len(expects); from += parts {
		for i := range expects[from] {
			if want := byte(from*31 + me*7 + i); got[at] != want {
				t.Fatalf("rank %d has %d as byte %d of the block from rank %d, want %d", me, got[at], i, from, want)
			}
			at++
		}
	}
}

// A block that is longer than expected, a rank's own included, leaves the blocks behind it as they were sent, whatever carries the
// alltoallv out.
func TestLongBlocksEndWithTheirRoom(t *testing.T) {
	const ranks = 4
	for _, machine := range []string{"name: m\nnetwork: {model: flat, latency: 1us}\n", "loggops-default"} {
		for _, algorithm := range collectives.Algorithms(collectives.Alltoallv) {
			for _, long := range []int{0, 1, 3} { // the peer, from a rank, whose block is too long
				for _, engines := range []int{1, 2} {
					for _, how := range []mpivirt.Interpreter{mpivirt.Message, mpivirt.Bulk} {
						name := fmt.Sprintf("%s, %v, block of the rank %d further on, %d engines, interpreter %d", machine, algorithm, long, engines, how)
						_, err := simulate(t, mpivirt.Config{Target: target(t, machine, ranks), Collectives: how, Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Alltoallv: algorithm},
							Program: mpivirt.Program{Name: "long", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
								r.SetErrorsReturn(true)
								me := r.Rank()
								sent, expected, data := make([]int, ranks), make([]int, ranks), []byte(nil)
								for peer := range ranks {
									if sent[peer], expected[peer] = 2, 2; peer == (me+long)%ranks {
										sent[peer] = 9
									}
									data = append(data, bytes.Repeat([]byte{byte(10*me + peer)}, sent[peer])...)
								}
								got := make([]byte, 2*ranks)
								if err := mpivirt.Alltoallv(r.World(), data, sent, got, expected); !errors.Is(err, mpivirt.ErrTruncate) {
									t.Errorf("%s: rank %d gets %v, want ErrTruncate", name, me, err)
								}
								for peer := range ranks {
									if want := byte(10*peer + me); (peer+long)%ranks != me && (got[2*peer] != want || got[2*peer+1] != want) {
										t.Errorf("%s: rank %d has %v, and rank %d sent %d", name, me, got, peer, want)
									}
								}
								return nil
							})}}}, engines)
						if err != nil {
							t.Fatalf("%s: %v", name, err)
						}
					}
				}
			}
		}
	}
}

// linearly runs a program whose ranks take their turn in one linear alltoallv, and returns when each has left it. Ranks enter an
// instant later each.
func linearly(t *testing.T, ranks, engines int, sends, expects func(me, peer int) int) ([]vtime.Time, *mpivirt.Result, error) {
	t.Helper()
	ends := make([]vtime.Time, ranks)
	result, err := simulate(t, mpivirt.Config{
		Target:     target(t, "name: m\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, overhead: {send: 200ns, receive: 300ns}}\n", ranks),
		Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Alltoallv: collectives.Linear},
		Program: mpivirt.Program{Name: "linear", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			me := r.Rank()
			out, in := make([]int, ranks), make([]int, ranks)
			var data []byte
			room := 0
			for peer := range ranks {
				out[peer], in[peer] = sends(me, peer), expects(me, peer)
				data, room = append(data, make([]byte, out[peer])...), room+in[peer]
			}
			r.Compute(vtime.Duration(me) * vtime.Second)
			err := mpivirt.Alltoallv(r.World(), data, out, make([]byte, room), in)
			ends[me] = r.Now()
			return err
		})}}}, engines)
	return ends, result, err
}

// A linear alltoallv has no messages for empty blocks, as that of Open MPI from 4.1.6 on and of MPICH (Isend and Irecv of blocks with
// elements, then Waitall): a rank without partners leaves at once, and nobody waits for ranks that send it nothing.
func TestLinearAlltoallvHasNoEmptyMessages(t *testing.T) {
	const ranks = 6
	blocks := map[[2]int]int{{0, 3}: 1000, {1, 3}: 2000, {4, 2}: 3000, {2, 1}: 1000}
	second := vtime.Time(vtime.Second)
	us := vtime.Time(vtime.Microsecond)
	want := []vtime.Time{
		us / 5,              // sends
		2*second + 25*us/10, // receives from 2: 200 ns, 1 us and 1 us, 300 ns
		4*second + 45*us/10, // receives from 4
		3*second + 2*300*vtime.Time(vtime.Nanosecond), // both messages are there
		4*second + us/5,
		5 * second, // has no partners
	}
	for engines := 1; engines <= 3; engines++ {
		ends, result, err := linearly(t, ranks, engines,
			func(me, peer int) int { return blocks[[2]int{me, peer}] }, func(me, peer int) int { return blocks[[2]int{peer, me}] })
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(ends, want) {
			t.Errorf("%d engines: ranks leave at %v, want %v", engines, ends, want)
		}
		if result.Statistics.Messages != uint64(len(blocks)) {
			t.Errorf("%d engines: %d messages, want %d", engines, result.Statistics.Messages, len(blocks))
		}
	}
}

// A block whose receiver expects an empty one fails the run, whether it comes before, while or after the receiver is in the call; an
// empty block whose receiver expects bytes is waited for.
func TestLinearAlltoallvWithOtherCounts(t *testing.T) {
	none := func(int, int) int { return 0 }
	for _, c := range []struct {
		name           string
		ranks          int
		sends, expects func(me, peer int) int
		want           string
	}{
		{"after", 3, func(me, peer int) int { return []int{0, 0, 4}[me] * (1 - peer) * (2 - peer) / 2 }, none, "rank 2 sends 4 bytes where 0 are expected"},
		{"before", 3, func(me, peer int) int { return []int{4, 0, 0}[me] * peer * (peer - 1) / 2 }, none, "rank 0 sends 4 bytes where 0 are expected"},
		{"many before", 50, func(me, peer int) int { return peer / 49 * ((50 - me) / 10) }, none, "rank 0 sends 5 bytes where 0 are expected"},
		{"missing", 3, none, func(me, peer int) int { return me / 2 * (2 - peer) }, "rank 2 waits"},
	} {
		for engines := 1; engines <= 3; engines++ {
			if _, _, err := linearly(t, c.ranks, engines, c.sends, c.expects); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %d engines: %v, want an error with %q", c.name, engines, err, c.want)
			}
		}
	}
}
