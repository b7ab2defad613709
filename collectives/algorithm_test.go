package collectives_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gigarank/collectives"
)

func TestArgumentsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SampledFrom(collectives.AllAlgorithms(collectives.Bcast)).Draw(t, "algorithm")
		segment := rapid.Int64Range(0, collectives.MostSegment).Draw(t, "segment")
		fanout := rapid.IntRange(0, collectives.MostFanout).Draw(t, "fanout")
		a := base.WithSegment(rapid.Int64Range(0, collectives.MostSegment).Draw(t, "before")).WithFanout(fanout).WithSegment(segment)
		if a.Base() != base || a.Segment() != segment || a.Fanout() != fanout {
			t.Fatalf("%v with segment %d and fan-out %d is %v, %d, %d", base, segment, fanout, a.Base(), a.Segment(), a.Fanout())
		}
	})
}

func TestAlgorithmsRefuseArguments(t *testing.T) {
	for text, want := range map[string]string{
		"linear:64KiB":      "not cut into segments: leave :64KiB out",
		"linear:fanout=4":   "takes no fan-out: leave :fanout=4 out",
		"linear:fanout=1":   `"1" is not a number from 2 to 65535`,
		"linear:0":          "a segment has 1 to",
		"linear:2TiB":       "a segment has 1 to",
		"linear:many":       "write a number",
		"lineal:64KiB":      `no algorithm "lineal"`,
		"node-leader:64KiB": `no algorithm "node-leader"`,
	} {
		if a, err := collectives.ParseAlgorithm(collectives.Bcast, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is %v, %v; want an error with %q", text, a, err, want)
		}
	}
}

// A vector is cut into segments as Open MPI cuts it: into whole elements, the last segment has the rest.
func TestSegments(t *testing.T) {
	for _, c := range []struct {
		count, size, segment int64
		segments             int
		want                 []int64
	}{
		{10, 1, 4, 3, []int64{0, 4, 8, 10}},
		{8, 1, 4, 2, []int64{0, 4, 8}},
		{5, 8, 20, 2, []int64{0, 16, 40}},
		{2, 8, 4, 4, []int64{0, 8, 16, 16, 16}},
	} {
		l := collectives.Segments(c.count, c.size, c.segment, c.segments)
		for i, want := range c.want {
			if got := l.Offset(i); got != want {
				t.Errorf("%d elements of %d bytes in segments of %d: segment %d begins at %d; want %d", c.count, c.size, c.segment, i, got, want)
			}
		}
		w := c.segments
		if got := l.Bytes(collectives.Blocks{First: 0, Count: w}, w); got != c.count*c.size {
			t.Errorf("%d segments have %d bytes; want %d", w, got, c.count*c.size)
		}
	}
}
