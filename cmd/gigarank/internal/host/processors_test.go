package host

import (
	"fmt"
	"testing"
)

// The time that processors work is all but that in which they are idle or wait for disks.
func TestParseProcessors(t *testing.T) {
	const text = "cpu  100 20 300 5000 600 7 8 9 50 60\ncpu0 50 10 150 2500 300 7 8 9 25 30\ncpu1 50 10 150 2500 300 0 0 0 25 30\nintr 1 2 3\n"
	if p, err := parseProcessors(text); err != nil || p.Number != 2 || fmt.Sprintf("%.2f", p.Used) != "4.44" {
		t.Errorf("%+v, %v: want 2 processors that worked for 4.44 s", p, err)
	}
	for _, damaged := range []string{"", "intr 1\n", "cpu 1 x\ncpu0 1 1\n"} {
		if p, err := parseProcessors(damaged); err == nil {
			t.Errorf("%q: %+v, want an error", damaged, p)
		}
	}
}
