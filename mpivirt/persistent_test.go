package mpivirt_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"gigarank/mpivirt"
)

// MPI 4.1, 3.9: a persistent request becomes inactive by a completion call, which
// may be given a copy of it among others, and can then be started again; one that
// is active must not be started.
func TestPersistentRequests(t *testing.T) {
	_, err := simulate(t, mpivirt.Config{
		Target: target(t, rendezvous, 2),
		Program: mpivirt.Program{Name: "persistent", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			r.SetErrorsReturn(true)
			r.AttachBuffer(8)
			w, other := r.World(), 1-r.Rank()
			out, in := []int32{0}, []int32{0}
			all := []*mpivirt.Persistent{mpivirt.RecvInit(w, in, other, 0), mpivirt.BsendInit(w, out, other, 0)}
			for round := range int32(3) {
				out[0] = 10*int32(r.Rank()) + round
				if err := mpivirt.Startall(all); err != nil {
					return err
				}
				for i, p := range all {
					if err := p.Start(); !errors.Is(err, mpivirt.ErrRequest) {
						return fmt.Errorf("a Start of active request %d returned %v", i, err)
					}
				}
				if _, err := mpivirt.Waitall([]mpivirt.Request{all[0].Request, all[1].Request}); err != nil {
					return err
				}
				if want := []int32{10*int32(other) + round}; !slices.Equal(in, want) {
					return fmt.Errorf("round %d brought %d, want %d", round, in, want)
				}
			}
			return nil
		})}},
	}, 2)
	if err != nil {
		t.Error(err)
	}
}

// MPI 4.1, 3.9: a persistent ready send is a ready send each time.
func TestPersistentReadySend(t *testing.T) {
	failed := rankError(t, failing(t, 2, func(r *mpivirt.Rank) error {
		if r.Rank() == 0 {
			p := mpivirt.RsendInit(r.World(), make([]byte, 1), 1, 0)
			if err := p.Start(); err != nil {
				return err
			}
			_, err := p.Wait()
			return err
		}
		r.Compute(50_000_000)
		_, err := mpivirt.Recv(r.World(), make([]byte, 1), 0, 0)
		return err
	}))
	if failed.Rank != 1 || !errors.Is(failed, mpivirt.ErrOther) {
		t.Errorf("got %v", failed)
	}
}
