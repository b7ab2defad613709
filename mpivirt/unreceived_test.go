package mpivirt_test

import (
	"errors"
	"strings"
	"testing"

	"gigarank/mpivirt"
	"gigarank/vtime"
)

// MPI 4.1, 11.2.2: a program that ends with messages which are not received is in error. The error
// names the first by receiver, whether the receiver has ended before the message arrived or not.
func TestUnreceivedMessages(t *testing.T) {
	for _, machine := range []string{"xt5", noOverhead, "loggops-default"} {
		for _, early := range []bool{false, true} {
			main := func(r *mpivirt.Rank) error {
				if (r.Rank() == 0) != early {
					r.Compute(vtime.Millisecond)
				}
				if r.Rank() > 0 {
					return nil
				}
				return errors.Join(mpivirt.Send(r.World(), make([]byte, 3), 2, 4), mpivirt.Send(r.World(), make([]byte, 5), 1, 6))
			}
			for _, h := range hostings(3) {
				_, err := simulate(t, mpivirt.Config{
					Target: target(t, machine, 3), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict,
					Program: mpivirt.Program{Name: "unreceived", Forms: []mpivirt.Form{mpivirt.Main(main)}},
				}, h.Engines)
				failed := rankError(t, err)
				if failed.Rank != 1 || !errors.Is(err, mpivirt.ErrOther) || (failed.Time < vtime.Time(vtime.Millisecond)) == early ||
					!strings.Contains(err.Error(), "the message of 5 bytes that rank 0 has sent to it with tag 6") || !strings.Contains(err.Error(), "2 messages are left") {
					t.Errorf("%s, early %v, %+v: %v", machine, early, h, err)
				}
			}
		}
	}
}

// A message that a matched probe has found is not received by that.
func TestUnreceivedMessageOfMatchedProbe(t *testing.T) {
	for _, machine := range []string{"xt5", noOverhead, "loggops-default"} {
		main := func(r *mpivirt.Rank) error {
			if r.Rank() == 0 {
				return mpivirt.Send(r.World(), make([]byte, 5), 1, 6)
			}
			_, err := r.World().Mprobe(0, 6)
			return err
		}
		for _, h := range hostings(2) {
			_, err := simulate(t, mpivirt.Config{
				Target: target(t, machine, 2), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict,
				Program: mpivirt.Program{Name: "unreceived", Forms: []mpivirt.Form{mpivirt.Main(main)}},
			}, h.Engines)
			if failed := rankError(t, err); failed.Rank != 1 || !errors.Is(err, mpivirt.ErrOther) ||
				!strings.Contains(err.Error(), "the message of 5 bytes that rank 0 has sent to it with tag 6") {
				t.Errorf("%s, %+v: %v", machine, h, err)
			}
		}
	}
}

// A receive that its rank does not wait for matches the message that comes after the rank's end: the
// run lasts until nothing more happens. That message may not be left, however the ranks are hosted.
func TestMatchAfterTheLastRankEnds(t *testing.T) {
	main := func(r *mpivirt.Rank) error {
		switch {
		case r.Rank() == 0:
			_, err := mpivirt.Irecv(r.World(), make([]byte, 3), mpivirt.AnySource, 4)
			return err
		case r.Rank() == 3:
			r.Compute(vtime.Millisecond)
			return mpivirt.Send(r.World(), make([]byte, 3), 0, 4)
		}
		return nil
	}
	for _, machine := range []string{"xt5", noOverhead, "loggops-default"} {
		for _, h := range hostings(4) {
			for range 20 {
				_, err := simulate(t, mpivirt.Config{
					Target: target(t, machine, 4), Collectives: h.Collectives, Protocol: h.Protocol, Strict: h.Strict,
					Program: mpivirt.Program{Name: "unawaited", Forms: []mpivirt.Form{mpivirt.Main(main)}},
				}, h.Engines)
				if err != nil {
					t.Errorf("%s, %+v: %v", machine, h, err)
					break
				}
			}
		}
	}
}
