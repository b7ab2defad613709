//go:build cgo && linux && (amd64 || arm64)

package native

import (
	"unsafe"

	"gigarank/mpivirt/internal/kernel"
	"gigarank/mpivirt/internal/world"
	"gigarank/vtime"
)

// measure has the CPU times of the ranks count. Where bursts are kept, declared computing and
// clock polls are calls on any machine, so that a rank has the same bursts on all.
func (b *body) measure() error {
	k := b.k
	if err := measureBursts(b.engine); err != nil {
		return err
	}
	if k.KeepsBursts() {
		b.engine.lazy = 0
	}
	b.bursts, b.samples = unsafe.Slice(b.engine.bursts, len(b.ranks)), map[int32]*kernel.Sample{}
	for lp := range b.bursts {
		b.bursts[lp].ratio = cDouble(k.Target().CPUTime(int(k.Global(int32(lp))), vtime.Second).Seconds())
	}
	return nil
}

// charge advances a rank's clock by its burst, which its call or its end has ended. It reports
// false if the rank fails.
func (b *body) charge(lp int32, r *cRank) bool {
	k, u := b.k, &b.bursts[lp]
	if u.unpaid != 0 && u.used == 0 {
		return true
	}
	d, err := k.GiveBurst(lp, vtime.Duration(u.used)*vtime.Nanosecond)
	u.used = 0
	if err == nil {
		err = k.ChargeBurst(lp, d)
	}
	call := lastOf(r)
	if u.sampled != 0 && err == nil {
		u.sampled = 0
		if r.returned_by == byCall && r.last == sampleEnd {
			b.samples[lp].Add(d)
		} else {
			err = world.Errorf(world.ErrOther, "a call or a look at the clock between gigarank_sample_begin and gigarank_sample_end: let the region only compute")
		}
		delete(b.samples, lp)
	}
	if err != nil {
		b.named = namedCall{lp: lp}
		k.Fail(lp, call, err)
	}
	return err == nil
}

// sample begins a region that is executed n times, and reports with 1 that it is to be executed
// now. Otherwise it charges the mean.
func (b *body) sample(lp int32, name string, n int) cInt32 {
	k, s := b.k, b.k.SampleOf(lp, name)
	if s.Times < max(n, 1) {
		b.samples[lp], b.bursts[lp].sampled = s, 1
		return 1
	}
	d, err := k.GiveBurst(lp, s.Mean())
	if err == nil {
		err = k.ChargeBurst(lp, d)
	}
	if err != nil {
		k.Fail(lp, world.Compute, err)
	}
	return 0
}
