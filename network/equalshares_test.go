package network

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"gigarank/vtime"
)

// The shares of messages, worked out by hand: three ranks a node, and 1,000 bytes that take 1 us at 1 GB/s.
func TestEqualSharesByHand(t *testing.T) {
	const network = "network: {model: twolevel, intra: {latency: 100ns, bandwidth: 10GB/s}, inter: {latency: 2us, bandwidth: %s}}\n"
	for _, c := range []struct {
		node, bandwidth string
		src, dst        int
		want            vtime.Duration
	}{
		{"", "500MB/s", 0, 3, 4 * vtime.Microsecond},                                                                            // no interfaces: alone
		{"node: {bandwidth: 1GB/s}\n", "4GB/s", 0, 3, 5 * vtime.Microsecond},                                                    // behind two others, 1 us each
		{"node: {bandwidth: 1GB/s}\n", "500MB/s", 0, 3, 6 * vtime.Microsecond},                                                  // its own bytes take 2 us on the path
		{"node: {bandwidth: 1GB/s}\n", "4GB/s", 7, 1, 5 * vtime.Microsecond},                                                    // from the last node, which has two ranks
		{"node: {bandwidth: 1GB/s, message_gap: 100ns}\n", "4GB/s", 0, 3, 5*vtime.Microsecond + 200*vtime.Nanosecond},           // two gaps
		{"node: {interfaces: 2, bandwidth: 1GB/s}\n", "4GB/s", 0, 3, 4 * vtime.Microsecond},                                     // two ranks at the fuller interface
		{"node: {interfaces: 2, bandwidth: 1GB/s, rail: striped}\n", "4GB/s", 0, 3, 3*vtime.Microsecond + 500*vtime.Nanosecond}, // three messages of 0.5 us each
		{"node: {interfaces: 8, bandwidth: 1GB/s, rail: shared}\n", "4GB/s", 0, 3, 3 * vtime.Microsecond},                       // an interface each
		{"node: {bandwidth: 1GB/s}\n", "4GB/s", 0, 2, 200 * vtime.Nanosecond},                                                   // within a node whose memory sets no limit
		{"node: {memory: 10GB/s}\n", "4GB/s", 0, 2, 700 * vtime.Nanosecond},                                                     // the memory reads and writes 3,000 bytes
		{"node: {memory: 100GB/s}\n", "4GB/s", 0, 2, 200 * vtime.Nanosecond},                                                    // faster than the ranks
	} {
		m, err := Parse("m", fmt.Appendf(nil, "name: m\nranks_per_node: 3\n"+c.node+network, c.bandwidth), nil)
		if err != nil {
			t.Fatal(err)
		}
		target, err := m.Target(8)
		if err != nil {
			t.Fatal(err)
		}
		shares := target.EqualShares()
		if got := shares.Delay(c.src, c.dst, 1000); got != c.want {
			t.Errorf("%sbandwidth %s: 1,000 bytes from %d to %d take %v, want %v", c.node, c.bandwidth, c.src, c.dst, got, c.want)
		}
		if shares.Contended() || shares.Shares(c.src, c.dst) || shares.EqualShares() != shares {
			t.Errorf("%s: messages of equal shares delay each other", c.node)
		}
	}
}

// Messages of equal shares keep the laws of delays: no bytes add no time, more bytes never arrive sooner, no delay is below that of a message alone or
// above the longest, and beyond the uniform distance all pairs are alike. That also holds in rounds in which all send, and among many partners.
func TestEqualSharesKeepTheLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		draw := func(of string, values ...string) string { return rapid.SampledFrom(values).Draw(r, of) }
		text := fmt.Sprintf("name: m\nranks_per_node: %d\nmapping: %s\nnode: {interfaces: %d, bandwidth: %s, message_gap: %s, rail: %s, memory: %s}\n%s",
			rapid.IntRange(1, 6).Draw(r, "ranks per node"), draw("mapping", "block", "cyclic"), rapid.IntRange(1, 3).Draw(r, "interfaces"),
			draw("bandwidth", "1GB/s", "20GB/s"), draw("gap", "0ns", "100ns"), draw("rail", "local", "shared", "striped"), draw("memory", "infinite", "3GB/s"),
			draw("network",
				"network: {model: twolevel, intra: {latency: 100ns, bandwidth: 10GB/s}, inter: {latency: 2us, bandwidth: 4GB/s}, partners: {most: 2, overhead: 1us}}\n",
				"network: {model: flat, latency: 1us, bandwidth: 4GB/s}\n",
				"topology: {kind: torus, dimensions: 1}\nnetwork: {model: twolevel, intra: {latency: 100ns, bandwidth: 10GB/s}, inter: {latency: 2us, bandwidth: 4GB/s}, congestion: {bandwidth: 5GB/s}}\n"))
		m, err := Parse("m", []byte(text), nil)
		if err != nil {
			r.Fatal(err)
		}
		ranks := rapid.OneOf(rapid.IntRange(2, 30), rapid.IntRange(100, 400)).Draw(r, "ranks")
		alone, err := m.Target(int64(ranks))
		if err != nil {
			r.Fatal(err)
		}
		shares := alone.EqualShares()
		for _, pair := range [][2]*Target{{alone, shares}, {alone.Congested(), shares.Congested()}, {alone.Among(5, false, 9), shares.Among(5, false, 9)}} {
			alone, shares := pair[0], pair[1]
			src, bytes := rapid.IntRange(0, ranks-1).Draw(r, "source"), rapid.Int64Range(0, 1<<20).Draw(r, "bytes")
			dst := (src + rapid.IntRange(1, ranks-1).Draw(r, "distance")) % ranks
			d := shares.Delay(src, dst, bytes)
			switch {
			case shares.Delay(src, dst, 0) != alone.Delay(src, dst, 0):
				r.Fatalf("%sno bytes from %d to %d take %v, alone %v", text, src, dst, shares.Delay(src, dst, 0), alone.Delay(src, dst, 0))
			case d < alone.Delay(src, dst, bytes) || d > shares.Delay(src, dst, bytes+1000) || d > shares.LongestDelay(bytes):
				r.Fatalf("%s%d bytes from %d to %d take %v, alone %v, more bytes %v, at most %v", text, bytes, src, dst, d, alone.Delay(src, dst, bytes), shares.Delay(src, dst, bytes+1000), shares.LongestDelay(bytes))
			case shares.Overhead() != alone.Overhead():
				r.Fatalf("%soverhead %v, alone %v", text, shares.Overhead(), alone.Overhead())
			}
			many := make([]vtime.Duration, rapid.IntRange(1, 300).Draw(r, "pairs"))
			many = many[:min(len(many), ranks-max(src, dst))]
			shares.Delays(src, dst, bytes, many)
			for j, got := range many {
				if want := shares.Delay(src+j, dst+j, bytes); got != want {
					r.Fatalf("%s%d bytes from %d to %d take %v among others, %v alone", text, bytes, src+j, dst+j, got, want)
				}
			}
			if from := shares.UniformFrom(); from < ranks {
				a := rapid.IntRange(0, ranks-1-from).Draw(r, "a")
				b := rapid.IntRange(a+from, ranks-1).Draw(r, "b")
				if got, want := shares.Delay(a, b, bytes), shares.Delay(0, ranks-1, bytes); got != want && ranks-1 >= from && from > 0 {
					r.Fatalf("%s%d bytes from %d to %d take %v, from 0 to %d %v", text, bytes, a, b, got, ranks-1, want)
				}
			}
		}
	})
}
