package kernel

import (
	"gigarank/engine"
	"gigarank/mpivirt/internal/coll"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// conclude returns the error of a run in which no rank can go on: the least failure, else
// the deadlock. A rank whose call does not fit the others' has failed, too; engine 0 finds
// it. All engines call conclude together.
func (k *Kernel) conclude() error {
	f := &k.Failing
	payloads, err := k.Engine.Gather(k.Called())
	if err != nil {
		return err
	}
	var answer []byte
	if mismatch := coll.FirstMisfit(payloads, !k.Limited(), k.FailsTogether(), k.NameOf); mismatch != nil {
		least := engine.Failure{Time: mismatch.Time, LP: int32(mismatch.Rank), Reason: []byte(mismatch.Error())}
		if !k.Limited() || !f.Horizon.Before(&least) {
			f.Own.Store(mismatch)
			answer = append(world.AppendWords(nil, uint64(least.Time), uint64(least.LP)), least.Reason...)
		}
	}
	if answer, err = k.Engine.Share(answer); err != nil {
		return err
	}
	if r := (world.Reader{Rest: answer}); len(answer) > 0 {
		f.Horizon = &engine.Failure{Time: vtime.Time(r.U64()), LP: int32(r.U64()), Reason: r.Rest}
	}
	if !k.Limited() {
		return k.deadlock()
	}
	k.recount()
	return k.leastFailure()
}

// leastFailure returns the least failure if it is of this engine, else the error that
// another engine has ended the run.
func (k *Kernel) leastFailure() error {
	least := k.Failing.Horizon
	if own := k.Failing.Own.Load(); own != nil && own.Rank == int(least.LP) && own.Time == least.Time {
		return own
	}
	return &engine.Stopped{From: k.Engine.Partition().Owner(int(least.LP)), Reason: least.Reason}
}

// recount counts the ranks that finished before the failure in virtual time. Which others
// have run ahead to their end depends on the hosting.
func (k *Kernel) recount() {
	least := k.Failing.Horizon
	if k.Summary.Digest.Last < least.Time {
		return
	}
	k.Summary.ForgetFinishes()
	for lp := range int32(k.Ranks) {
		at := engine.Failure{Time: k.Clock[lp], LP: k.Global(lp)}
		if at.Before(least) && k.body.Ended(lp) {
			k.Summary.Finish(int(at.LP), at.Time)
		}
	}
}
