package native_test

import (
	"slices"
	"testing"

	"gigarank/mpivirt/native"
	"gigarank/sync"
)

// Polls that the runtime answers, since they are known to fail, are those of a run in the order of virtual time, in which each
// poll is an event.
func TestForeseenPolls(t *testing.T) {
	program := build(t, "polls.c")
	for _, machine := range []string{"xt5", "vaced-sim", "loggops-default"} {
		const ranks = 7
		first, want, err := run(t, program, machine, ranks, hosting{engines: 1, protocol: sync.Hybrid, strict: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range []hosting{
			{engines: 1, protocol: sync.Hybrid}, {engines: 2, protocol: sync.Hybrid}, {engines: 3, protocol: sync.Null},
			{engines: 4, protocol: sync.Conditional}, {engines: 1, protocol: sync.Hybrid, stacks: native.Copied},
		} {
			result, lines, err := run(t, program, machine, ranks, h)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(lines, want) || result.Fingerprint != first.Fingerprint {
				t.Errorf("%s, %+v: %v, want %v", machine, h, lines, want)
			}
			if machine == "vaced-sim" && result.Statistics.Events >= first.Statistics.Events/2 {
				t.Errorf("%s, %+v: %d events, in the order of virtual time %d", machine, h, result.Statistics.Events, first.Statistics.Events)
			}
		}
	}
}
