package mpivirt_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/internal/random"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// withFanout draws a fan-out for an algorithm that takes one: its default, or another one.
func withFanout(t *rapid.T, op collectives.Operation, a collectives.Algorithm) collectives.Algorithm {
	if n := rapid.SampledFrom([]int{0, 0, 3, 4, 5, 8}).Draw(t, "fan-out"); n > 0 && collectives.FanoutOf(op, a) > 0 {
		return a.WithFanout(n)
	}
	return a
}

// windowed are algorithms that begin several messages at once.
var windowed = []struct {
	op collectives.Operation
	a  collectives.Algorithm
}{
	{collectives.Barrier, collectives.Dissemination}, {collectives.Allreduce, collectives.RecursiveMultiplying}, {collectives.Allgather, collectives.KBruck},
	{collectives.Alltoall, collectives.LinearSync},
}

// TestWindowsOverArrays: algorithms that begin several messages at once take the same times and have as many messages in bulk as by messages, however
// the simulation is hosted: on any delay model, with interfaces and memory that the ranks of a node share and without.
func TestWindowsOverArrays(t *testing.T) {
	fewer(t, 100)
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.SampledFrom(windowed).Draw(t, "operation")
		a := of.a.WithFanout(rapid.IntRange(2, 9).Draw(t, "fan-out"))
		ranks := rapid.OneOf(rapid.IntRange(2, 90), rapid.SampledFrom([]int{27, 64, 81, 128, 300})).Draw(t, "ranks")
		most := rapid.SampledFrom([]vtime.Duration{1, vtime.Microsecond, 20 * vtime.Microsecond}).Draw(t, "most computing")
		seed := rapid.Uint64().Draw(t, "seed")
		c := mpivirt.Repeated{Operation: of.op}
		if of.op != collectives.Barrier {
			c.Bytes = rapid.SampledFrom([]int64{0, 8, 700, 5000}).Draw(t, "bytes")
		}
		draw := func(of string, values ...string) string { return rapid.SampledFrom(values).Draw(t, of) }
		head := fmt.Sprintf("name: test\nranks_per_node: %s\n", draw("ranks per node", "1", "2", "3", "7", "8", "16"))
		network := ""
		switch draw("model", "twolevel", "nodes", "nodes", "flat", "hops", "factors") {
		case "nodes":
			head += fmt.Sprintf("node: {interfaces: %s, bandwidth: %s, message_gap: %s, rail: %s, memory: %s}\n", draw("interfaces", "1", "1", "2", "4"), draw("of the node", "50MB/s", "1GB/s", "9GB/s"),
				draw("message gap", "0ns", "0ns", "1ps", "333ns", "4us"), draw("rail", "local", "shared", "striped"), draw("memory", "infinite", "300MB/s", "8GB/s"))
			network = fmt.Sprintf("model: twolevel, intra: {latency: %s, bandwidth: 6GB/s}, inter: {latency: %s, bandwidth: 2GB/s}", draw("within", "1ps", "500ns"), draw("between", "1us", "5us"))
		case "twolevel":
			network = "model: twolevel, intra: {latency: 500ns, bandwidth: 6GB/s}, inter: {latency: 2us, bandwidth: 2GB/s}"
		case "hops":
			head += "topology: {kind: ring}\n"
			network = "model: hops, latency: 1us, bandwidth: 2GB/s, latency_per_hop: 123ns, memory_latency: 300ns, memory_bandwidth: 5GB/s"
		case "factors":
			network = "model: factors, intra: {latency: 1us, latency_factors: [{size: 100, factor: 0.3}]}, inter: {latency: 2us, bandwidth: 1GB/s, latency_factors: [{size: 0, factor: 1.5}, {size: 30, factor: 0.01}]}"
		default:
			network = "model: flat, latency: 2us, bandwidth: 2GB/s"
		}
		network += draw("eager limit", "", ", eager_limit: 1MiB", ", eager_limit: 1000")
		network += draw("overhead", "", ", overhead: {send: 30ns, receive: 20ns}", ", overhead: {send: 0ns, receive: 450ns}", ", overhead: {send: 1us, receive: 1us}, gap: 900ns", ", overhead: {send: 300ns, receive: 300ns}, gap: 450ns")
		network += draw("work", "", "", ", local_copy: {bandwidth: 1GB/s}, reduce: {bandwidth: 500MB/s}", ", launch: 3us", ", partners: {most: 2, above: 8B, overhead: 100ns}")
		tgt := target(t, head+"network: {"+network+"}\n", ranks)
		run := func(engines int, config mpivirt.Config) *mpivirt.Result {
			config.Target, config.Algorithms = tgt, map[collectives.Operation]collectives.Algorithm{of.op: a}
			config.Program = repeats(c, 3, func(rank, time int) vtime.Duration {
				return vtime.Duration(random.Mix(seed^uint64(rank*4+time)) % uint64(most))
			})
			result, err := simulate(t, config, engines)
			if err != nil {
				t.Fatal(err)
			}
			return result
		}
		want := run(1, mpivirt.Config{Collectives: mpivirt.Message})
		for range 3 {
			engines, host := drawBulkHost(t)
			if got := run(engines, host); got.Fingerprint != want.Fingerprint || got.Statistics.Messages != want.Statistics.Messages {
				t.Fatalf("%d engines, %+v: %v and %d messages, by messages on one engine %v and %d", engines, host, got.VirtualTime, got.Statistics.Messages, want.VirtualTime, want.Statistics.Messages)
			}
		}
	})
}

// TestEventsOfWindows: algorithms that begin several messages at once go in bulk on any number of engines, where nodes have interfaces and where they have none: the
// events of a rank do not grow with its messages.
func TestEventsOfWindows(t *testing.T) {
	const ranks, calls = 512, 3
	for _, node := range []string{"", "node: {interfaces: 1, bandwidth: 2GB/s}\n", "node: {interfaces: 2, bandwidth: 2GB/s, message_gap: 10ns, memory: 20GB/s}\n"} {
		for _, of := range windowed[:3] {
			tgt := target(t, "name: test\nranks_per_node: 8\n"+node+
				"network: {model: twolevel, intra: {latency: 500ns, bandwidth: 6GB/s}, inter: {latency: 5us, bandwidth: 2GB/s}, overhead: {send: 300ns, receive: 300ns}, gap: 300ns}\n", ranks)
			for engines := 1; engines <= 3; engines++ {
				c := mpivirt.Repeated{Operation: of.op}
				if of.op != collectives.Barrier {
					c.Bytes = 8
				}
				r, err := simulate(t, mpivirt.Config{
					Target: tgt, Algorithms: map[collectives.Operation]collectives.Algorithm{of.op: of.a.WithFanout(8)},
					Program: repeats(c, calls, func(rank, time int) vtime.Duration { return vtime.Duration(rank % 7 * time) }),
				}, engines)
				if err != nil {
					t.Fatal(err)
				}
				if each := float64(r.Statistics.Events) / (ranks * calls); each > 4 || r.Statistics.Messages < 3*7*ranks*calls {
					t.Errorf("%v by %v, %q, %d engines: %.1f events and %d messages in %d calls of %d ranks", of.op, of.a, node, engines, each, r.Statistics.Messages, calls, ranks)
				}
			}
		}
	}
}
