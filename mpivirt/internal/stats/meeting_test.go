package stats

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"gigarank/vtime"
)

// Ranks that leave meetings together, or each with an exit and an account of its own, count as ranks that leave them one by one, whoever has waited for whom before.
func TestRanksLeaveTogetherAsOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.SampledFrom([]int{1, 2, 5, 12}).Draw(t, "ranks")
		all := ranks + rapid.SampledFrom([]int{0, FunctionsKept}).Draw(t, "others") // of few ranks functions are kept
		var together, single Calls
		waiters := make([]Waiter, ranks)
		for i := range waiters {
			waiters[i].Rank = int32(i)
		}
		course, each := rapid.Bool().Draw(t, "course"), rapid.Bool().Draw(t, "calls are kept by rank")
		if !each {
			waiters = nil
		}
		for _, c := range []*Calls{&together, &single} {
			if c.Open(0, ranks, all, each); course {
				c.Course().Open()
			}
		}
		alone := slices.Clone(waiters)
		now, instant := vtime.Time(0), rapid.Int64Range(0, 40)
		for range rapid.IntRange(1, 6).Draw(t, "meetings") {
			entries := make([]vtime.Time, ranks)
			for i := range entries {
				entries[i] = now + vtime.Time(instant.Draw(t, "entry"))
			}
			latest := max(slices.Max(entries)+vtime.Time(instant.Draw(t, "later")-20), 0) // an engine may know of an earlier one alone
			exit := max(latest+vtime.Time(instant.Draw(t, "exit")-5), slices.Max(entries))
			late := Late{}
			if each {
				late = waiters[rapid.IntRange(0, ranks-1).Draw(t, "late")].Late
			}
			cause := rapid.SampledFrom([]Cause{WaitAtBarrier, WaitAtNToN}).Draw(t, "cause")
			key, size := CallKey{Procedure: 3}, instant.Draw(t, "bytes")
			of, by := together.Meet(key, size, cause, latest, late), single.Meet(key, size, cause, latest, late)
			if now = exit; each && rapid.Bool().Draw(t, "together") {
				of.LeaveTogether(0, waiters, entries, exit)
				for i := range alone {
					by.Leave(int32(i), &alone[i], entries[i], exit, Parts{}, nil)
				}
				continue
			}
			exits, accounts := make([]vtime.Time, ranks), make([]Account, ranks)
			work, most := func(name string) vtime.Duration { return vtime.Duration(instant.Draw(t, name) / 4) }, rapid.Int64Range(0, 1)
			for i := range exits {
				exits[i] = exit + vtime.Time(instant.Draw(t, "own exit"))
				accounts[i] = Account{Works: work("works"), Sent: work("sent"), Received: work("received"), Combined: work("combined")}
				accounts[i].Shared, accounts[i].Within = work("shared")*vtime.Duration(most.Draw(t, "shares")), work("within")*vtime.Duration(most.Draw(t, "delays"))
				now = max(now, exits[i])
			}
			of.LeaveApart(waiters, entries, exits, accounts)
			for i := range accounts {
				phases, w := accounts[i].Phases(), &Waiter{}
				if each {
					w = &alone[i]
				}
				by.Leave(int32(i), w, entries[i], exits[i], accounts[i].Parts(), &phases)
			}
		}
		if !slices.Equal(waiters, alone) {
			t.Errorf("waiters %+v, one by one %+v", waiters, alone)
		}
		if got, want := fmt.Sprint(together.Blamed()), fmt.Sprint(single.Blamed()); got != want {
			t.Errorf("others wait for %s, one by one %s", got, want)
		}
		together.blame, single.blame = blame{}, blame{} // in the order in which ranks were found
		if got, want := together.Append(nil), single.Append(nil); !bytes.Equal(got, want) {
			t.Errorf("%+v\none by one\n%+v", together.Tasks(), single.Tasks())
		}
	})
}
