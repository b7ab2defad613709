package mpivirt_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gigarank/mpivirt"
	"gigarank/vtime"
)

// A program may poll between steps of its own work, as HPCC's RandomAccess does, and send only after many
// polls that find nothing. A run that takes it to wait names the remedy; with more polls allowed each of
// them takes its time.
func TestPollsBetweenWork(t *testing.T) {
	const most = 1400
	polls := func(r *mpivirt.Rank) error {
		in, other := []byte{0}, 1-r.Rank()
		q, err := mpivirt.Irecv(r.World(), in, other, 1)
		if err != nil {
			return err
		}
		for range most {
			if _, found, err := q.Test(); err != nil || found {
				return fmt.Errorf("a message is there before it is sent: %v", err)
			}
		}
		if now, want := r.Now(), vtime.Time(most*100*1000); now != want { // poll: 100ns
			return fmt.Errorf("%d polls end at %v, want %v", most, now, want)
		}
		if err := mpivirt.Send(r.World(), []byte{7}, other, 1); err != nil {
			return err
		}
		_, err = q.Wait()
		return err
	}
	for name, machine := range growthMachines {
		for _, engines := range []int{1, 2} {
			for _, c := range []struct {
				polls int32
				ends  bool
			}{{0, false}, {most - 1, false}, {most, true}, {1 << 30, true}} {
				_, err := simulateAndClose(t, mpivirt.Config{Target: target(t, machine, 2), Polls: c.polls,
					Program: mpivirt.Program{Name: "polls", Forms: []mpivirt.Form{mpivirt.Main(polls)}}}, engines)
				var deadlock *mpivirt.DeadlockError
				switch {
				case c.ends && err != nil:
					t.Errorf("%s, %d engines, %d polls allowed: %v", name, engines, c.polls, err)
				case !c.ends && (!errors.As(err, &deadlock) || !strings.Contains(err.Error(), "--polls")):
					t.Errorf("%s, %d engines, %d polls allowed: %v, want a deadlock that names --polls", name, engines, c.polls, err)
				}
			}
		}
	}
}
