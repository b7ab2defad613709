package mpivirt_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"gigarank/mpivirt"
	"gigarank/vtime"
)

// MPI 4.1, 3.4: a send in ready mode is erroneous unless the matching receive is posted. It is posted if it
// is when the message arrives, whatever the receiver's processor does then.
func TestReadyModeUnderAllModels(t *testing.T) {
	late := map[string]func(r *mpivirt.Rank, other func() error) error{
		"a receive after computing": func(r *mpivirt.Rank, other func() error) error {
			r.Compute(vtime.Duration(vtime.Second))
			_, err := mpivirt.Recv(r.World(), make([]byte, 1), 0, 0)
			return err
		},
		"a nonblocking receive after computing": func(r *mpivirt.Rank, other func() error) error {
			r.Compute(vtime.Duration(vtime.Second))
			q, err := mpivirt.Irecv(r.World(), make([]byte, 1), mpivirt.AnySource, 0)
			if err == nil {
				_, err = q.Wait()
			}
			return err
		},
		"a receive of what a probe has found": func(r *mpivirt.Rank, other func() error) error {
			if _, err := r.World().Probe(0, 0); err != nil {
				return err
			}
			r.Compute(vtime.Microsecond)
			_, err := mpivirt.Recv(r.World(), make([]byte, 1), 0, 0)
			return err
		},
		"a receive behind another message": func(r *mpivirt.Rank, other func() error) error {
			if err := other(); err != nil {
				return err
			}
			_, err := mpivirt.Recv(r.World(), make([]byte, 1), 0, 0)
			return err
		},
	}
	onTime := map[string]func(r *mpivirt.Rank, other func() error) error{
		"a receive": func(r *mpivirt.Rank, other func() error) error {
			_, err := mpivirt.Recv(r.World(), make([]byte, 1), 0, 0)
			return err
		},
		"a nonblocking receive before computing": func(r *mpivirt.Rank, other func() error) error {
			q, err := mpivirt.Irecv(r.World(), make([]byte, 1), 0, 0)
			if err == nil {
				r.Compute(vtime.Duration(vtime.Second))
				_, err = q.Wait()
			}
			return err
		},
	}
	machines := map[string]string{
		"flat":     "name: m\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}",
		"overhead": "name: m\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, overhead: {send: 1us, receive: 1us}, gap: 100ns}",
		"twolevel": "name: m\nranks_per_node: 2\nnetwork: {model: twolevel, intra: {latency: 1us, bandwidth: 1GB/s}, inter: {latency: 2us, bandwidth: 1GB/s}}",
		"loggops":  "loggops-default", "xt5": "xt5", "gigabit-star": "gigabit-star", "frontier": "frontier",
	}
	for name, machine := range machines {
		for _, ready := range []bool{false, true} {
			for what, receive := range late {
				if err := readySend(t, machine, ready, receive); ready != errors.Is(err, mpivirt.ErrOther) || !ready && err != nil {
					t.Errorf("%s, %s, ready mode %v: %v", name, what, ready, err)
				}
			}
			for what, receive := range onTime {
				if err := readySend(t, machine, ready, receive); err != nil {
					t.Errorf("%s, %s, ready mode %v: %v", name, what, ready, err)
				}
			}
		}
	}
}

// readySend has rank 0 send rank 1 a byte, and rank 2 a megabyte before, for which other waits. It returns
// the error of the run, which is the same on any number of engines.
func readySend(t *testing.T, machine string, ready bool, receive func(r *mpivirt.Rank, other func() error) error) error {
	t.Helper()
	program := mpivirt.Program{Name: "ready", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
		switch r.Rank() {
		case 0:
			r.Compute(20 * vtime.Microsecond)
			if ready {
				return mpivirt.Rsend(r.World(), []byte{1}, 1, 0)
			}
			return mpivirt.Send(r.World(), []byte{1}, 1, 0)
		case 1:
			q, err := mpivirt.Irecv(r.World(), make([]byte, 1<<20), 2, 0)
			if err != nil {
				return err
			}
			other := sync.OnceValue(func() error {
				_, err := q.Wait()
				return err
			})
			return errors.Join(receive(r, other), other())
		}
		r.AttachBuffer(1 << 21)
		return mpivirt.Bsend(r.World(), make([]byte, 1<<20), 1, 0)
	})}}
	var first error
	for engines := 1; engines <= 3; engines++ {
		_, err := simulate(t, mpivirt.Config{Target: target(t, machine, 3), Program: program, Strict: engines == 3}, engines)
		if engines > 1 && fmt.Sprint(err) != fmt.Sprint(first) {
			t.Errorf("%s: %v with %d engines, %v with one", machine, err, engines, first)
		}
		first = err
	}
	return first
}
