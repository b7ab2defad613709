package network

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/vtime"
)

const (
	ps = vtime.Picosecond
	ns = vtime.Nanosecond
	us = vtime.Microsecond
	ms = vtime.Millisecond
)

func mustTarget(t testing.TB, yaml string, ranks int64) *Target {
	t.Helper()
	m, err := Parse("m.yaml", []byte("name: m\n"+yaml), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(ranks)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func mustPreset(t testing.TB, name string, ranks int64) *Target {
	t.Helper()
	m, err := Load(name, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(ranks)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// The slow twin of rate.time: exact fractions. Where the terms of a rate do not fit, its bounds count.
func TestRateIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stages := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) bandwidth {
			scale := rapid.SampledFrom([]uint64{1, 1e3, 1e6, 1e7, 1e9}).Draw(t, "scale")
			return bandwidth(rapid.Uint64Range(1, 9000).Draw(t, "mantissa") * scale)
		}), 1, 3).Draw(t, "stages")
		bytes := rapid.Int64Range(0, 1<<40).Draw(t, "bytes")
		perByte := new(big.Rat)
		for _, b := range stages {
			perByte.Add(perByte, new(big.Rat).SetFrac64(int64(vtime.Second), int64(b)))
		}
		exact := new(big.Rat).Mul(big.NewRat(bytes, 1), perByte)
		got := rateOf(stages...).time(bytes)
		if new(big.Rat).SetInt64(int64(vtime.Endless)).Cmp(exact) < 0 {
			if got != vtime.Endless {
				t.Fatalf("%d bytes at %v: %d, want the longest", bytes, stages, got)
			}
			return
		}
		bound, fits := big.NewRat(1, 2), max(perByte.Num().BitLen(), perByte.Denom().BitLen()) <= 63
		if !fits { // the bounds of rateOf
			cut := new(big.Rat).Mul(perByte, big.NewRat(1, 1<<62))
			if least := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 63)); cut.Cmp(least) < 0 {
				cut = least
			}
			bound.Add(bound, cut.Mul(cut, big.NewRat(bytes, 1)))
		}
		off := new(big.Rat).Sub(exact, big.NewRat(int64(got), 1))
		off.Abs(off)
		switch off.Cmp(bound) {
		case 1:
			t.Fatalf("%d bytes at %v: %d ps, exactly %s", bytes, stages, got, exact.FloatString(3))
		case 0:
			if fits && got%2 != 0 {
				t.Fatalf("%d bytes at %v: the tie %s goes to the odd %d", bytes, stages, exact.FloatString(3), got)
			}
		}
	})
}

func TestRateBoundaries(t *testing.T) {
	if got := rateOf().time(1 << 40); got != 0 {
		t.Errorf("infinite bandwidth: %s", got)
	}
	if got := rateOf(0, 1e12, 0).time(7); got != 7*ps {
		t.Errorf("7 bytes at 1 TB/s and infinite stages: %s, want 7ps", got)
	}
	if got := rateOf(2e12).time(3); got != 2*ps {
		t.Errorf("3 bytes at 2 TB/s take 1.5 ps, to even 2: %s", got)
	}
	if got := rateOf(2e12).time(5); got != 2*ps {
		t.Errorf("5 bytes at 2 TB/s take 2.5 ps, to even 2: %s", got)
	}
	for _, b := range []bandwidth{1, 7, 8999999999999999999} {
		if got := rateOf(b).time(math.MaxInt64); got < 0 {
			t.Errorf("2^63-1 bytes at %s: %s", b, got)
		}
	}
	for _, b := range []bandwidth{1, 2, 1e3} {
		if got := rateOf(b).time(9e12); got != vtime.Endless {
			t.Errorf("9e12 bytes at %s: %s, want the longest", b, got)
		}
	}
	if got := rateOf(1).time(9_223_372); got != 9_223_372*vtime.Second {
		t.Errorf("9,223,372 bytes at 1 B/s: %s", got)
	}
	// Coprime stages, whose fraction must be cut to fit: 2^62·2/9e18 seconds, and
	// little more than one second a byte.
	if got := rateOf(8999999999999999999, 8999999999999999937).time(1 << 62); got != 1024819115206*ps {
		t.Errorf("fast stages: %d", got)
	}
	if got := rateOf(1, 8999999999999999999).time(1000); got != 1000*vtime.Second {
		t.Errorf("one slow stage: %s", got)
	}
}

// Half a round trip on aws-hpc6a, message by message, equals the measurement of
// osu_latency. It includes the overheads, and above the eager limit the request and the
// acknowledgement.
func TestHpc6aTakesWhatWasMeasured(t *testing.T) {
	target := mustPreset(t, "aws-hpc6a", 192)
	for bytes, want := range map[int64]vtime.Duration{
		1: 14730 * ns, 8: 15140 * ns, 512: 15390 * ns, 1 << 10: 15550 * ns, 2 << 10: 15810 * ns, 4 << 10: 16680 * ns,
		8 << 10: 18630 * ns, 16 << 10: 19530 * ns, 32 << 10: 21120 * ns, 64 << 10: 24270 * ns, 128 << 10: 35280 * ns,
		256 << 10: 47880 * ns, 512 << 10: 106030 * ns, 1 << 20: 221860 * ns, 2 << 20: 454030 * ns, 4 << 20: 886010 * ns,
	} {
		var sender, receiver Port
		_, leaves := target.Send(&sender, bytes, 0)
		arrival := leaves.Add(target.Delay(0, 96, bytes))
		if bytes > target.EagerLimit() {
			arrival, _ = target.Rendezvous(0, 96, bytes, 0, leaves.Add(target.Latency(0, 96)))
		}
		if got := target.Receive(&receiver, bytes, 0, 0, arrival); got != vtime.Time(want) {
			t.Errorf("%d bytes take %v, want %v", bytes, got, want)
		}
	}
}

// Values worked out by hand, beside what is computed.
func TestDelaysByHand(t *testing.T) {
	const table = `ranks_per_node: 2
network:
  model: table
  intra: [{size: 0, delay: 1us}, {size: 100, delay: 2us}, {size: 200, delay: 5us}]
  inter: [{size: 8, delay: 10us}]`
	const memory = `ranks_per_node: 2
topology: {kind: ring}
nodes: 6
network: {model: hops, latency: 10us, latency_per_hop: 1us, bandwidth: 1GB/s, memory_bandwidth: 2GB/s, memory_latency: 300ns}`
	// The factors of smpi/lat-factor and smpi/bw-factor for Griffon at 24 us and 125 MB/s, of which some are left out.
	const factors = `ranks_per_node: 2
network:
  model: factors
  intra: {latency: 3ps, bandwidth: 2TB/s, latency_factors: [{size: 10, factor: 0.5}, {size: 12, factor: 0.1}], bandwidth_factors: [{size: 10, factor: 2}]}
  inter:
    latency: 24us
    bandwidth: 125MB/s
    latency_factors: [{size: 0, factor: 2.01467}, {size: 1426, factor: 1.61075}]
    bandwidth_factors: [{size: 1426, factor: 0.608902}]`
	smpi := mustTarget(t, factors, 4)
	xt5 := mustPreset(t, "xt5", 48)
	tianhe := mustPreset(t, "vaced-sim", 1000)
	star := mustPreset(t, "gigabit-star", 4)
	frontier := mustPreset(t, "frontier", 64*600)
	frontera := mustPreset(t, "frontera", 56*50)
	hpc6a := mustPreset(t, "aws-hpc6a", 200)
	lumi := mustPreset(t, "lumi", 64*100)
	leonardo := mustPreset(t, "leonardo", 32*400)
	// A torus of 5·5·4.
	fugaku := mustPreset(t, "fugaku", 48*12*8)
	for _, c := range []struct {
		name     string
		target   *Target
		src, dst int
		bytes    int64
		want     vtime.Duration
	}{
		{"gigabit-star, 50 us + 1500·8 ns", star, 0, 3, 1500, 62 * us},
		{"gigabit-star, to itself", star, 2, 2, 0, 50 * us},
		{"xt5, one node, 0.5 us + 6000 B / 6 GB/s", xt5, 0, 11, 6000, 1500 * ns},
		{"xt5, two nodes, 5 us + 6000 B / 2 GB/s", xt5, 11, 12, 6000, 8 * us},
		{"vaced-sim, one node: 0.5 us, memory twice", tianhe, 0, 11, 6380, 2500 * ns},
		{"vaced-sim, one board: 15 us + 3·0.6 us", tianhe, 0, 12, 0, 16800 * ns},
		{"vaced-sim, last node of the board", tianhe, 0, 191, 0, 16800 * ns},
		{"vaced-sim, next board: 15 us + 5·0.6 us", tianhe, 0, 192, 0, 18 * us},
		{"vaced-sim, 1000·(1/6.38 + 1/4.16) = 397.12443… ns", tianhe, 0, 192, 1000, 18*us + 397124*ps},
		{"hops, one node, no bytes: the least", mustTarget(t, "ranks_per_node: 2\ntopology: {kind: ring}\nnetwork: {model: hops, latency: 1us, latency_per_hop: 1us}", 2), 0, 1, 0, 1 * ps},
		{"frontier, one node, 0.192 us + 20900 B / 20.9 GB/s", frontier, 0, 63, 20900, 1192 * ns},
		{"frontier, two nodes, a command of the interface", frontier, 0, 64 * 599, 192, 2750 * ns},
		{"frontier, two nodes, a byte more", frontier, 0, 64 * 599, 193, 3750 * ns},
		{"lumi: 3.07 us with overheads of 0.25 us", lumi, 0, 64, 32, 2570 * ns},
		{"leonardo, one leaf: 0.75 + 0.45 us", leonardo, 0, 15 * 32, 8, 1200 * ns},
		{"leonardo, one cell: 0.75 + 3·0.45 us", leonardo, 0, 16 * 32, 8, 2100 * ns},
		{"leonardo, two cells: 0.75 + 5·0.45 us", leonardo, 0, 176 * 32, 8, 3 * us},
		{"tianhe-1a, one board: 1.57 us with overheads of 0.3 us", mustPreset(t, "tianhe-1a", 1000), 0, 12, 0, 970 * ns},
		{"xsim-star, 50 us + 8 bytes at 1 Gbit/s: 100.1 us there and back", mustPreset(t, "xsim-star", 2), 0, 1, 8, 50064 * ns},
		{"frontera, one node, 0.2 us + 8000 B / 8 GB/s", frontera, 0, 55, 8000, 1200 * ns},
		{"frontera, two nodes, 0.8 us + 12300 B / 12.3 GB/s", frontera, 0, 56, 12300, 1800 * ns},
		{"aws-hpc6a, one node", hpc6a, 0, 95, 0, 10 * ns},
		{"aws-hpc6a, one node, halfway from 128 KiB to 1 MiB", hpc6a, 0, 95, 1<<19 + 1<<16, 36800 * ns},
		{"aws-hpc6a, two nodes, measured 24.27 us less 1.5 us", hpc6a, 0, 96, 65536, 22770 * ns},
		{"aws-hpc6a, two nodes, 886.01 us less 1.5 us and 2·13.23 us", hpc6a, 0, 96, 4 << 20, 858050 * ns},
		{"fugaku, one node, 0.4 us + 4000 B / 20 GB/s", fugaku, 0, 47, 4000, 600 * ns},
		{"fugaku, next node: 0.1 us + 0.1 us", fugaku, 0, 48, 8, 200 * ns},
		{"fugaku, 2 + 2 + 2 hops to the middle of the torus of 5·5·4", fugaku, 0, (2*20 + 2*4 + 2) * 48, 256, 1250 * ns},
		{"table, at a point", mustTarget(t, table, 4), 0, 1, 100, 2 * us},
		{"table, between two", mustTarget(t, table, 4), 0, 1, 150, 3500 * ns},
		{"table, just beyond a point", mustTarget(t, table, 4), 0, 1, 103, 2090 * ns},
		{"table, beyond the last: 30 ns a byte", mustTarget(t, table, 4), 0, 1, 300, 8 * us},
		{"table, before the first", mustTarget(t, table, 4), 0, 2, 3, 10 * us},
		{"table, one point is constant", mustTarget(t, table, 4), 0, 2, 1 << 20, 10 * us},
		{"hops, one node: 300 ns + 2·1000 B / 2 GB/s", mustTarget(t, memory, 12), 0, 1, 1000, 1300 * ns},
		{"hops, 2 of the ring: 10 + 2 + 0.5 + 1 us", mustTarget(t, memory, 12), 0, 9, 1000, 13500 * ns},
		{"factors, 24 us · 2.01467", smpi, 0, 2, 0, 48352080 * ps},
		{"factors, the last byte before a factor: 1425 · 8 ns more", smpi, 0, 2, 1425, 48352080*ps + 11400*ns},
		{"factors, 24 us · 1.61075 + 1426 · 8 ns / 0.608902 = 18735.3629… ns", smpi, 0, 2, 1426, 38658*ns + 18735363*ps},
		{"factors, to itself, 1 below the first: 3 ps + 9 · 0.5 ps, to even 4", smpi, 2, 2, 9, 7 * ps},
		{"factors, half of 3 ps to even 2 + 10 · 0.25 ps to even 2", smpi, 0, 1, 10, 4 * ps},
		{"factors, a tenth of 3 ps counts as 1 + 12 · 0.25 ps", smpi, 0, 1, 12, 4 * ps},
		{"three bytes at 6 GB/s are 500 ps, rounded once", xt5, 0, 1, 3, 500*ns + 500*ps},
		{"one byte at 6 GB/s is 166.67 ps", xt5, 0, 1, 1, 500*ns + 167*ps},
	} {
		if got := c.target.Delay(c.src, c.dst, c.bytes); got != c.want {
			t.Errorf("%s: delay(%d, %d, %d) = %s, want %s", c.name, c.src, c.dst, c.bytes, got, c.want)
		}
	}
}

// "hops 0/3/5 for same 12-core node, same 192-core board, else".
func TestTianheHops(t *testing.T) {
	target := mustPreset(t, "vaced-sim", 5000)
	for a := 0; a < 5000; a += 7 {
		for b := 0; b < 5000; b += 131 {
			want := 5
			switch {
			case a/12 == b/12:
				want = 0
			case a/192 == b/192:
				want = 3
			}
			if got := target.Hops(target.Node(a), target.Node(b)); got != want {
				t.Fatalf("ranks %d and %d: %d hops, want %d", a, b, got, want)
			}
		}
	}
}

// Every shift over few ranks, to cover every remainder.
func TestDelaysOfAllShifts(t *testing.T) {
	const ranks = 20
	for _, network := range []string{
		"{model: flat, latency: 1us, bandwidth: 3GB/s}",
		"{model: twolevel, intra: {latency: 1us, bandwidth: 3GB/s}, inter: {latency: 2us, bandwidth: 7GB/s}}",
		"{model: hops, latency: 1us, latency_per_hop: 1us, bandwidth: 3GB/s, memory_bandwidth: 7GB/s}",
		"{model: loggops, L: 1us, o: 1us, g: 1us, G: 1ns}",
		"{model: flat, latency: 1us, bandwidth: 3GB/s, local_copy: {bandwidth: 1MB/s}}",
		"{model: twolevel, intra: {latency: 1us, bandwidth: 3GB/s}, inter: {latency: 2us, bandwidth: 7GB/s}, local_copy: {bandwidth: 1MB/s}}",
		"{model: levels, levels: [{name: socket, ranks: 2, latency: 1us, bandwidth: 3GB/s}, {name: node, latency: 2us}, {name: leaf, nodes: 2, latency: 3us}, {name: machine, latency: 4us}]}",
		"{model: levels, latency_per_hop: 10ns, levels: [{name: socket, ranks: 2, latency: 1us, bandwidth: 3GB/s}, {name: node, latency: 2us}, {name: leaf, nodes: 2, latency: 3us}, {name: machine, latency: 4us}]}",
		"{model: flat, latency_per_hop: 10ns, latency: 1us, bandwidth: 3GB/s}",
		"{model: loggops, latency_per_hop: 10ns, L: 1us, o: 1us, g: 1us, G: 1ns}",
	} {
		topology := "ring"
		if !strings.Contains(network, "per_hop") {
			topology = "star"
		}
		for _, mapping := range []string{"block", "cyclic", "random:3"} {
			for perNode := 1; perNode <= 5; perNode++ {
				target := mustTarget(t, fmt.Sprintf("ranks_per_node: %d\nmapping: %s\ntopology: {kind: %s}\nnetwork: %s", perNode, mapping, topology, network), ranks)
				for shift := range ranks * ranks {
					src, dst := shift/ranks, shift%ranks
					out := make([]vtime.Duration, ranks-max(src, dst))
					target.Delays(src, dst, 1000, out)
					for j, got := range out {
						if want := target.Delay(src+j, dst+j, 1000); got != want {
							t.Fatalf("%s, %s, %d a node: out[%d] = %s, but the delay from %d to %d is %s", network, mapping, perNode, j, got, src+j, dst+j, want)
						}
					}
				}
			}
		}
	}
}

// Nodes that are no hops apart have the delay of ranks of one node, which may be longer
// than that of one hop.
func TestLookaheadOverNoHops(t *testing.T) {
	const ranks = 12
	target := mustTarget(t, `topology: {kind: hierarchy, levels: [{size: 2, hops: 0}, {hops: 1}]}
mapping: cyclic
network: {model: hops, latency: 1us, latency_per_hop: 1us, memory_latency: 4us}`, ranks)
	if got := target.Latency(0, 1); got != 4*us {
		t.Errorf("no hops: %s, want 4us", got)
	}
	if got := target.Lookahead(0, 6, 6, ranks); got != 2*us {
		t.Errorf("lookahead %s, want the 2us of one hop", got)
	}
}

// Lookahead against all pairs. It is exact where its documentation says so. TestLookaheadOfFactors
// holds the least delay of any size.
func TestLookaheadIsBelowEveryPair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		target := drawTarget(t)
		span := func(name string) (lo, hi int) {
			lo = rapid.IntRange(0, target.Ranks()).Draw(t, name)
			return lo, rapid.IntRange(lo, target.Ranks()).Draw(t, name)
		}
		join := vtime.Duration(math.MaxInt64)
		if rapid.Bool().Draw(t, "joins") {
			join = vtime.Duration(rapid.Int64Range(0, 2_000_000).Draw(t, "join"))
			target.join, target.joins = measuredPath([]measurement{{0, join}}), true
			join = max(join, 1)
		}
		loA, hiA := span("a")
		loB, hiB := span("b")
		least := vtime.Duration(math.MaxInt64)
		for a := loA; a < hiA; a++ {
			for b := loB; b < hiB; b++ {
				least = min(least, target.Latency(a, b))
				if target.Node(a) == target.Node(b) {
					least = min(least, join)
				}
			}
		}
		got := target.Lookahead(loA, hiA, loB, hiB)
		_, isBlocks := target.paths.layout.(blocks)
		_, isCycle := target.paths.layout.(cycle)
		knowsNodes := isBlocks || isCycle
		exact := target.paths.scope == everywhere && (!target.joins || knowsNodes) || target.paths.scope == byNode && knowsNodes
		exact = exact && !target.LatencyBySize() // where messages with bytes may take less than the latency
		if got > least || got < 1 || exact && got != least {
			t.Fatalf("lookahead [%d,%d) to [%d,%d) is %s, the least latency %s (%s, %s)", loA, hiA, loB, hiB, got, least, target.Machine().Model(), target.Machine().Mapping())
		}
	})
}

// A join takes what the machine gives it, and else what a message within the node takes.
func TestJoinByHand(t *testing.T) {
	const twoLevels = "name: m\nranks_per_node: 4\nnetwork:\n  model: twolevel\n  intra: {latency: 300ns, bandwidth: 1GB/s}\n  inter: {latency: 5us}\n  overhead: {send: 1us, receive: 1us}\n"
	for _, c := range []struct {
		join  string
		bytes int64
		want  vtime.Duration
	}{
		{"", 0, 300 * ns}, {"", 1000, 1300 * ns},
		{"  join: [{size: 0, delay: 40ns}]\n", 0, 40 * ns}, {"  join: [{size: 0, delay: 40ns}]\n", 1 << 20, 40 * ns},
		{"  join: [{size: 0, delay: 0}]\n", 0, 1},
		{"  join: [{size: 0, delay: 40ns}, {size: 100, delay: 60ns}, {size: 1000, delay: 1us}]\n", 50, 50 * ns},
		{"  join: [{size: 0, delay: 40ns}, {size: 100, delay: 60ns}, {size: 1100, delay: 1.06us}]\n", 2100, 2060 * ns},
	} {
		m, err := Parse("m", []byte(twoLevels+c.join), nil)
		if err != nil {
			t.Fatal(err)
		}
		target, err := m.Target(8)
		if err != nil {
			t.Fatal(err)
		}
		if got := target.Join(c.bytes); got != c.want {
			t.Errorf("%q: a join of %d bytes takes %v, want %v", c.join, c.bytes, got, c.want)
		}
	}
}

// A block of a rank's own takes what the machine gives it, by a bandwidth or by size, and the file in
// normal form says the same.
func TestLocalCopyByHand(t *testing.T) {
	const table = "{size: 8, delay: 40ns}, {size: 108, delay: 60ns}, {size: 1108, delay: 1.06us}"
	for _, c := range []struct {
		copies string
		bytes  int64
		want   vtime.Duration
	}{
		{"", 1 << 30, 0}, {"local_copy: {bandwidth: 8GB/s}", 1000, 125 * ns}, {"local_copy: {bandwidth: 8GB/s}", 0, 0},
		{"local_copy: [" + table + "]", 0, 0}, {"local_copy: [" + table + "]", 1, 40 * ns}, {"local_copy: [" + table + "]", 58, 50 * ns},
		{"local_copy: [" + table + "]", 2108, 2060 * ns}, {"local_copy: [{size: 0, delay: 0}]", 1, 1},
	} {
		m, err := Parse("m", []byte("name: m\nnetwork: {model: flat, latency: 1us, "+c.copies+"}"), nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("m", m.YAML(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*Machine{m, again} {
			target, err := m.Target(2)
			if err != nil {
				t.Fatal(err)
			}
			if got := target.LocalCopyTime(c.bytes); got != c.want {
				t.Errorf("%q: a block of %d bytes takes %v, want %v", c.copies, c.bytes, got, c.want)
			}
		}
	}
	for _, wrong := range []string{"[]", "4GB/s", "[{size: 8, delay: 2us}, {size: 9, delay: 1us}]", "{}"} {
		if _, err := Parse("m", []byte("name: m\nnetwork: {model: flat, latency: 1us, local_copy: "+wrong+"}"), nil); err == nil || !strings.Contains(err.Error(), "local_copy") {
			t.Errorf("local_copy %s: %v", wrong, err)
		}
	}
}

// A message of a rank to itself takes the time of a copy, but no less than its latency; others of the
// node, and joins, do not.
func TestMessageToOneselfByHand(t *testing.T) {
	target := mustTarget(t, "ranks_per_node: 2\nnetwork: {model: twolevel, intra: {latency: 1us, bandwidth: 2GB/s}, inter: {latency: 5us, bandwidth: 1GB/s}, local_copy: {bandwidth: 1GB/s}}", 4)
	for bytes, want := range map[int64]vtime.Duration{0: us, 999: us, 3000: 3 * us} {
		if got := target.Delay(1, 1, bytes); got != want {
			t.Errorf("%d bytes to oneself take %v, want %v", bytes, got, want)
		}
		within := us + vtime.Duration(bytes)*ns/2
		if got, join := target.Delay(0, 1, bytes), target.Join(bytes); got != within || join != within {
			t.Errorf("%d bytes within the node take %v, a join %v, want %v", bytes, got, join, within)
		}
	}
	if got := target.LongestDelay(1 << 30); got < target.LocalCopyTime(1<<30) {
		t.Errorf("the longest delay is %v", got)
	}
	slow := mustTarget(t, "network: {model: flat, latency: 1us, bandwidth: 2GB/s, local_copy: {bandwidth: 1MB/s}}", 2)
	if own, longest, from := slow.Delay(0, 0, 1000), slow.LongestDelay(1000), slow.UniformFrom(); own != 1000*us || longest != own || from != 1 {
		t.Errorf("1000 bytes to oneself take %v, the longest delay is %v; uniform from %d", own, longest, from)
	}
	without := mustTarget(t, "network: {model: flat, latency: 1us, bandwidth: 2GB/s}", 2)
	if got := without.Delay(0, 0, 1000); got != 1500*ns || without.UniformFrom() != 0 {
		t.Errorf("without a copy 1000 bytes to oneself take %v", got)
	}
	loggops := "network: {model: loggops, L: 1us, o: 1us, g: 1us, G: 1ns%s}"
	if got, want := mustTarget(t, fmt.Sprintf(loggops, ", local_copy: {bandwidth: 1MB/s}"), 2).Delay(0, 0, 1000), mustTarget(t, fmt.Sprintf(loggops, ""), 2).Delay(0, 0, 1000); got != want {
		t.Errorf("under loggops 1000 bytes to oneself take %v, want %v", got, want)
	}
}

// Partitions on different boards of Tianhe-1A see the latency of 5 hops.
func TestLookaheadKnowsBoards(t *testing.T) {
	target := mustPreset(t, "vaced-sim", 192*8)
	if got := target.Lookahead(0, 192*4, 192*4, 192*8); got != 18*us {
		t.Errorf("between boards: %s, want 18us", got)
	}
	if got := target.Lookahead(96, 192, 0, 96); got != 16800*ns {
		t.Errorf("between the halves of a board: %s, want 16.8us", got)
	}
}

func TestGeneralFields(t *testing.T) {
	target := mustTarget(t, `network: {model: flat, latency: 1us, eager_limit: 64KiB, reduce: {bandwidth: 4GB/s}, local_copy: {bandwidth: 8GB/s}, poll: 30ns}`, 2)
	if got := target.EagerLimit(); got != 65536 {
		t.Errorf("eager limit %d", got)
	}
	if got := target.ReduceTime(1000); got != 250*ns {
		t.Errorf("reducing 1000 bytes at 4 GB/s takes %s", got)
	}
	if got := target.LocalCopyTime(1000); got != 125*ns {
		t.Errorf("copying 1000 bytes at 8 GB/s takes %s", got)
	}
	if got := target.PollTime(); got != 30*ns {
		t.Errorf("poll time %s", got)
	}
	bare := mustTarget(t, `network: {model: flat, latency: 1us}`, 2)
	if bare.EagerLimit() != math.MaxInt64 || bare.ReduceTime(1<<30) != 0 || bare.LocalCopyTime(1<<30) != 0 || bare.PollTime() != 100*ns || bare.LogGOPS() != nil {
		t.Errorf("defaults: %d, %s, %s, %v", bare.EagerLimit(), bare.ReduceTime(1<<30), bare.PollTime(), bare.LogGOPS())
	}
	const twolevel = "ranks_per_node: 12\nnetwork: {model: twolevel, intra: {latency: 1us}, inter: {latency: 2us}}"
	for name, c := range map[string]struct {
		target *Target
		want   int
	}{
		"twolevel": {mustTarget(t, twolevel, 100), 12}, "twolevel with interfaces": {mustTarget(t, "node: {bandwidth: 1GB/s}\n"+twolevel, 100), 12},
		"vaced-sim": {mustPreset(t, "vaced-sim", 100), 100}, "xsim-star": {mustPreset(t, "xsim-star", 100), 0},
		"loggops-default": {mustPreset(t, "loggops-default", 100), 100},
	} {
		if got, want := c.target.UniformFrom(), c.want; got != want {
			t.Errorf("%s is uniform from distance %d, want %d", name, got, want)
		}
	}
	if got := mustPreset(t, "loggops-default", 2).EagerLimit(); got != 65535 {
		t.Errorf("S of loggops-default: %d", got)
	}
}

func BenchmarkDelays(b *testing.B) {
	out := make([]vtime.Duration, 1<<16)
	for _, c := range []struct {
		name, yaml string
		shift      int
	}{
		{"flat", "network: {model: flat, latency: 1us, bandwidth: 3GB/s}", 1},
		{"twolevel", "ranks_per_node: 12\nnetwork: {model: twolevel, intra: {latency: 1us}, inter: {latency: 2us}}", 1},
		{"twolevel-far", "ranks_per_node: 12\nnetwork: {model: twolevel, intra: {latency: 1us}, inter: {latency: 2us}}", 1 << 17},
		{"twolevel-two", "ranks_per_node: 2\nnetwork: {model: twolevel, intra: {latency: 1us}, inter: {latency: 2us}}", 1},
		{"cyclic", "ranks_per_node: 12\nmapping: cyclic\nnetwork: {model: twolevel, intra: {latency: 1us}, inter: {latency: 2us}}", 1},
		{"hops-torus", "ranks_per_node: 12\ntopology: {kind: torus, dimensions: 3}\nnetwork: {model: hops, latency: 1us, latency_per_hop: 1us}", 1 << 17},
	} {
		target := mustTarget(b, c.yaml, 1<<24)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				target.Delays(12345, 12345+c.shift, 64, out)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(out)), "ns/delay")
		})
	}
}

func BenchmarkDelay(b *testing.B) {
	for _, name := range []string{"gigabit-star", "xt5", "vaced-sim"} {
		target := mustPreset(b, name, 1<<30)
		b.Run(name, func(b *testing.B) {
			src := 0
			for b.Loop() {
				src = (src + 7919) & (1<<29 - 1)
				target.Delay(src, src+1<<20, 1000)
			}
		})
	}
}

func ExampleTarget_Delay() {
	m, err := Load("xt5", os.ReadFile)
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := m.Target(1_000_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Nodes(), "nodes")
	fmt.Println(t.Delay(0, 11, 1024), "on one node")
	fmt.Println(t.Delay(0, 12, 1024), "between two")
	// Output:
	// 83334 nodes
	// 670.667ns on one node
	// 5.512us between two
}

// A step of a table is latency: messages behind each other pass at the bandwidth of the longest ones, which is the last slope, and never
// take more of the path than their transfer. At 1,000 B past the last row: 1 us for 1,000 B.
func TestOccupancyOfTables(t *testing.T) {
	const rows = "[{size: 8, delay: 1us}, {size: 192, delay: 1us}, {size: 193, delay: 3us}, {size: 1193, delay: 4us}]"
	for _, model := range []string{"model: table, intra: " + rows + ", inter: " + rows, "model: levels, levels: [{name: node, delays: " + rows + "}, {name: machine, delays: " + rows + "}]"} {
		m, err := Parse("m", []byte("name: m\nnetwork: {"+model+"}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		target, err := m.Target(4)
		if err != nil {
			t.Fatal(err)
		}
		for bytes, want := range map[int64]vtime.Duration{0: 0, 8: 0, 192: 0, 193: 193_000, 593: 593_000, 1193: 1193_000, 2193: 2193_000} {
			if got := target.Occupancy(0, 1, bytes, target.Transfer(0, 1, bytes)); got != want {
				t.Errorf("%s: %d bytes take %v of the path, not %v", model, bytes, got, want)
			}
		}
	}
}
