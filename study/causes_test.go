package study

import (
	"bytes"
	"math/big"
	"slices"
	"strings"
	"testing"

	"gigarank/internal/result"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// Studies show each cause that statistics have.
func TestStudiesKnowAllCauses(t *testing.T) {
	var all []string
	for i := range mpivirt.NumberOfCauses {
		all = append(all, mpivirt.Cause(i).String())
	}
	got := slices.Clone(causes)
	slices.Sort(got)
	slices.Sort(all)
	if !slices.Equal(got, all) {
		t.Errorf("%q, not %q", got, all)
	}
}

// The share of a cause is its time over that of all ranks; ranks of their own are left to runs.
func TestSharesOfCauses(t *testing.T) {
	p := planOf(t, Axes{Program: inFile(""), Ranks: "2,16"})
	records := lasting(p, func(Point) vtime.Duration { return vtime.Second })
	for i := range records {
		d := records[i].Result
		d.Statistics = &result.Statistics{
			Times:      result.Times{Time: big.NewInt(400), Waiting: big.NewInt(100), Causes: map[string]*big.Int{"computing": big.NewInt(300), "late sender": big.NewInt(100)}},
			Efficiency: &result.Efficiency{LoadBalance: 0.75, Communication: 0.5, Parallel: 0.375},
			Tasks:      []result.Task{{Rank: 1}}, Matrix: &result.Matrix{},
		}
		records[i] = p.NewRecord("v", records[i].Point, d)
		if s := records[i].Result.Statistics; s.Tasks != nil || s.Matrix != nil || d.Statistics.Tasks == nil {
			t.Errorf("a record has %+v", s)
		}
	}
	var text, page bytes.Buffer
	p.WriteText(&text, records)
	if !strings.Contains(strings.Join(strings.Fields(text.String()), " "), "ranks computing late sender 2 75.0 % 25.0 % 16 75.0 % 25.0 %") {
		t.Errorf("the text is\n%s", text.String())
	}
	if err := p.WriteReport(&page, records, Origin{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<h2>Where the time goes</h2>", "16 ranks: late sender 25 %", "37.5 % = 75 % × 50 %"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
