package mpivirt_test

import (
	"fmt"
	"testing"

	"gigarank/collectives"
	"gigarank/mpivirt"
	"gigarank/vtime"
)

// fill sets all elements to a value.
func fill(data []int64, value int64) []int64 {
	for i := range data {
		data[i] = value
	}
	return data
}

// holds returns an error if an element is not the value.
func holds(what string, data []int64, value int64) error {
	for i, got := range data {
		if got != value {
			return fmt.Errorf("%s: element %d is %d, want %d", what, i, got, value)
		}
	}
	return nil
}

// A program may change what it has sent once the send has returned, and what it has received
// at any time (MPI 4.1, 3.4). Whether the receive is posted before the send or after it, from
// which source, and whether the sender waits for the match, others see what was sent.
func TestSentDataMayBeChanged(t *testing.T) {
	const machine = "name: m\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, eager_limit: 1KiB}\n"
	for _, elements := range []int{16, 1024} { // below and above the eager limit
		for _, early := range []bool{true, false} {
			for _, source := range []int{0, mpivirt.AnySource} {
				for _, engines := range []int{1, 2} {
					main := func(r *mpivirt.Rank) error {
						w, data := r.World(), make([]int64, elements)
						if r.Rank() == 1 {
							if !early {
								r.Compute(vtime.Millisecond)
							}
							for i := range int64(4) {
								if _, err := mpivirt.Recv(w, data, source, int(i)); err != nil {
									return err
								}
								if err := holds("Recv", data, i); err != nil {
									return err
								}
								fill(data, -1)
							}
							_, err := mpivirt.Sendrecv(w, fill(data, 10), 0, 0, make([]int64, elements), 0, 0)
							fill(data, -1)
							return err
						}
						if early {
							r.Compute(vtime.Millisecond)
						}
						if err := mpivirt.Send(w, fill(data, 0), 1, 0); err != nil {
							return err
						}
						if err := mpivirt.Ssend(w, fill(data, 1), 1, 1); err != nil {
							return err
						}
						q, err := mpivirt.Isend(w, fill(data, 2), 1, 2)
						if err != nil {
							return err
						}
						fill(data, -1)
						p, err := mpivirt.Issend(w, fill(data, 3), 1, 3)
						if err != nil {
							return err
						}
						fill(data, -1)
						if _, err := mpivirt.Waitall([]mpivirt.Request{q, p}); err != nil {
							return err
						}
						got := make([]int64, elements)
						if _, err := mpivirt.Sendrecv(w, fill(data, 11), 1, 0, got, 1, 0); err != nil {
							return err
						}
						fill(data, -1)
						return holds("Sendrecv", got, 10)
					}
					_, err := simulate(t, mpivirt.Config{
						Target: target(t, machine, 2), Program: mpivirt.Program{Name: "change", Forms: []mpivirt.Form{mpivirt.Main(main)}},
					}, engines)
					if err != nil {
						t.Errorf("%d elements, receives first: %t, source %d, %d engines: %v", elements, early, source, engines, err)
					}
				}
			}
		}
	}
}

// What a member hands in to a collective, and what it gets, is the program's again when its
// call returns, though the others may still be in theirs (MPI 4.1, 6.1).
func TestDataOfCollectivesMayBeChanged(t *testing.T) {
	const ranks, elements = 7, 512
	const machine = "name: m\nranks_per_node: 2\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s, eager_limit: %s}\n"
	sum := mpivirt.Sum[int64]()
	for name, call := range map[string]func(c *mpivirt.Comm, in, out []int64) error{
		"bcast": func(c *mpivirt.Comm, in, out []int64) error {
			data := out
			if c.Rank() == 3 {
				data = fill(in, 21)
			}
			defer fill(in, -1)
			if err := mpivirt.Bcast(c, data, 3); err != nil {
				return err
			}
			return holds("Bcast", data, 21)
		},
		"reduce": func(c *mpivirt.Comm, in, out []int64) error {
			if err := mpivirt.Reduce(c, in, out, sum, 3); err != nil || c.Rank() != 3 {
				return err
			}
			return holds("Reduce", out, 21)
		},
		"allreduce": func(c *mpivirt.Comm, in, out []int64) error {
			if err := mpivirt.Allreduce(c, in, out, sum); err != nil {
				return err
			}
			return holds("Allreduce", out, 21)
		},
		"scan": func(c *mpivirt.Comm, in, out []int64) error {
			if err := mpivirt.Scan(c, in, out, sum); err != nil {
				return err
			}
			return holds("Scan", out, int64(c.Rank()*(c.Rank()+1)/2))
		},
		"scatter and gather": func(c *mpivirt.Comm, in, out []int64) error {
			all := make([]int64, elements*ranks)
			if c.Rank() == 3 {
				fill(all, 21)
			}
			if err := mpivirt.Scatter(c, all, out, 3); err != nil {
				return err
			}
			fill(all, -1)
			if err := holds("Scatter", out, 21); err != nil {
				return err
			}
			if err := mpivirt.Gather(c, in, all, 3); err != nil || c.Rank() != 3 {
				return err
			}
			for member := range ranks {
				if err := holds("Gather", all[member*elements:(member+1)*elements], int64(member)); err != nil {
					return err
				}
			}
			return nil
		},
		"allgather": func(c *mpivirt.Comm, in, out []int64) error {
			all := make([]int64, elements*ranks)
			if err := mpivirt.Allgather(c, in, all); err != nil {
				return err
			}
			for member := range ranks {
				if err := holds("Allgather", all[member*elements:(member+1)*elements], int64(member)); err != nil {
					return err
				}
			}
			return nil
		},
		"alltoall": func(c *mpivirt.Comm, in, out []int64) error {
			from, to := fill(make([]int64, elements*ranks), int64(c.Rank())), make([]int64, elements*ranks)
			defer fill(from, -1)
			if err := mpivirt.Alltoall(c, from, to); err != nil {
				return err
			}
			for member := range ranks {
				if err := holds("Alltoall", to[member*elements:(member+1)*elements], int64(member)); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		main := func(r *mpivirt.Rank) error {
			in, out := make([]int64, elements), make([]int64, elements)
			for range 3 {
				r.Compute(vtime.Duration(r.Rank()*r.Rank()%5) * vtime.Microsecond)
				if err := call(r.World(), fill(in, int64(r.Rank())), fill(out, -2)); err != nil {
					return err
				}
				fill(in, -1)
				fill(out, -1)
			}
			return nil
		}
		for choice := range 5 {
			algorithms := map[collectives.Operation]collectives.Algorithm{}
			for _, op := range collectives.Operations() {
				all := collectives.Algorithms(op)
				algorithms[op] = all[min(choice, len(all)-1)]
			}
			for _, limit := range []string{"64KiB", "256B"} {
				for _, interpreter := range []mpivirt.Interpreter{mpivirt.Auto, mpivirt.Message} {
					for _, engines := range []int{1, 3} {
						_, err := simulate(t, mpivirt.Config{
							Target: target(t, fmt.Sprintf(machine, limit), ranks), Collectives: interpreter, Algorithms: algorithms,
							Program: mpivirt.Program{Name: name, Forms: []mpivirt.Form{mpivirt.Main(main)}},
						}, engines)
						if err != nil {
							t.Errorf("%s, algorithm %d, eager limit %s, interpreter %d, %d engines: %v", name, choice, limit, interpreter, engines, err)
						}
					}
				}
			}
		}
	}
}
