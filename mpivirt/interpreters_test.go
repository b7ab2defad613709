package mpivirt_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gigarank/collectives"
	"gigarank/internal/random"
	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/sync"
	"gigarank/vtime"
)

// scenario is a program that makes one collective after the other, with nothing
// between them but computing, on WORLD and on parts of it.
type scenario struct {
	Machine    string
	Ranks      int
	Algorithms map[collectives.Operation]collectives.Algorithm
	Splits     []split
	Steps      []step
	Key        uint64
}

// split makes a communicator out of an earlier one.
type split struct {
	Of     int // 0 is WORLD, i the communicator of split i-1
	Colors int // how many
	How    string
}

// step is one collective.
type step struct {
	Op          collectives.Operation
	On          int // as split.Of
	Root, Count int
	SizeOnly    bool
	Whole       bool
	Nonblocking bool
	Together    bool           // waits for the requests of earlier steps, too
	Spread      vtime.Duration // ranks enter within so long
}

// observation is something that a rank sees.
type observation struct {
	step int
	what string
	bits uint64
}

// color returns the color and the key that a rank gives.
func (s split) color(key uint64, rank int) (color, order int) {
	switch s.How {
	case "rows":
		return rank / s.Colors, rank
	case "columns":
		return rank % s.Colors, rank
	case "reversed":
		return rank % s.Colors, -rank
	}
	color = random.Intn(key, uint64(rank), 1, s.Colors+1) - 1
	if color < 0 {
		color = mpivirt.Undefined
	}
	return color, random.Intn(key, uint64(rank), 2, 5)
}

// rankRun is one rank on its way through a scenario.
type rankRun struct {
	s       *scenario
	r       *mpivirt.Rank
	seen    []observation
	comms   []*mpivirt.Comm
	pending []pendingStep
}

type pendingStep struct {
	step    int
	request mpivirt.Request
	x       exercise
	a       *arguments
	member  int
}

func (u *rankRun) see(step int, what string, bits uint64) {
	u.seen = append(u.seen, observation{step, what, bits})
}

func (u *rankRun) run() error {
	u.comms = []*mpivirt.Comm{u.r.World()}
	for i, sp := range u.s.Splits {
		var made *mpivirt.Comm
		if of := u.comms[sp.Of]; of != nil {
			color, order := sp.color(u.s.Key+uint64(i), of.Rank())
			var err error
			if made, err = of.Split(color, order); err != nil {
				return err
			}
			u.see(-1-i, "split", uint64(u.r.Now()))
		}
		u.comms = append(u.comms, made)
	}
	for i := range u.s.Steps {
		if err := u.step(i); err != nil {
			return err
		}
	}
	return u.wait()
}

func (u *rankRun) step(i int) error {
	st := &u.s.Steps[i]
	if st.Spread > 0 {
		u.r.Compute(vtime.Duration(random.Intn(u.s.Key, uint64(u.r.Rank()), uint64(i)<<8|7, int(st.Spread))))
	}
	c := u.comms[st.On]
	if c == nil {
		return nil
	}
	x := exercise{op: st.Op, members: c.Size(), root: st.Root % c.Size(), count: st.Count, key: u.s.Key + uint64(i), whole: st.Whole}
	if !st.Op.Rooted() {
		x.root = 0
	}
	if st.SizeOnly {
		err := c.CollectiveSize(st.Op, int64(st.Count), x.root)
		u.see(i, "exit", uint64(u.r.Now()))
		return err
	}
	a := x.arguments(c.Rank())
	if st.Nonblocking {
		q, err := a.begin(c)
		u.see(i, "begun", uint64(u.r.Now()))
		u.pending = append(u.pending, pendingStep{i, q, x, a, c.Rank()})
		if err != nil || !st.Together {
			return err
		}
		return u.wait()
	}
	if err := a.call(c); err != nil {
		return err
	}
	u.see(i, "exit", uint64(u.r.Now()))
	return u.check(i, x, a, c.Rank())
}

// wait completes what has been begun.
func (u *rankRun) wait() error {
	for i := range u.pending {
		p := &u.pending[i]
		if _, err := p.request.Wait(); err != nil {
			return err
		}
		u.see(p.step, "exit", uint64(u.r.Now()))
		if err := u.check(p.step, p.x, p.a, p.member); err != nil {
			return err
		}
	}
	u.pending = nil
	return nil
}

// check notes what a collective gave, and holds it against the definition.
func (u *rankRun) check(i int, x exercise, a *arguments, member int) error {
	if !u.r.HasContents() {
		return nil
	}
	for _, v := range a.receive {
		u.see(i, "value", math.Float64bits(v))
	}
	switch x.op {
	case collectives.Reduce, collectives.Allreduce, collectives.ReduceScatter, collectives.Scan, collectives.Exscan:
		if !x.whole {
			return nil
		}
	}
	if want := x.result(member); !slices.Equal(a.receive, want) {
		return fmt.Errorf("step %d, %v among %d, root %d: member %d has %v, want %v", i, x.op, x.members, x.root, member, a.receive, want)
	}
	return nil
}

// host is one way to carry a simulation out.
type host struct {
	Engines     int
	Collectives mpivirt.Interpreter
	Protocol    sync.Protocol
	Strict      bool
	Window      int64
	NoContents  bool
	Activities  bool
}

// run simulates the scenario and returns what each rank saw.
func (s *scenario) run(t testing.TB, tgt *network.Target, h host) ([][]observation, *mpivirt.Result, error) {
	seen := make([][]observation, s.Ranks)
	result, err := simulate(t, mpivirt.Config{
		Target: tgt, NoContents: h.NoContents, Activities: h.Activities, Strict: h.Strict, Window: h.Window, Collectives: h.Collectives, Protocol: h.Protocol, Algorithms: s.Algorithms,
		Program: mpivirt.Program{Name: "scenario", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			u := &rankRun{s: s, r: r}
			err := u.run()
			seen[r.Rank()] = u.seen
			return err
		})}},
	}, h.Engines)
	return seen, result, err
}

// drawMachine gives a random target machine.
func drawMachine(t *rapid.T) string {
	duration := func(name string, least int) string {
		return fmt.Sprintf("%dps", rapid.IntRange(least, 3_000_000).Draw(t, name))
	}
	link := func(name string) string {
		return fmt.Sprintf("latency: %s, bandwidth: %dMB/s", duration(name+" latency", 1), rapid.IntRange(1, 30000).Draw(t, name+" bandwidth"))
	}
	table := func(name string) string {
		return fmt.Sprintf("[{size: 0, delay: %s}, {size: 100, delay: 4us}, {size: 3000, delay: 9us}]", duration(name, 1))
	}
	factors := func(name string) string {
		factor := rapid.SampledFrom([]string{"0.01", "0.5", "1.95341", "7"})
		return fmt.Sprintf("[{size: %d, factor: %s}, {size: 65, factor: %s}, {size: 300, factor: %s}]", rapid.IntRange(0, 64).Draw(t, name+" from"), factor.Draw(t, name), factor.Draw(t, name), factor.Draw(t, name))
	}
	of := rapid.SampledFrom(network.Models()).Draw(t, "model")
	var model string
	switch of.Name {
	case "flat":
		model = "model: flat, " + link("flat")
	case "twolevel":
		model = "model: twolevel, intra: {" + link("intra") + "}, inter: {" + link("inter") + "}"
	case "table":
		model = "model: table, intra: " + table("intra") + ", inter: " + table("inter")
	case "levels":
		model = "model: levels, levels: [{name: socket, ranks: 2, " + link("socket") + "}, {name: node, " + link("node") + "}, {name: leaf, nodes: 3, delays: " + table("leaf") +
			"}, {name: group, nodes: 12, " + link("group") + "}, {name: machine, " + link("machine") + "}]"
	case "factors":
		model = "model: factors, intra: {" + link("intra") + ", latency_factors: " + factors("intra") + "}, inter: {" + link("inter") + ", latency_factors: " + factors("inter latency") +
			", bandwidth_factors: " + factors("inter bandwidth") + "}"
	case "hops":
		model = "model: hops, latency_per_hop: " + duration("hop", 0) + ", memory_latency: " + duration("memory", 0) + ", " + link("hops")
	case "loggops":
		model = fmt.Sprintf("model: loggops, L: %s, o: %s, g: %s, G: %dps, O: %dps, S: %d", duration("L", 1), duration("o", 0), duration("g", 0),
			rapid.IntRange(0, 9000).Draw(t, "G"), rapid.IntRange(0, 3000).Draw(t, "O"), rapid.SampledFrom([]int{0, 64, 65535}).Draw(t, "S"))
	default:
		t.Fatalf("drawMachine has no case for delay model %s", of.Name)
	}
	if limit := rapid.SampledFrom([]int{-1, 0, 64, 1000}).Draw(t, "eager limit"); limit >= 0 && of.Charged {
		model += fmt.Sprintf(", eager_limit: %d", limit)
	}
	if of.Charged && rapid.Bool().Draw(t, "overhead") {
		model += fmt.Sprintf(", overhead: {send: %s, receive: %s}", duration("send", 0), duration("receive", 0))
		if rapid.Bool().Draw(t, "many partners") {
			model += ", partners: {most: 2, above: 8B, overhead: " + duration("partners", 0) + "}"
		}
		if rapid.Bool().Draw(t, "blocking sends") {
			model += ", blocking_send: " + duration("blocking", 0)
		}
		if rapid.Bool().Draw(t, "has gap") {
			model += ", gap: " + duration("gap", 0)
		}
	}
	if of.Charged && rapid.IntRange(0, 4).Draw(t, "jitter") == 0 {
		model += ", jitter: {distribution: " + rapid.SampledFrom([]string{"uniform, most", "exponential, mean"}).Draw(t, "distribution") + ": " + duration("jitter time", 1) + "}"
	}
	if of.Charged && rapid.IntRange(0, 4).Draw(t, "interruptions") == 0 {
		model += ", interruptions: {interval: 40us, duration: " + duration("interruption", 1) + "}"
	}
	if of.Charged {
		model += ", progress: " + rapid.SampledFrom([]string{"asynchronous", "asynchronous", "calls", "waits"}).Draw(t, "progress")
	}
	if rapid.Bool().Draw(t, "reduce") {
		model += fmt.Sprintf(", reduce: {bandwidth: %dMB/s}", rapid.IntRange(1, 9000).Draw(t, "reduce bandwidth"))
	}
	if rapid.Bool().Draw(t, "local copy") {
		model += fmt.Sprintf(", local_copy: {bandwidth: %dMB/s}", rapid.IntRange(1, 9000).Draw(t, "local copy bandwidth"))
		if rapid.Bool().Draw(t, "datatypes") {
			model += ", datatype: {time: " + duration("datatype", 0) + ", block: 9ns}"
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "joins") == 0 {
		model += ", join: {levels: [{name: complex, ranks: 2, latency: " + duration("complex", 0) + ", gap: " + duration("complex gap", 0) + "}, {name: node, latency: " + duration("node", 0) + "}], bandwidth: 300MB/s}"
	}
	if rapid.IntRange(0, 3).Draw(t, "launches") == 0 {
		model += ", launch: " + duration("launch", 1)
	}
	topology := "{kind: star}"
	if strings.Contains(model, "per_hop") || rapid.Bool().Draw(t, "routed") {
		topology = rapid.SampledFrom([]string{"{kind: torus, dimensions: 2}", "{kind: hierarchy, levels: [{size: 3, hops: 1}, {hops: 4}]}"}).Draw(t, "topology")
		if !strings.Contains(model, "per_hop") {
			model += ", latency_per_hop: " + duration("hop", 0)
		}
		longest := ", longest: 3" // of a torus alone
		if strings.Contains(topology, "hierarchy") {
			longest = ""
		}
		if strings.HasPrefix(model, "model: flat") || strings.HasPrefix(model, "model: hops") || strings.HasPrefix(model, "model: twolevel") || strings.HasPrefix(model, "model: levels") {
			model += ", " + rapid.SampledFrom([]string{"poll: 20ns", "congestion: {bandwidth: 7MB/s" + longest + "}", "congestion: {bandwidth: 40MB/s}"}).Draw(t, "congestion")
		}
	}
	return fmt.Sprintf("name: random\nranks_per_node: %d\nmapping: %s\ntopology: "+topology+"\nnetwork: {%s}\n",
		rapid.SampledFrom([]int{1, 2, 3, 4, 7, 12, 400}).Draw(t, "ranks per node"),
		rapid.SampledFrom([]string{"block", "cyclic", "random:5"}).Draw(t, "mapping"), model)
}

// Each delay model takes part in the comparisons of interpreters, and each without state at the
// receiver in those of random programs.
func TestEachModelIsDrawn(t *testing.T) {
	machines := rapid.Custom(drawMachine)
	var drawn, ofPrograms string
	for seed := range 300 {
		drawn += machines.Example(seed)
		ofPrograms += randomMachine(rand.New(rand.NewPCG(uint64(seed), 1)), 8)
	}
	for _, m := range network.Models() {
		model := m.Name
		named := regexp.MustCompile(`model: ` + model + `\b`)
		if !named.MatchString(drawn) {
			t.Errorf("no machine has delay model %s: add a case to drawMachine", model)
		}
		if !named.MatchString(ofPrograms) && m.Charged {
			t.Errorf("no machine of random programs has delay model %s: add a case to randomMachine", model)
		}
	}
}

// longWinded says whether an algorithm takes as many rounds as there are members.
func longWinded(a collectives.Algorithm) bool {
	switch a.Base() {
	case collectives.Ring, collectives.Pairwise, collectives.Linear, collectives.ScatterAllgatherRing:
		return true
	}
	return false
}

func drawScenario(t *rapid.T) *scenario {
	s := &scenario{
		Machine: drawMachine(t),
		Ranks: rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(1, 9), rapid.IntRange(1, 33), rapid.IntRange(1, 33), rapid.IntRange(1, 300)).
			Draw(t, "ranks"),
		Algorithms: map[collectives.Operation]collectives.Algorithm{},
		Key:        rapid.Uint64().Draw(t, "key"),
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "splits") {
		s.Splits = append(s.Splits, split{
			Of:     rapid.IntRange(0, i).Draw(t, "of"),
			Colors: rapid.IntRange(1, 5).Draw(t, "colors"),
			How:    rapid.SampledFrom([]string{"rows", "columns", "reversed", "random"}).Draw(t, "how"),
		})
	}
	for range rapid.IntRange(1, 4).Draw(t, "steps") {
		s.Steps = append(s.Steps, drawStep(t, s))
	}
	return s
}

func drawStep(t *rapid.T, s *scenario) step {
	op := rapid.SampledFrom(collectives.Operations()).Draw(t, "operation")
	if _, chosen := s.Algorithms[op]; !chosen {
		a := rapid.SampledFrom(collectives.Algorithms(op)).Draw(t, "algorithm")
		if s.Ranks > 100 && longWinded(a) {
			a = collectives.Algorithms(op)[0]
		}
		s.Algorithms[op] = drawArguments(t, op, a)
	}
	st := step{
		Op:          op,
		On:          rapid.IntRange(0, len(s.Splits)).Draw(t, "on"),
		Root:        rapid.IntRange(0, 299).Draw(t, "root"),
		Count:       rapid.SampledFrom([]int{0, 1, 2, 3, 8, 30, 64}).Draw(t, "count"),
		Whole:       rapid.Bool().Draw(t, "whole"),
		SizeOnly:    hasSizeForm(op) && rapid.Bool().Draw(t, "size only"),
		Nonblocking: rapid.Bool().Draw(t, "nonblocking"),
		Together:    rapid.Bool().Draw(t, "together"),
		Spread:      vtime.Duration(rapid.SampledFrom([]int{0, 1, 5, 1_000_000, 50_000_000}).Draw(t, "spread")),
	}
	if s.Ranks > 100 && (longWinded(s.Algorithms[op]) || op == collectives.Alltoall || op == collectives.Alltoallv) {
		st.Op, st.SizeOnly = collectives.Barrier, false
		s.Algorithms[collectives.Barrier] = collectives.NodeLeader
	}
	return st
}

// drawArguments returns an algorithm with arguments that it takes.
func drawArguments(t *rapid.T, op collectives.Operation, a collectives.Algorithm) collectives.Algorithm {
	if with := a.WithFanout(2); with.Check(op) == nil {
		a = a.WithFanout(rapid.SampledFrom([]int{0, 2, 3, 7}).Draw(t, "fan-out"))
	}
	if with := a.WithSegment(1); with.Check(op) == nil {
		a = a.WithSegment(rapid.SampledFrom([]int64{0, 1, 8, 24, 100}).Draw(t, "segment"))
	}
	return a
}

var drawHost = rapid.Custom(func(t *rapid.T) host {
	return host{
		Engines:     rapid.SampledFrom([]int{1, 2, 3, 5}).Draw(t, "engines"),
		Collectives: rapid.SampledFrom([]mpivirt.Interpreter{mpivirt.Auto, mpivirt.Message, mpivirt.Bulk}).Draw(t, "collectives"),
		Protocol:    rapid.SampledFrom([]sync.Protocol{sync.Hybrid, sync.Conditional, sync.Null}).Draw(t, "protocol"),
		Strict:      rapid.Bool().Draw(t, "strict"),
		Window:      rapid.SampledFrom([]int64{0, 1, 200}).Draw(t, "window"),
	}
})

// Design, section 7: the message and the bulk interpreter "agree bit for bit on
// every algorithm, size, arrival pattern and host count". Data that do not depend
// on rounding are held against the definitions of the MPI standard too. The
// numbers of messages are the same, too.
func TestInterpretersAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawScenario(rt)
		tgt := target(t, s.Machine, s.Ranks)
		reference := host{Engines: 1, Collectives: mpivirt.Message}
		want, first, err := s.run(t, tgt, reference)
		if err != nil {
			rt.Fatalf("%+v: %v", reference, err)
		}
		hosts := []host{{Engines: 1}, {Engines: 2}, drawHost.Draw(rt, "host"), drawHost.Draw(rt, "another")}
		for _, h := range hosts {
			h.Strict = h.Strict && s.Ranks <= 16 // every step of a rank takes a round of synchronisation
			got, result, err := s.run(t, tgt, h)
			if err != nil {
				rt.Fatalf("%+v: %v", h, err)
			}
			for rank := range want {
				if d := difference(got[rank], want[rank]); d != "" {
					rt.Fatalf("%+v: rank %d: %s", h, rank, d)
				}
			}
			if result.Fingerprint != first.Fingerprint {
				rt.Fatalf("%+v: the fingerprint is %s, with %+v %s", h, result.Fingerprint, reference, first.Fingerprint)
			}
			if got, want := result.Statistics.Messages, first.Statistics.Messages; got != want {
				rt.Fatalf("%+v: %d messages, with %+v %d", h, got, reference, want)
			}
		}
	})
}

// What statistics say does not depend on the interpreter: over arrays, ranks have the accounts that agents have by messages.
func TestInterpretersHaveTheSameStatistics(t *testing.T) {
	fewer(t, 50)
	rapid.Check(t, func(rt *rapid.T) {
		s := drawScenario(rt)
		tgt := target(t, s.Machine, s.Ranks)
		reference := host{Engines: 1, Collectives: mpivirt.Message, Activities: true}
		_, want, err := s.run(t, tgt, reference)
		if err != nil {
			rt.Fatalf("%+v: %v", reference, err)
		}
		told := func(r *mpivirt.Result) []string {
			return append(statisticsText(r.Calls), activityLines(r), fmt.Sprint(r.Sent, r.Handed, r.Calls.Speeds))
		}
		for _, h := range []host{{Engines: 1}, {Engines: 3}, drawHost.Draw(rt, "host")} {
			h.Strict, h.Activities = h.Strict && s.Ranks <= 16, true
			_, got, err := s.run(t, tgt, h)
			if err != nil {
				rt.Fatalf("%+v: %v", h, err)
			}
			if diff := cmp.Diff(told(want), told(got)); diff != "" {
				rt.Fatalf("%+v (-by messages +there):\n%s", h, diff)
			}
		}
	})
}

// difference says where two ranks' observations part, "" if they do not.
func difference(got, want []observation) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("step %d: %s is %d, want %s %d", got[i].step, got[i].what, got[i].bits, want[i].what, want[i].bits)
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d observations, want %d", len(got), len(want))
	}
	return ""
}

// Node-leader on communicators whose order is not that of WORLD, and whose nodes
// lie on several engines: the leader of a node is its first member, whoever
// simulates it.
func TestNodeLeaderOnReorderedCommunicators(t *testing.T) {
	for _, mapping := range []string{"block", "cyclic", "random:9"} {
		s := &scenario{
			Machine: "name: m\nranks_per_node: 4\nmapping: " + mapping + "\nnetwork: {model: twolevel, intra: {latency: 1us}, inter: {latency: 3us}}\n",
			Ranks:   23,
			Splits:  []split{{Colors: 1, How: "reversed"}, {Colors: 2, How: "random"}},
			Key:     3,
		}
		for on := range 3 {
			for _, nonblocking := range []bool{false, true} {
				s.Steps = append(s.Steps,
					step{Op: collectives.Barrier, On: on, Nonblocking: nonblocking, Spread: 9000000},
					step{Op: collectives.Allreduce, On: on, Count: 3, Nonblocking: nonblocking, Spread: 9000000})
			}
		}
		tgt := target(t, s.Machine, s.Ranks)
		want, _, err := s.run(t, tgt, host{Engines: 1, Collectives: mpivirt.Message})
		if err != nil {
			t.Fatal(err)
		}
		for engines := 1; engines <= 6; engines++ {
			for _, i := range interpreters {
				got, _, err := s.run(t, tgt, host{Engines: engines, Collectives: i, Strict: engines == 3})
				if err != nil {
					t.Fatalf("mapping %s, interpreter %d, %d engines: %v", mapping, i, engines, err)
				}
				for rank := range want {
					if d := difference(got[rank], want[rank]); d != "" {
						t.Fatalf("mapping %s, interpreter %d, %d engines: rank %d: %s", mapping, i, engines, rank, d)
					}
				}
			}
		}
	}
}

// The last member to enter a collective may leave it at once, while its engine has
// still to hear from the others that it may. Nothing that the engine promises
// meanwhile lies beyond the member's entry: the member can send at once.
func TestPromisesDuringACollective(t *testing.T) {
	for _, a := range []collectives.Algorithm{collectives.Dissemination, collectives.RecursiveDoubling, collectives.NodeLeader} {
		for _, engines := range []int{2, 4} {
			for last := range 8 {
				_, err := simulate(t, mpivirt.Config{
					Target: target(t, hockney, 8), Strict: true,
					Algorithms: map[collectives.Operation]collectives.Algorithm{collectives.Barrier: a},
					Program:    mpivirt.Program{Name: "late", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error { return lateThenSend(r, last) })}},
				}, engines)
				if err != nil {
					t.Errorf("%v, %d engines, rank %d last: %v", a, engines, last, err)
				}
			}
		}
	}
}

// lateThenSend makes one rank come late to a barrier, after a wait that ends at
// that time, and send a message to another engine's rank as soon as it is through.
func lateThenSend(r *mpivirt.Rank, last int) error {
	w, other := r.World(), (last+4)%8
	for i := range 3 {
		if r.Rank() == last {
			r.Compute(20 * vtime.Microsecond)
			if err := w.SendSize(0, last, i); err != nil {
				return err
			}
			if _, err := w.RecvSize(0, last, i); err != nil {
				return err
			}
		}
		if err := w.Barrier(); err != nil {
			return err
		}
		if r.Rank() == last {
			if err := w.SendSize(0, other, i); err != nil {
				return err
			}
		} else if r.Rank() == other {
			if _, err := w.RecvSize(0, last, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// A nonblocking collective whose wait follows at once takes the time of the blocking one, whenever ranks make progress.
func TestBothFormsTakeTheSameTime(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawScenario(rt)
		h := host{Engines: rapid.IntRange(1, 3).Draw(rt, "engines"), Strict: s.Ranks <= 16 && rapid.Bool().Draw(rt, "strict")}
		var results [2]*mpivirt.Result
		for form := range results {
			for i := range s.Steps {
				s.Steps[i].Nonblocking, s.Steps[i].Together = form == 1, true
			}
			var err error
			if _, results[form], err = s.run(t, target(t, s.Machine, s.Ranks), h); err != nil {
				rt.Fatal(err)
			}
		}
		if target(t, s.Machine, s.Ranks).ReceiverState() { // there the wait is an operation of the processor that takes its turn
			return
		}
		if a, b := results[0].Fingerprint, results[1].Fingerprint; a != b {
			rt.Fatalf("blocking forms give the fingerprint %s, nonblocking ones %s", a, b)
		}
	})
}
