package mpivirt_test

import (
	"errors"
	"fmt"
	"testing"

	"gigarank/mpivirt"
)

// WaitallInto waits as Waitall does. It puts the statuses where the caller wants them, or nowhere.
func TestWaitallInto(t *testing.T) {
	for _, engines := range []int{1, 2} {
		err := inside(t, 2, engines, false, func(r *mpivirt.Rank) error {
			r.SetErrorsReturn(true)
			other, in := 1-r.Rank(), make([]byte, 8)
			begin := func(bytes int) (requests []mpivirt.Request, err error) {
				requests = make([]mpivirt.Request, 3) // the last is inactive
				if requests[0], err = mpivirt.Irecv(r.World(), in, other, bytes); err != nil {
					return nil, err
				}
				requests[1], err = mpivirt.Isend(r.World(), make([]byte, bytes), other, bytes)
				return requests, err
			}
			requests, err := begin(5)
			if err != nil {
				return err
			}
			if err := mpivirt.WaitallInto(requests, make([]mpivirt.Status, 2)); !errors.Is(err, mpivirt.ErrCount) {
				return fmt.Errorf("two statuses for three requests: %v", err)
			}
			statuses := make([]mpivirt.Status, 3)
			if err := mpivirt.WaitallInto(requests, statuses); err != nil {
				return err
			}
			empty := mpivirt.Status{Source: mpivirt.AnySource, Tag: mpivirt.AnyTag}
			if s := statuses[0]; s.Source != other || s.Tag != 5 || s.Bytes != 5 || statuses[2] != empty {
				return fmt.Errorf("the statuses are %+v", statuses)
			}
			if requests, err = begin(6); err != nil {
				return err
			}
			before := r.Now()
			if err := mpivirt.WaitallInto(requests, nil); err != nil || r.Now() == before {
				return fmt.Errorf("no statuses: %v, from %v to %v", err, before, r.Now())
			}
			if requests[0] != (mpivirt.Request{}) {
				return errors.New("a request is active after the wait")
			}
			if requests, err = begin(9); err != nil {
				return err
			}
			if err := mpivirt.WaitallInto(requests, nil); !errors.Is(err, mpivirt.ErrTruncate) {
				return fmt.Errorf("a message that is too long: %v", err)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d engines: %v", engines, err)
		}
	}
}
