package main

import (
	"fmt"
	"io"
	"math/big"
	"text/tabwriter"

	"gigarank/internal/result"
	"gigarank/mpivirt"
	"gigarank/network"
	"gigarank/study"
)

// countEnergy has the statistics counted on which the energy of a run rests, if the machine tells what it consumes.
func (r *request) countEnergy() error {
	t := r.config.Target
	if t == nil || t.Energy() == nil || r.entry.Direct != nil || r.config.Activities {
		return nil
	}
	if r.config.Collectives == mpivirt.Bulk {
		return fmt.Errorf("bulk, but machine %s has energy, which is counted message by message: leave bulk out, or energy", t.Machine().Name())
	}
	r.untold, r.config.Activities, r.config.Collectives = true, true, mpivirt.Message
	return nil
}

// The causes of energy beside those of the ranks' time.
const (
	ofNodes      = "nodes"
	ofInterfaces = "interfaces"
)

// perSecond are the picoseconds of a second.
var perSecond = big.NewRat(1e12, 1)

// energyOf returns what a run consumes, nil if its machine does not tell. Sums are exact until they are rounded to a float.
func energyOf(t *network.Target, s *result.Statistics, simulated *mpivirt.Result) *result.Energy {
	if t == nil || t.Energy() == nil || s == nil {
		return nil
	}
	of, took := t.Energy(), big.NewInt(int64(simulated.VirtualTime))
	e := &result.Energy{Causes: map[string]float64{}, Nodes: t.Nodes(), InterfaceBytes: simulated.Calls.Between}
	all := new(big.Rat)
	add := func(cause string, joules *big.Rat) {
		if joules.Sign() > 0 {
			e.Causes[cause], _ = joules.Float64()
			all.Add(all, joules)
		}
	}
	during := func(watts *big.Rat, ps *big.Int) *big.Rat {
		joules := new(big.Rat).SetInt(ps)
		return joules.Quo(joules.Mul(joules, watts), perSecond)
	}
	for i := range mpivirt.NumberOfCauses {
		cause := mpivirt.Cause(i)
		if sum := s.Causes[cause.String()]; sum != nil {
			watts := of.Compute
			if cause.Waits() {
				watts = of.Wait
			}
			add(cause.String(), during(watts, sum))
		}
	}
	add(ofNodes, during(of.Node, new(big.Int).Mul(took, big.NewInt(int64(e.Nodes)))))
	bytes := new(big.Rat).SetInt(new(big.Int).SetUint64(e.InterfaceBytes))
	add(ofInterfaces, bytes.Mul(bytes, of.Interface))
	e.Joules, _ = all.Float64()
	if took.Sign() > 0 {
		e.Watts, _ = new(big.Rat).Mul(new(big.Rat).Quo(all, new(big.Rat).SetInt(took)), perSecond).Float64()
	}
	return e
}

// tabulateEnergy prints what the run consumes by cause, if the machine tells.
func (d *document) tabulateEnergy(w io.Writer) {
	e := d.Energy
	if e == nil {
		return
	}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "energy\tof the run\tshare")
	for _, cause := range study.EnergyCauses(e) {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%.1f %%\n", cause, study.Joules(e.Causes[cause]), 100*e.Causes[cause]/e.Joules)
	}
	_, _ = fmt.Fprintf(table, "all\t%s\t%.4g W on average\n", study.Joules(e.Joules), e.Watts)
	_ = table.Flush()
	_, _ = fmt.Fprintln(w)
}
