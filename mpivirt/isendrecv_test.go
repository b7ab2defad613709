package mpivirt_test

import (
	"errors"
	"fmt"
	"testing"

	"gigarank/mpivirt"
	"gigarank/vtime"
)

// An Isendrecv is complete when its receive and its send are, and has the status of the receive, also
// from any source. A message of 8 bytes comes after 1.008 us. One of 2,000 bytes comes 3 us, of
// request, acknowledgement and data, and 2 us of bytes after the call, though the rank computes.
func TestIsendrecv(t *testing.T) {
	for bytes, want := range map[int]vtime.Time{8: 1_008_000, 2000: 5_000_000} {
		for _, engines := range []int{1, 2, 3} {
			_, err := simulate(t, mpivirt.Config{Target: target(t, noOverhead, 3), Program: mpivirt.Program{Name: "shift", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				next, last := (r.Rank()+1)%3, (r.Rank()+2)%3
				out, in := make([]byte, bytes), make([]byte, bytes+1)
				out[0] = byte(r.Rank())
				from := last
				if r.Rank() == 1 {
					from = mpivirt.AnySource
				}
				q, err := mpivirt.Isendrecv(r.World(), out, next, 7, in, from, mpivirt.AnyTag)
				if err != nil {
					return err
				}
				out[0] = 99 // what is sent is what it was at the call
				r.Compute(vtime.Microsecond / 2)
				statuses, err := mpivirt.Waitall([]mpivirt.Request{q})
				if err != nil {
					return err
				}
				if s := statuses[0]; s.Source != last || s.Tag != 7 || s.Bytes != int64(bytes) || int(in[0]) != last || r.Now() != want {
					return fmt.Errorf("rank %d: %+v, %d at %v", r.Rank(), s, in[0], r.Now())
				}
				return nil
			})}}}, engines)
			if err != nil {
				t.Errorf("%d bytes, %d engines: %v", bytes, engines, err)
			}
		}
	}
}

// The request fails as its receive does.
func TestIsendrecvFails(t *testing.T) {
	err := inside(t, 2, 1, false, func(r *mpivirt.Rank) error {
		r.SetErrorsReturn(true)
		q, err := mpivirt.Isendrecv(r.World(), make([]byte, 4), 1-r.Rank(), 0, make([]byte, 2), 1-r.Rank(), 0)
		if err != nil {
			return err
		}
		if _, err := q.Wait(); !errors.Is(err, mpivirt.ErrTruncate) {
			return fmt.Errorf("a message that is too long: %v", err)
		}
		both := make([]byte, 8)
		if _, err := mpivirt.Isendrecv(r.World(), both[:5], 1-r.Rank(), 0, both[3:], 1-r.Rank(), 0); !errors.Is(err, mpivirt.ErrBuffer) {
			return fmt.Errorf("shared memory: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
