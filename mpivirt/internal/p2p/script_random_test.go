package p2p

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/network"
)

// Random runs, in the language of the scripts, give the same in all variants: on any number of engines, strictly or not, with short lists
// and with bins, and with buffers of any size.
func TestRandomScripts(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"flat", "twolevel", "factors", "loggops", "shared node", "progress"} {
		t.Run(model, func(t *testing.T) { rapid.Check(t, func(r *rapid.T) { checkRandomScript(r, model) }) })
	}
}

// checkRandomScript makes a random run on a random machine in some of its variants.
func checkRandomScript(r *rapid.T, model string) {
	machine := drawMachine(r, model)
	programs := drawPrograms(r, rapid.IntRange(2, 6).Draw(r, "ranks"))
	target := drawnTarget(r, machine, len(programs))
	o := options{causes: rapid.Bool().Draw(r, "causes"), counts: rapid.Bool().Draw(r, "activities"), sends: true, polls: rapid.SampledFrom([]int32{0, 1, 2}).Draw(r, "polls")}
	o.heard = o.causes
	o.sums = !o.causes && rapid.Bool().Draw(r, "sums")
	o.course = o.sums
	want, first := "", variant{}
	for i := range 4 {
		v := drawVariant(r, len(programs))
		switch got := o.text(playScript(r, v, o, target, programs)); {
		case i == 0:
			want, first = got, v
		case got != want || r.Failed():
			r.Fatalf("%s%s\nwith %+v:\n%s\nelse, with %+v:\n%s", machine, strings.Join(programs, "\n"), v, got, first, want)
		}
	}
}

// drawVariant draws a way to make a run.
func drawVariant(r *rapid.T, ranks int) variant {
	return variant{
		engines: rapid.IntRange(1, ranks).Draw(r, "engines"), strict: rapid.Bool().Draw(r, "strict"), bins: rapid.Bool().Draw(r, "bins"),
		waitSet: waitSetWay(rapid.IntRange(0, 3).Draw(r, "wait set")), limit: rapid.SampledFrom([]int64{0, 50}).Draw(r, "limit"),
		freely: rapid.Bool().Draw(r, "freely"), summed: rapid.Bool().Draw(r, "summed"),
	}
}

// drawnTarget returns ranks on a machine that was drawn.
func drawnTarget(r *rapid.T, machine string, ranks int) *network.Target {
	m, err := network.Parse("machine", []byte("name: m\n"+machine), nil)
	if err != nil {
		r.Fatal(err)
	}
	target, err := m.Target(int64(ranks))
	if err != nil {
		r.Fatal(err)
	}
	return target
}

// drawMachine draws the fields of a machine with a delay model, or with another way of messages.
func drawMachine(r *rapid.T, model string) string {
	draw := func(of string, values ...string) string { return rapid.SampledFrom(values).Draw(r, of) }
	latency := func() string { return draw("latency", "1us", "5us", "333ns", "1ps") }
	bandwidth := func() string { return draw("bandwidth", "1GB/s", "100MB/s", "7.77GB/s") }
	head, fields := "ranks_per_node: "+draw("ranks per node", "1", "2", "3")+"\n", ""
	switch model {
	case "flat":
		fields = fmt.Sprintf("model: flat, latency: %s, bandwidth: %s", latency(), bandwidth())
	case "twolevel", "shared node", "progress":
		fields = fmt.Sprintf("model: twolevel, intra: {latency: %s, bandwidth: %s}, inter: {latency: %s, bandwidth: %s}", latency(), bandwidth(), latency(), bandwidth())
	case "factors":
		fields = fmt.Sprintf("model: factors, intra: {latency: %s, latency_factors: [{size: 10, factor: 0.3}]}, inter: {latency: %s, bandwidth: %s, latency_factors: [{size: 0, factor: 1.5}, {size: 30, factor: 0.01}]}", latency(), latency(), bandwidth())
	case "loggops":
		return head + fmt.Sprintf("network: {model: loggops, L: %s, o: %s, g: %s, G: 1ns, S: %s}\n", latency(), draw("o", "0s", "1us", "700ns"), draw("g", "0s", "1us"), draw("S", "20", "65535"))
	default:
		r.Fatalf("drawMachine has no case for %q", model)
	}
	if model == "shared node" {
		head += "node: {bandwidth: " + bandwidth() + draw("of the node", "", ", message_gap: 300ns", ", interfaces: 2") + "}\n"
	}
	if model == "progress" || model == "shared node" && draw("with progress", "no", "yes") == "yes" {
		fields += ", progress: " + draw("progress", "calls", "waits")
	}
	if limit := draw("eager limit", "", "0", "16", "40"); limit != "" {
		fields += ", eager_limit: " + limit
	}
	if draw("overheads", "no", "yes") == "yes" {
		fields += fmt.Sprintf(", overhead: {send: %s, receive: %s}", draw("send", "1us", "77ns"), draw("receive", "1us", "450ns"))
		if draw("gap", "no", "yes") == "yes" {
			fields += ", gap: 2us"
		}
	}
	for _, field := range []string{"local_copy: {bandwidth: 3GB/s}", "jitter: {distribution: uniform, most: 3us}", "interruptions: {interval: 30us, duration: 4us}", "partners: {most: 1, above: 8B, overhead: 100ns}", "poll: 333ns"} {
		if draw("further fields", "no", "no", "yes") == "yes" {
			fields += ", " + field
		}
	}
	return head + "network: {" + fields + "}\n"
}

// programDraw draws the programs of ranks, message by message: made in that order, none waits for ever.
type programDraw struct {
	*rapid.T
	programs [][]string
	requests [][]string // by rank: the names of those that have not been waited for
	partly   []bool     // by rank: some of these may be over, since the rank has waited for any or some of them
	made     int
}

func drawPrograms(r *rapid.T, ranks int) (programs []string) {
	d := &programDraw{T: r, programs: make([][]string, ranks), requests: make([][]string, ranks), partly: make([]bool, ranks)}
	for step := range rapid.IntRange(1, 8).Draw(r, "messages") {
		d.message(step)
		if rank := d.rank("who waits"); rapid.Bool().Draw(r, "waits") {
			d.wait(rank)
		}
	}
	for rank := range ranks {
		for len(d.requests[rank]) > 0 {
			d.wait(rank)
		}
		programs = append(programs, strings.Join(d.programs[rank], "; "))
	}
	return programs
}

func (d *programDraw) rank(of string) int { return rapid.IntRange(0, len(d.programs)-1).Draw(d.T, of) }

func (d *programDraw) add(rank int, format string, arguments ...any) {
	if rapid.IntRange(0, 2).Draw(d.T, "computes") == 0 {
		d.programs[rank] = append(d.programs[rank], "compute "+rapid.SampledFrom([]string{"1us", "500ns", "7us", "1ps"}).Draw(d.T, "time"))
	}
	d.programs[rank] = append(d.programs[rank], fmt.Sprintf(format, arguments...))
}

// begin adds a call that makes a request.
func (d *programDraw) begin(rank int, format string, arguments ...any) {
	d.made++
	name := fmt.Sprintf("q%d", d.made)
	d.add(rank, name+"="+format, arguments...)
	d.requests[rank] = append(d.requests[rank], name)
}

// message adds one message, an exchange of two, or several messages to one rank that asks for no source.
func (d *programDraw) message(step int) {
	from, to, tag := d.rank("from"), d.rank("to"), rapid.IntRange(0, 1).Draw(d.T, "tag")
	size := rapid.SampledFrom([]int{0, 8, 20, 100, 3000}).Draw(d.T, "size")
	if from == to {
		to = (from + 1) % len(d.programs)
	}
	switch rapid.IntRange(0, 8).Draw(d.T, "kind") {
	case 0: // each with the other, at once
		d.begin(from, "isendrecv %d %d %d %d %d 10", to, 100+step, size, to, 200+step)
		d.begin(to, "exchange < %d %d %d > %d %d 10", from, 100+step, size, from, 200+step)
		return
	case 2: // a receive that is cancelled before its message is there, or after; then another that would take the message is cancelled, too
		d.add(to, "maycancel on")
		both := rapid.Bool().Draw(d.T, "both")
		for range map[bool]int{false: 1, true: 2}[both] {
			d.begin(to, "irecv %s %d", rapid.SampledFrom([]string{"*", fmt.Sprint(from)}).Draw(d.T, "source"), 400+step)
		}
		if rapid.Bool().Draw(d.T, "sent") { // what a receive does not take stays unreceived
			d.add(from, "attach 8")
			d.begin(from, "ibsend %d %d 8", to, 400+step)
		}
		latest := slices.Max(d.numbers(to))
		if both {
			d.add(to, "cancel q%d", latest-1)
		}
		d.add(to, "cancel q%d", latest)
		return
	case 1: // several to one
		for other := range d.programs {
			if other != to {
				d.send(other, to, 300+step, size)
			}
		}
		for range len(d.programs) - 1 {
			d.receive(to, "*", 300+step)
		}
		return
	}
	if slices.Contains([]string{"send", "isend"}, d.send(from, to, tag, size)) && rapid.IntRange(0, 3).Draw(d.T, "probe") == 0 {
		d.made++
		d.add(to, "m%d=mprobe %d %d", d.made, from, tag)
		d.add(to, "mrecv m%d", d.made)
		return
	}
	d.receive(to, fmt.Sprint(from), tag)
}

// numbers returns those of a rank's requests.
func (d *programDraw) numbers(rank int) (all []int) {
	for _, name := range d.requests[rank] {
		n, err := strconv.Atoi(name[1:])
		if err != nil {
			d.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

func (d *programDraw) send(from, to, tag, size int) (word string) {
	word = rapid.SampledFrom([]string{"isend", "isend", "issend"}).Draw(d.T, "send")
	d.begin(from, "%s %d %d %d", word, to, tag, size)
	return word
}

func (d *programDraw) receive(rank int, source string, tag int) {
	if rapid.Bool().Draw(d.T, "blocking") {
		d.add(rank, "recv %s %d", source, tag)
	} else {
		d.begin(rank, "irecv %s %d", source, tag)
	}
}

// wait adds a call that completes requests of a rank.
func (d *programDraw) wait(rank int) {
	names := d.requests[rank]
	if len(names) == 0 {
		return
	}
	word := rapid.SampledFrom([]string{"wait", "waitall", "until test", "until testall", "waitany", "waitsome", "until testany", "until testsome", "testany", "testsome"}).Draw(d.T, "wait")
	switch {
	case strings.HasSuffix(word, "all") || d.partly[rank] && strings.HasSuffix(word, "wait") || d.partly[rank] && strings.HasSuffix(word, "test"):
		if !strings.HasSuffix(word, "all") {
			word += "all"
		}
		d.add(rank, "%s %s", word, strings.Join(names, " "))
		d.requests[rank], d.partly[rank] = nil, false
		return
	case strings.HasSuffix(word, "any") || strings.HasSuffix(word, "some"):
		some := rapid.Permutation(names).Draw(d.T, "listed")[:rapid.IntRange(1, len(names)).Draw(d.T, "of them")]
		if strings.HasSuffix(word, "any") { // which of several that are complete is taken is open if they have changed places
			slices.SortFunc(some, func(a, b string) int { return slices.Index(names, a) - slices.Index(names, b) })
		}
		d.add(rank, "%s %s", word, strings.Join(some, " "))
		d.partly[rank] = true
		return
	}
	i := rapid.IntRange(0, len(names)-1).Draw(d.T, "which")
	d.add(rank, "%s %s", word, names[i])
	d.requests[rank] = slices.Delete(slices.Clone(names), i, i+1)
}
