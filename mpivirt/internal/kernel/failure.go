package kernel

import (
	"errors"

	"gigarank/engine"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// conclude returns the error of a run in which no rank can go on: the least failure, else the
// deadlock. A rank whose call does not match the calls of other ranks has failed, too; engine 0
// finds it. A late failure counts only if all waiting ranks have left MPI. All engines call
// conclude together.
func (k *Kernel) conclude() error {
	payloads, err := k.partition.Engine.Gather(append(world.AppendWords(nil, k.waiting()), k.collectives.Called()...))
	if err != nil {
		return err
	}
	answer, err := k.partition.Engine.Share(k.verdict(payloads))
	if err != nil {
		return err
	}
	switch r := (world.Reader{Rest: answer}); r.U64() {
	case otherFailure:
		n := r.U64()
		call := string(r.Rest[:n])
		r.Rest = r.Rest[n:]
		site := Site(r.U64())
		k.partition.Failing.Horizon = &engine.Failure{Time: vtime.Time(r.U64()), LP: int32(r.U64()), Reason: r.Rest}
		if err := k.gatherPlace(call, site); err != nil {
			return err
		}
	case noFailure:
		return k.deadlock()
	}
	k.recount()
	return k.shareFailure()
}

// shareFailure returns the least failure if its rank is on this engine, else the error that another engine has ended the run, with the
// text of the failure there: it has the place of the call, which that engine alone knows. All engines call shareFailure together.
func (k *Kernel) shareFailure() error {
	failure, text := k.leastFailure(), []byte(nil)
	var own *world.RankError
	errors.As(failure, &own)
	other, err := k.otherPlace(own)
	if err != nil {
		return err
	}
	if own != nil {
		own = own.OtherAt(other)
		failure, text = own, []byte(own.Error())
	}
	if text, err = k.shareFirst(text); err != nil {
		return err
	}
	if stopped := (*engine.Stopped)(nil); errors.As(failure, &stopped) && len(text) > 0 {
		stopped.Reason = text
	}
	return failure
}

// The answers of engine 0: the run ends with the least failure known to all engines, or with the
// failure whose call, place, time and rank follow in the answer, or there is no failure.
const (
	knownFailure = iota
	otherFailure
	noFailure
)

// verdict returns, on engine 0, the answer about the end of the run, from the payloads of all
// engines.
func (k *Kernel) verdict(payloads [][]byte) []byte {
	waiting, called := uint64(0), make([][]byte, len(payloads))
	for i, payload := range payloads {
		r := world.Reader{Rest: payload}
		waiting += r.U64()
		called[i] = r.Rest
	}
	f := &k.partition.Failing
	if mismatch := coll.FirstMisfit(called, !k.partition.Limited(), k.collectives.FailsTogether(), k.partition.NameOf); mismatch != nil {
		least := engine.Failure{Time: mismatch.Time, LP: int32(mismatch.Rank), Reason: []byte(mismatch.Error())}
		if !k.partition.Fails() || !f.Horizon.Before(&least) {
			f.Own.Store(mismatch)
			answer := append(world.AppendWords(nil, otherFailure, uint64(len(mismatch.Call))), mismatch.Call...)
			site := uint64(0)
			if o := mismatch.Against(); o != nil {
				site = o.Own
			}
			return append(world.AppendWords(answer, site, uint64(least.Time), uint64(least.LP)), least.Reason...)
		}
	}
	if !k.partition.Fails() || f.Horizon.Late && waiting > 0 {
		return world.AppendWords(nil, noFailure)
	}
	return world.AppendWords(nil, knownFailure)
}

// waiting returns the number of ranks of this engine that have neither ended nor left MPI. It is
// needed for late failures only.
func (k *Kernel) waiting() (n uint64) {
	if !k.partition.Fails() || k.partition.Limited() {
		return 0
	}
	for lp := range int32(k.partition.Ranks) {
		if !k.body.Ended(lp) && !k.partition.HasLeft(lp) {
			n++
		}
	}
	return n
}

// leastFailure returns the least failure if its rank is on this engine, else the error that another
// engine has ended the run.
func (k *Kernel) leastFailure() error {
	least := k.partition.Failing.Horizon
	if own := k.partition.Failing.Own.Load(); own != nil && own.Rank == int(least.LP) && own.Time == least.Time {
		if lp, here := k.partition.Local(own.Rank); here && own.Call != "" && k.HasFailed(lp) {
			return own.At(k.place(lp))
		}
		return own
	}
	return &engine.Stopped{From: k.partition.Engine.Partition().Owner(int(least.LP)), Reason: least.Reason}
}

// erredCall is a call that has failed a rank, and where the program has made it.
type erredCall struct {
	procedure world.Procedure
	place     string
}

// ErredAt keeps where the program has made the call that fails an LP, whose code is unwound. Of more ranks than have sums of their own it
// keeps nothing.
func (k *Kernel) ErredAt(lp int32, c world.Procedure, place func() string) {
	if k.partition.Target.Ranks() > TasksKept {
		return
	}
	if k.erred == nil {
		k.erred = map[int32]erredCall{}
	}
	k.erred[lp] = erredCall{c, place()}
}

// place returns where the program has made the call in which an LP has failed or waits; "" if the LP is in no call any more, or the
// place is not known.
func (k *Kernel) place(lp int32) string {
	if _, native := k.body.(Outsider); !native { // Go unwinds a rank that fails; whether this engine has resumed it depends on the hosting
		if e, unwound := k.erred[lp]; unwound || k.partition.Target.Ranks() > TasksKept {
			return e.place
		}
	}
	if k.locator == nil || k.body.Ended(lp) {
		return ""
	}
	return k.locator.Place(lp)
}

// gatherPlace brings the place of a call that does not match others, which engine 0 has found, to engine 0. If the place was not kept when the
// rank entered the call, the rank is still in it on any hosting only if it cannot leave it. All engines call gatherPlace together.
func (k *Kernel) gatherPlace(call string, site Site) error {
	least, place := k.partition.Failing.Horizon, ""
	if lp, here := k.partition.Local(int(least.LP)); here {
		if p := k.body.LastCall(lp); site != 0 {
			place = k.caller.SiteText(site)
		} else if k.partition.Clock[lp] <= least.Time && coll.Synchronizes(p) && k.partition.CallOf(int(least.LP), p) == call {
			place = k.place(lp)
		}
	}
	places, err := k.partition.Engine.Gather([]byte(place))
	if own := k.partition.Failing.Own.Load(); own != nil {
		for _, one := range places {
			own = own.At(string(one))
		}
		k.partition.Failing.Own.Store(own)
	}
	return err
}

// otherPlace returns where the program has made the call with which the call of the least failure does not match; "" if the rank of that call
// may have left it on another hosting and its place was not kept, or the place is not known. All engines call otherPlace together, with their
// failure or nil.
func (k *Kernel) otherPlace(failure *world.RankError) (string, error) {
	var asked []byte
	if failure != nil {
		if o := failure.Against(); o != nil {
			waits := map[bool]uint64{true: 1}[o.Waits]
			asked = world.AppendWords(nil, uint64(o.Rank), uint64(o.Call), waits, o.Context, uint64(o.Number), o.Site)
		}
	}
	asked, err := k.shareFirst(asked)
	if err != nil || len(asked) == 0 {
		return "", err
	}
	r, place := world.Reader{Rest: asked}, ""
	if lp, here := k.partition.Local(int(r.U64())); here {
		call, waits := world.Procedure(r.U64()), r.U64() == 1
		switch site := k.siteAgainst(lp, &r); {
		case site != 0:
			place = k.caller.SiteText(site)
		case coll.Synchronizes(call):
			place = k.placeIn(lp, call, waits)
		}
	}
	told, err := k.shareFirst([]byte(place))
	return string(told), err
}

// siteAgainst returns the place of the call of an LP with which another rank's call does not match, as it was kept when the LP entered the call; 0 if it
// was not. The communicator, the number of the collective and the place, if the other rank's engine knows it, follow in r.
func (k *Kernel) siteAgainst(lp int32, r *world.Reader) Site {
	context, number := r.U64(), uint32(r.U64())
	if site := Site(r.U64()); site != 0 {
		return site
	}
	return k.collectives.SiteOfRoot(context, number, k.partition.Global(lp))
}

// placeIn returns where the program has made the call of a procedure in which an LP waits, or fails together with the ranks whose calls do not
// match; "" if the LP may leave the call.
func (k *Kernel) placeIn(lp int32, c world.Procedure, waits bool) string {
	if e := k.erred[lp]; e.place != "" && e.procedure.Plain() == c.Plain() {
		return e.place
	}
	switch {
	case k.locator == nil || k.body.Ended(lp) || k.body.LastCall(lp).Plain() != c.Plain():
		return ""
	case waits && k.IsBlocked(lp), k.partition.ErrorsAreFatal(lp):
		return k.locator.Place(lp)
	}
	return ""
}

// shareFirst returns the first text of the engines that is not empty. All engines call shareFirst together.
func (k *Kernel) shareFirst(own []byte) (first []byte, err error) {
	texts, err := k.partition.Engine.Gather(own)
	if err != nil {
		return nil, err
	}
	for _, one := range texts {
		if len(one) > 0 {
			first = one
			break
		}
	}
	return k.partition.Engine.Share(first)
}

// recount counts the ranks that finished before the failure in virtual time. Which other ranks have
// already run to their end depends on the hosting. A late failure leaves no rank out.
func (k *Kernel) recount() {
	least := k.partition.Failing.Horizon
	if least.Late || k.partition.Summary.Digest.Last < least.Time {
		return
	}
	k.partition.Summary.ForgetFinishes()
	for lp := range int32(k.partition.Ranks) {
		at := engine.Failure{Time: k.partition.Clock[lp], LP: k.partition.Global(lp)}
		if at.Before(least) && k.body.Ended(lp) {
			k.partition.Summary.Finish(int(at.LP), at.Time)
		}
	}
}
