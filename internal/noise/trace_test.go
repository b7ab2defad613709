package noise_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/internal/input"
	"gigarank/internal/noise"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// traceText reads a trace from a text.
func traceText(text string) (noise.Spec, error) {
	return noise.Parse("trace:detours", func(string) ([]byte, error) { return []byte(text), nil })
}

func mustTrace(t interface{ Fatal(...any) }, text string, seed uint64) mpivirt.Noise {
	noise, err := traceText(text)
	if err != nil {
		t.Fatal(err)
	}
	return noise.Seeded(seed)
}

// detours is a trace as a slow reader sees it: whether each picosecond is one of
// computing.
type detours []bool

func drawDetours(t *rapid.T) (d detours, text string) {
	gaps := rapid.SliceOfN(rapid.IntRange(0, 8), 1, 6).Draw(t, "gaps")
	if gaps[0] == 0 {
		gaps[0] = 1
	}
	var lines strings.Builder
	for i, gap := range gaps {
		duration := rapid.IntRange(1, 8).Draw(t, "duration")
		for range gap {
			d = append(d, true)
		}
		fmt.Fprintf(&lines, "%dps\t%dps\n", len(d), duration)
		if i%2 == 0 {
			lines.WriteString("# a comment\n\n")
		}
		for range duration {
			d = append(d, false)
		}
	}
	return d, lines.String()
}

// extend steps through the trace from a picosecond on until it has passed d picoseconds
// of computing.
func (tr detours) extend(at int, d vtime.Duration) vtime.Duration {
	took := vtime.Duration(0)
	for ; d > 0; took++ {
		if tr[(at+int(took))%len(tr)] {
			d--
		}
	}
	return took
}

// phase returns the instant of the trace at which a rank begins: the one at which the
// slow reader explains the time of a picosecond of computing at every instant.
func (tr detours) phase(t *rapid.T, noise mpivirt.Noise, rank int) int {
	for phase := range tr {
		explained := true
		for at := range tr {
			explained = explained && noise.Extend(rank, vtime.Time(at), 1) == tr.extend(phase+at, 1)
		}
		if explained {
			return phase
		}
	}
	t.Fatalf("no instant of the trace explains the noise of rank %d", rank)
	return 0
}

// A trace gives the same as stepping through it picosecond by picosecond.
func TestTraceAgainstSlowReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slow, text := drawDetours(t)
		noise := mustTrace(t, text, rapid.Uint64().Draw(t, "seed"))
		rank := rapid.IntRange(0, 1<<30).Draw(t, "rank")
		phase := slow.phase(t, noise, rank)
		for range 20 {
			at := rapid.IntRange(0, 1000).Draw(t, "at")
			d := vtime.Duration(rapid.IntRange(0, 300).Draw(t, "d"))
			if got, want := noise.Extend(rank, vtime.Time(at), d), slow.extend(phase+at, d); got != want {
				t.Fatalf("%v from %d ps on takes %v, want %v; phase %d in\n%s", d, at, got, want, phase, text)
			}
		}
	})
}

// The phases of ranks are spread evenly over the trace.
func TestTracePhases(t *testing.T) {
	// A detour of a tenth of the trace: a rank is in it at 0 with probability 1/10.
	noise := mustTrace(t, "900us 100us", 5)
	const ranks = 10_000
	within := 0
	for rank := range ranks {
		if noise.Extend(rank, 0, 1) > 1 {
			within++
		}
	}
	// Binomial: 1000 with a standard deviation of 30.
	if within < 850 || within > 1150 {
		t.Errorf("%d of %d ranks begin within a detour that takes a tenth of the time", within, ranks)
	}
	if again := mustTrace(t, "900us 100us", 6); func() bool {
		for rank := range 100 {
			if noise.Extend(rank, 0, vtime.Millisecond) != again.Extend(rank, 0, vtime.Millisecond) {
				return false
			}
		}
		return true
	}() {
		t.Error("another seed gives the same phases")
	}
}

// A plain number is in nanoseconds, and detours that follow each other at once may
// overlap by the rounding of a benchmark.
func TestTraceAsNetgaugeWritesIt(t *testing.T) {
	const netgauge = "# Netgauge, noise pattern\n" +
		"1000.000000\t250.500000\n" +
		"1250.400000\t99.600000\n" +
		"5000\t1000\n"
	const plain = "1us 250.4ns\n1250.4ns 99.6ns\r\n5us 1us\n"
	for seed := range uint64(20) {
		a, b := mustTrace(t, netgauge, seed), mustTrace(t, plain, seed)
		for at := vtime.Time(0); at < 7_000_000; at += 12_345 {
			if got, want := a.Extend(3, at, 500_000), b.Extend(3, at, 500_000); got != want {
				t.Fatalf("at %v it takes %v, want %v", at, got, want)
			}
		}
	}
}

// A result that does not fit saturates.
func TestTraceSaturates(t *testing.T) {
	noise := mustTrace(t, "1ps 1s", 1)
	for _, d := range []vtime.Duration{100 * vtime.Hour, 1<<63 - 1} {
		if got := noise.Extend(0, 0, d); got != 1<<63-1 {
			t.Errorf("%v at 10^-12 of the speed take %v", d, got)
		}
	}
	if got := noise.Extend(0, 0, -1); got != -1 {
		t.Errorf("a phase of -1 ps takes %v", got)
	}
}

// Every fault of a file is named, with the file, the line and the field.
func TestTraceFaults(t *testing.T) {
	for _, c := range []struct {
		why, text string
		want      []string
	}{
		{"all at once", "# x\n1us 1us\n\n5us\n3us 1us 2\nsoon 1us\n4us 1kg\n2us 0\n3us -2ns\n0.5us 1ns\n", []string{
			"detours:4: fields: 1 instead of 2: write the begin and the duration of one detour",
			"detours:5: fields: 3 instead of 2: ",
			`detours:6: begin: "soon" is not a duration`,
			`detours:7: duration: "1kg" is not a duration`,
			"detours:8: duration: a detour that takes no time: leave it out",
			"detours:9: duration: -2ns is negative: use a time of at least 0",
			"detours:10: begin: 500ns is not after the detour before, at 1us: sort the detours",
		}},
		{"both fields of a line", "a b\n", []string{`detours:1: begin: "a"`, `detours:1: duration: "b"`}},
		{"overlap by more than rounding", "1us 1us\n1.99us 1us\n", []string{
			"detours:2: begin: 1.99us is within the detour before, which ends at 2us: make one of the two",
		}},
		{"nothing", "# nothing\n\n", []string{"detours:2: there is no detour"}},
		{"an empty file", "", []string{"detours:0: there is no detour"}},
		{"no time to compute", "0 1us\n1us 1us\n", []string{"detours:2: the detours leave no time to compute: begin the first one after 0"}},
		{"too late", "1us 1us\n2500h 2500h\n", []string{"detours:2: duration: the detour ends after the last instant"}},
		{"no number", "nan inf\n", []string{`detours:1: begin: "nan`, `detours:1: duration: "inf`}},
	} {
		_, err := traceText(c.text)
		var faults input.Faults
		if !errors.As(err, &faults) || len(faults) != len(c.want) {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(faults[i].Error(), want) {
				t.Errorf("%s: fault %d is %q, want %q", c.why, i, faults[i], want)
			}
		}
	}
	_, err := traceText(strings.Repeat("x\n", 100))
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 21 || lines[20] != "detours:100: 80 more faults up to here" {
		t.Errorf("a file that is no trace gives %d lines: %v", len(lines), err)
	}
}

// Traces of different contents have different texts, also under one name.
func TestTraceHasADigest(t *testing.T) {
	texts := map[string]bool{}
	for _, text := range []string{"1us 1us", "1us 2us", "1us 1us"} {
		noise, err := traceText(text)
		if err != nil || !strings.HasPrefix(noise.String(), "trace:detours@") {
			t.Errorf("%v, %v", noise, err)
		}
		texts[noise.String()] = true
	}
	if len(texts) != 2 {
		t.Errorf("two traces have the names %v", texts)
	}
}
