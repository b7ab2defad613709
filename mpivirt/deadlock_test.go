package mpivirt_test

import (
	"errors"
	"slices"
	"testing"

	"gigarank/mpivirt"
)

// The report of a deadlock says the same on any number of engines: who waits, in what
// call, since when, and for whom.
func TestDeadlocksAreReportedAlike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		ranks   int
		main    func(r *mpivirt.Rank) error
		waiting uint64
		want    []mpivirt.Blocked
	}{
		{"a rank that ends instead", 8, func(r *mpivirt.Rank) error {
			r.Compute(us(1 + r.Rank()))
			if r.Rank() == 5 {
				return nil
			}
			return r.World().Barrier()
		}, 7, waitersFor(8, "Barrier", "rank 5 of WORLD to call it", 5)},
		{"several", 8, func(r *mpivirt.Rank) error {
			r.Compute(us(1 + r.Rank()))
			if r.Rank() == 2 || r.Rank() == 3 || r.Rank() == 7 {
				return nil
			}
			return mpivirt.Allreduce(r.World(), []int64{1}, []int64{0}, mpivirt.Sum[int64]())
		}, 5, waitersFor(8, "Allreduce", "rank 2 of WORLD and 2 more to call it", 2, 3, 7)},
		{"in a second one", 8, func(r *mpivirt.Rank) error {
			r.Compute(us(1 + r.Rank()))
			for i := range 2 {
				if r.Rank() == 6 && i == 1 {
					return nil
				}
				if err := mpivirt.Bcast(r.World(), []byte{1}, 6); err != nil {
					return err
				}
			}
			return nil
		}, 7, nil},
		{"of one of many messages", 8, func(r *mpivirt.Rank) error {
			r.Compute(us(1 + r.Rank()))
			if r.Rank() == 0 {
				return nil
			}
			_, err := mpivirt.Recv(r.World(), []byte{0}, r.Rank()-1, 4)
			return err
		}, 7, []mpivirt.Blocked{
			{Rank: 1, Call: "Recv", For: "a message from rank 0 of WORLD with tag 4", Since: at(2)},
			{Rank: 2, Call: "Recv", For: "a message from rank 1 of WORLD with tag 4", Since: at(3)},
			{Rank: 3, Call: "Recv", For: "a message from rank 2 of WORLD with tag 4", Since: at(4)},
			{Rank: 4, Call: "Recv", For: "a message from rank 3 of WORLD with tag 4", Since: at(5)},
			{Rank: 5, Call: "Recv", For: "a message from rank 4 of WORLD with tag 4", Since: at(6)},
			{Rank: 6, Call: "Recv", For: "a message from rank 5 of WORLD with tag 4", Since: at(7)},
			{Rank: 7, Call: "Recv", For: "a message from rank 6 of WORLD with tag 4", Since: at(8)},
		}},
		{"on a part", 8, func(r *mpivirt.Rank) error {
			part, err := r.World().Split(r.Rank()%2, -r.Rank())
			if err != nil {
				return err
			}
			if r.Rank() == 3 || r.Rank() == 4 {
				return nil
			}
			return part.Barrier()
		}, 6, nil},
		{"one that began it and did not wait", 4, func(r *mpivirt.Rank) error {
			r.Compute(us(1 + r.Rank()))
			if r.Rank() == 1 {
				_, err := mpivirt.Recv(r.World(), []byte{0}, mpivirt.AnySource, mpivirt.AnyTag)
				return err
			}
			q, err := r.World().Ibarrier()
			if err != nil {
				return err
			}
			_, err = q.Wait()
			return err
		}, 4, []mpivirt.Blocked{
			{Rank: 0, Call: "Wait", For: "the end of Barrier on WORLD", Since: at(1)},
			{Rank: 1, Call: "Recv", For: "a message from any rank of WORLD with any tag", Since: at(2)},
			{Rank: 2, Call: "Wait", For: "the end of Barrier on WORLD", Since: at(3)},
			{Rank: 3, Call: "Wait", For: "the end of Barrier on WORLD", Since: at(4)},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			first := ""
			everywhere(t, c.ranks, mpivirt.Program{Name: c.name, Forms: []mpivirt.Form{mpivirt.Main(c.main)}}, func(name string, _ *mpivirt.Result, err error) {
				var d *mpivirt.DeadlockError
				if !errors.As(err, &d) {
					t.Fatalf("%s: got %v, want a *DeadlockError", name, err)
				}
				withoutPlaces(d)
				if d.Waiting != c.waiting || c.want != nil && !slices.Equal(d.Blocked, c.want) {
					t.Errorf("%s: %v\nwant %v", name, err, c.want)
				}
				if first == "" {
					first = err.Error()
				}
				if err.Error() != first {
					t.Errorf("%s: %v\nfirst: %s", name, err, first)
				}
			})
		})
	}
}

// withoutPlaces removes the places of calls from a report: event ranks have none. TestFailuresNameTheirLines, in package
// native, looks at places.
func withoutPlaces(d *mpivirt.DeadlockError) {
	for i := range d.Blocked {
		d.Blocked[i].Place = ""
	}
}

// waitersFor lists all ranks but some, each since its number and one in microseconds.
func waitersFor(ranks int, call, awaited string, but ...int) (all []mpivirt.Blocked) {
	for rank := range ranks {
		if !slices.Contains(but, rank) {
			all = append(all, mpivirt.Blocked{Rank: rank, Call: call, For: awaited, Since: at(rank + 1)})
		}
	}
	return all
}
