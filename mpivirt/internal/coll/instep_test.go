package coll

import (
	"testing"

	"gigarank/vtime"
)

// One place stands for all participants where all of them are at one instant, with processors in one state, and messages take one time;
// whichever participant differs, in whatever respect, each has a place of its own.
func TestOnePlaceForAlikeParticipants(t *testing.T) {
	const n = 4
	of := func(change func(r *processorRun)) bool {
		r := &processorRun{alike: 5}
		for range n {
			r.places, r.sent = append(r.places, place{clock: 7, released: 6, since: 3, taken: 2, source: 1}), append(r.sent, 4)
		}
		change(r)
		return r.alikeAll()
	}
	if !of(func(*processorRun) {}) {
		t.Error("participants that are alike have a place each")
	}
	if of(func(r *processorRun) { r.alike = 0 }) {
		t.Error("participants whose messages take different times have one place")
	}
	for m := range n {
		for i, change := range []func(p *place, sent *vtime.Time){
			func(p *place, _ *vtime.Time) { p.clock++ }, func(p *place, _ *vtime.Time) { p.released++ }, func(p *place, _ *vtime.Time) { p.CPU++ },
			func(p *place, _ *vtime.Time) { p.Send++ }, func(p *place, _ *vtime.Time) { p.taken++ }, func(_ *place, sent *vtime.Time) { *sent++ },
		} {
			if of(func(r *processorRun) { change(&r.places[m], &r.sent[m]) }) {
				t.Errorf("participant %d, which differs in respect %d, has the place of others", m, i)
			}
		}
	}
}
