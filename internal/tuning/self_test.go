package tuning_test

import (
	"testing"

	"gigarank/internal/tuning"
	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/sync"
)

// A rank alone, in SELF or a communicator of its own, takes part in collectives on any machine, whatever chooses their algorithms, and whether
// or not an operation commutes.
func TestCollectivesOfOneMember(t *testing.T) {
	for _, preset := range network.Presets() {
		for _, name := range []string{"", tuning.NoLibrary, "mpich-4", "openmpi-5"} {
			m, err := network.Load(preset.Name, nil)
			if err != nil {
				t.Fatal(err)
			}
			chosen, err := tuning.Library(name, m, nil)
			if err != nil {
				t.Fatal(err)
			}
			target, err := m.Target(3)
			if err != nil {
				t.Fatal(err)
			}
			first := mpivirt.NewOp(false, func(a, _ int) int { return a })
			c := mpivirt.Config{Target: target, Library: chosen, Transports: sync.NewInProcess(1), Program: mpivirt.Program{Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				own, err := r.World().Split(r.Rank(), 0)
				if err != nil {
					return err
				}
				for _, c := range []*mpivirt.Comm{r.Self(), own} {
					got := []int{0}
					if err := c.Barrier(); err != nil {
						return err
					}
					for _, op := range []mpivirt.Op[int]{first, mpivirt.Sum[int]()} {
						if err := mpivirt.Allreduce(c, []int{7}, got, op); err != nil || got[0] != 7 {
							t.Errorf("%s, library %q: %d, %v", preset.Name, name, got[0], err)
						}
						if err := mpivirt.Scan(c, []int{8}, got, op); err != nil || got[0] != 8 {
							t.Errorf("%s, library %q: %d, %v", preset.Name, name, got[0], err)
						}
					}
				}
				return nil
			})}}}
			s, err := mpivirt.New(c)
			if err == nil {
				_, err = s.Run()
			}
			if err != nil {
				t.Errorf("%s, library %q: %v", preset.Name, name, err)
			}
		}
	}
}
