package study

import (
	"bytes"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gigarank/internal/result"
)

// runOf returns a run in which rank r computes for r+1 us and waits for the rest of ranks+1 us at a barrier.
func runOf(ranks int) *result.Document {
	d := &result.Document{Program: "./p<&>", Ranks: int64(ranks), Machine: "flat", RanksPerNode: 1, Mapping: "block", Complete: true, FinishedRanks: uint64(ranks),
		VirtualTime: int64(ranks+1) * 1e6, Fingerprint: "f", LP: "native",
		Sent: []result.SizeClass{{Low: 0, High: 0, Count: 3}, {Low: 1024, High: 2047, Count: 5, Bytes: 6000}},
		Finish: result.Distribution{Min: int64(ranks+1) * 1e6, Mean: int64(ranks+1) * 1e6, Max: int64(ranks+1) * 1e6,
			Histogram: result.Histogram{Low: int64(ranks+1) * 1e6, Width: 1, Counts: []uint64{uint64(ranks)}}},
	}
	s := &result.Statistics{Efficiency: &result.Efficiency{LoadBalance: 0.5, Communication: 0.99, Parallel: 0.5, Greatest: int64(ranks) * 1e6, GreatestRank: ranks - 1}}
	s.Times = result.Times{Time: new(big.Int), Waiting: new(big.Int), Causes: map[string]*big.Int{"computing": new(big.Int), "wait at barrier": new(big.Int)}}
	s.Matrix = &result.Matrix{Block: 1, Bytes: make([][]uint64, ranks)}
	for r := range ranks {
		computing, waiting := big.NewInt(int64(r+1)*1e6), big.NewInt(int64(ranks-r)*1e6)
		all := new(big.Int).Add(computing, waiting)
		s.Tasks = append(s.Tasks, result.Task{Rank: r, Count: 1, Times: result.Times{Time: all, Waiting: waiting, Causes: map[string]*big.Int{"computing": computing, "wait at barrier": waiting}}})
		s.Time.Add(s.Time, all)
		s.Waiting.Add(s.Waiting, waiting)
		s.Causes["computing"].Add(s.Causes["computing"], computing)
		s.Causes["wait at barrier"].Add(s.Causes["wait at barrier"], waiting)
		s.Matrix.Bytes[r] = make([]uint64, ranks)
		s.Matrix.Bytes[r][(r+1)%ranks] = uint64(1000 + r)
	}
	s.Calls = []result.CallTimes{{Function: "Barrier", Communicator: "WORLD", Count: uint64(ranks),
		Times: result.Times{Time: s.Waiting, Waiting: s.Waiting, Causes: map[string]*big.Int{"wait at barrier": s.Waiting}}}}
	d.Statistics = s
	return d
}

func runReport(t *testing.T, d *result.Document) []byte {
	var page bytes.Buffer
	if err := WriteRunReport(&page, d, "name: flat\n", testOrigin); err != nil {
		t.Fatal(err)
	}
	return page.Bytes()
}

// The page names the rank for which the others wait, and escapes names.
func TestRunReportTellsWhereTimeGoes(t *testing.T) {
	page := string(runReport(t, runOf(4)))
	for _, want := range []string{
		"<title>./p&lt;&amp;&gt;: where the time goes</title>", `name="viewport"`,
		"Wait at barrier takes 50 %, most of it in Barrier on WORLD; rank 0 waits longest, 4 us, and rank 3 least, 1 us.",
		"Load balance is 50 %: rank 3 computes longest, 4 us", "Rank 2 comes next, 3 us:", "mending rank 3 alone gains at most 1 us of the 5 us.",
		"<li>Wait at barrier: a member has not entered the barrier yet.</li>",
		"<td>bytes sent</td><td>1000 B</td><td>0</td>", "<td>bytes received</td><td>1000 B</td><td>1</td>", "<title>rank 2: computing 3 us, wait at barrier 2 us</title>",
		"<td>rank 3</td><td>rank 0</td><td>1003 B</td>", "<td>1024 to 2047 B</td><td>5</td>", "name: flat",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "Failed:") || strings.Contains(page, "Incomplete") {
		t.Error("a run that is complete has failed")
	}
}

// A run that has failed begins with the first lines of its error.
func TestRunReportOfAFailure(t *testing.T) {
	d := runOf(4)
	d.Complete, d.FinishedRanks, d.Reason = false, 0, "deadlock: <4> ranks wait\n"+strings.Repeat("  rank waits\n", 40)
	d.Statistics.Time, d.Statistics.Tasks, d.Statistics.Calls = new(big.Int), nil, nil
	page := string(runReport(t, d))
	for _, want := range []string{"deadlock: &lt;4&gt; ranks wait\n  rank waits", "… and 17 lines more</pre>", "0 of 4 ranks have finished", "unknown: no rank has finished"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// A bar is as high as its time over the scale: outlines of all causes cover the heights by hand.
func TestStacksAreToScale(t *testing.T) {
	s := &stacks{}
	s.drawStacks([]causeStyle{{Class: "c0"}, {Class: "c1"}}, []stackColumn{{"a", []float64{1, 3}}, {"b", []float64{2, 0}}}, formatTime)
	var heights [2][]float64
	for i, p := range s.Parts {
		for _, m := range regexp.MustCompile(`M\S+ (\S+?)V(\S+?)H`).FindAllStringSubmatch(p.Path, -1) {
			from, _ := strconv.ParseFloat(m[1], 64)
			to, _ := strconv.ParseFloat(m[2], 64)
			heights[i] = append(heights[i], (from-to)/(plotBottom-plotTop)*4*1.05)
		}
	}
	if got, want := fmt.Sprintf("%.2f", heights), "[[1.00 2.00] [3.00]]"; got != want {
		t.Errorf("heights %s, want %s", got, want)
	}
}

// Beyond 512 ranks each rank is in one group, and those that wait least come first.
func TestGroupsHaveEachRankOnce(t *testing.T) {
	tasks := runOf(700).Statistics.Tasks
	groups, _ := grouped(tasks)
	var ranks []int
	for _, g := range groups {
		for _, task := range g {
			ranks = append(ranks, task.Rank)
		}
	}
	if len(groups) != groupColumns || ranks[0] != 699 || ranks[699] != 0 {
		t.Errorf("%d groups from rank %d to %d", len(groups), ranks[0], ranks[len(ranks)-1])
	}
	slices.Sort(ranks)
	if ranks = slices.Compact(ranks); len(ranks) != 700 || ranks[350] != 350 {
		t.Errorf("%d ranks", len(ranks))
	}
	if groups, label := grouped(tasks[:512]); len(groups) != 512 || label != "rank" {
		t.Errorf("%d groups of 512 ranks", len(groups))
	}
}

// A coarser matrix has the same bytes in blocks.
func TestCoarserMatrix(t *testing.T) {
	m := runOf(700).Statistics.Matrix
	c := coarser(m)
	var before, after uint64
	for _, row := range m.Bytes {
		for _, b := range row {
			before += b
		}
	}
	for _, row := range c.Bytes {
		for _, b := range row {
			after += b
		}
	}
	if before != after || c.Block != 6 || len(c.Bytes) != 117 {
		t.Errorf("%d bytes of %d in %d blocks of %d", after, before, len(c.Bytes), c.Block)
	}
	if c.Bytes[0][0] != 1000+1001+1002+1003+1004 || c.Bytes[0][1] != 1005 {
		t.Errorf("the first block sends %d and %d", c.Bytes[0][0], c.Bytes[0][1])
	}
}

// Ranks that wait alike are named together: at most three ranges, and a number where most ranks wait.
func TestRanksThatWaitAlike(t *testing.T) {
	tasks := make([]result.Task, 12)
	for i := range tasks {
		tasks[i] = result.Task{Rank: i, Times: result.Times{Causes: map[string]*big.Int{"late sender": big.NewInt(int64(i))}}}
	}
	for _, c := range []struct {
		long []int
		want string
	}{
		{[]int{4}, "; rank 4 waits longest, 100 ns, and rank 0 not at all"},
		{[]int{4, 5, 6}, "; ranks 4 to 6 wait longest, up to 100 ns each, and rank 0 not at all"},
		{[]int{2, 4, 5}, "; ranks 2 and 4 to 5 wait longest, up to 100 ns each, and rank 0 not at all"},
		{[]int{1, 3, 5, 7, 9}, "; ranks 1, 3, 5 and 2 others wait longest, up to 100 ns each, and rank 0 not at all"},
		{[]int{1, 2, 3, 4, 5, 6, 7}, "; 7 of 12 ranks wait for up to 100 ns each, and rank 0 not at all"},
	} {
		waiting := slices.Clone(tasks)
		for _, rank := range c.long {
			waiting[rank].Causes = map[string]*big.Int{"late sender": big.NewInt(95_000)}
		}
		waiting[c.long[0]].Causes["late sender"] = big.NewInt(100_000)
		if got := extremesOf(waiting, "late sender"); got != c.want {
			t.Errorf("%v: %q, want %q", c.long, got, c.want)
		}
	}
}

// The page has the places of the program whose calls take most time, and the time by cause over the run.
func TestRunReportTellsFromWhereAndWhen(t *testing.T) {
	d := runOf(4)
	if page := string(runReport(t, d)); strings.Contains(page, `id="sites"`) || strings.Contains(page, `id="course"`) {
		t.Error("a run without places of calls and without a course has them")
	}
	waiting := d.Statistics.Waiting
	barrier := func(place string, waits *big.Int) result.Site {
		return result.Site{Place: place, Function: "Barrier", Count: 2, Times: result.Times{Time: waits, Waiting: waits, Causes: map[string]*big.Int{"wait at barrier": waits}}}
	}
	d.Statistics.Sites = []result.Site{barrier("main (a.c:1)", big.NewInt(1e6)), barrier("step (b<>.c:7)", new(big.Int).Sub(waiting, big.NewInt(1e6))), barrier("idle (a.c:9)", new(big.Int))}
	// Bins of 1 us: all ranks compute in the first two, three of four in the third, and all but one wait in the last two.
	bins := func(times ...int64) (all []*big.Int) {
		for _, v := range times {
			all = append(all, big.NewInt(v*1e6))
		}
		return all
	}
	d.Statistics.Course = &result.Course{Width: 1e6, Causes: map[string][]*big.Int{"computing": bins(4, 4, 3, 0, 1), "wait at barrier": bins(0, 0, 1, 4, 3)}}
	page := string(runReport(t, d))
	for _, want := range []string{
		"most of it in Barrier on WORLD, called from step (b&lt;&gt;.c:7); rank 0 waits longest",
		"<title>from 2 us to 3 us: computing 75 %, wait at barrier 25 %</title>", "<title>from 3 us to 4 us: wait at barrier 100 %</title>",
		"<td>step (b&lt;&gt;.c:7)</td><td>Barrier</td><td>2</td><td>0 B</td><td>2.25 us</td><td>2.25 us</td><td>2.25 us</td>", "1 more are in result.json",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Index(page, "step (b&lt;&gt;.c:7)</td>") > strings.Index(page, "main (a.c:1)</td>") {
		t.Error("the place with most time is not the first")
	}
}

// The part of a run in which a cause passes is the shortest with nine tenths of its time, if that is at most half of the run.
func TestWhenACausePasses(t *testing.T) {
	for _, c := range []struct {
		times []int64
		want  string
	}{
		{[]int64{0, 0, 50, 40, 0, 10}, "; 90 % of it between 2 us and 4 us of the run"},
		{[]int64{100, 0, 0, 0, 0, 0}, "; 90 % of it between 0 ps and 1 us of the run"},
		{[]int64{0, 0, 0, 0, 5, 95}, "; 90 % of it between 5 us and 5.5 us of the run"},
		{[]int64{25, 25, 0, 0, 25, 25}, ""},
		{[]int64{1, 1, 1, 1, 1, 1}, ""},
		{[]int64{5, 0, 45, 45, 0, 5}, "; 90 % of it between 2 us and 4 us of the run"},
	} {
		d := &result.Document{Complete: true, VirtualTime: 5500000, Statistics: &result.Statistics{Course: &result.Course{Width: 1e6, Causes: map[string][]*big.Int{}}}}
		for _, v := range c.times {
			d.Statistics.Course.Causes["network"] = append(d.Statistics.Course.Causes["network"], big.NewInt(v))
		}
		if got := whenMost(d, "network"); got != c.want {
			t.Errorf("%v: %q, want %q", c.times, got, c.want)
		}
	}
}
