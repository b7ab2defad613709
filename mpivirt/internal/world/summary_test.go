package world

import (
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"gigarank/engine"
	"gigarank/mpivirt/internal/stats"
	"gigarank/vtime"
)

// What engines report comes to the same however the ranks are divided among them, in whatever order the reports are
// added, and after it has travelled.
func TestSummariesAddUpWhoeverReports(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		engines := rapid.IntRange(1, 4).Draw(t, "engines")
		alone, parts := &Summary{Ended: new(atomic.Int64)}, make([]*Summary, engines)
		alone.Tally.Start(1<<30, nil)
		alone.Calls.Open(0, 150, 150, false)
		alone.Calls.Course().Open()
		alone.Calls.OpenSites()
		for i := range parts {
			parts[i] = &Summary{Ended: new(atomic.Int64)}
			parts[i].Tally.Start(1<<30, nil)
			parts[i].Calls.Open(0, 150, 150, false)
			parts[i].Calls.Course().Open()
			parts[i].Calls.OpenSites()
		}
		instant := rapid.Int64Range(0, 3)
		for rank := range rapid.IntRange(0, 150).Draw(t, "ranks") {
			at := vtime.Time(rank % 7)
			for _, s := range []*Summary{alone, parts[rank%engines]} {
				s.Finish(rank, at)
				s.Tally.Record(rank%3, "barrier", vtime.Duration(rank%5))
				s.Activities.Note(stats.Data, vtime.Duration(rank))
				s.Sent.Note(int64(rank))
				s.Handed.Note(int64(rank) * 100)
				s.Calls.Compute(int32(rank), at, vtime.Duration(rank))
				s.Calls.Computes(int32(rank), at, vtime.Duration(rank%6+1))
				s.Calls.NoteSite(stats.Site(rank%4), stats.Site(rank%3), uint8(rank%5), 8, &stats.Causes{stats.LateSender: vtime.Duration(rank % 7), stats.Network: vtime.Duration(rank)})
				s.Calls.Note(int32(rank), stats.CallKey{Procedure: uint8(rank % 5), Context: uint64(rank % 3)}, 8, &stats.Causes{stats.Network: vtime.Duration(rank)})
				s.Uncharged.merge(&Uncharged{Code: int64(rank), Timeless: 1, Declared: rank == 140})
			}
		}
		for range rapid.IntRange(0, 6).Draw(t, "events") {
			rank, source, at, decided := int32(instant.Draw(t, "rank")), int32(instant.Draw(t, "source"))-1, vtime.Time(instant.Draw(t, "at")), vtime.Time(instant.Draw(t, "decided"))
			for _, s := range []*Summary{alone, parts[int(rank)%engines]} {
				s.Late.Add(rank, source, at, decided)
				s.Late.Polled(source)
				s.Unreceived.Add(rank, vtime.Time(rank), source, 5, at, 8)
			}
		}
		alone.Tally.Settle()
		alone.Settle()
		place := func(s stats.Site) string { return string(rune('a' + s)) }
		alone.Calls.NameSites(place)
		all := func(uint64) bool { return true }
		total := &Summary{}
		for _, i := range rapid.Permutation(parts).Draw(t, "order") {
			i.Tally.Settle()
			i.Calls.NameSites(place)
			decoded, counts, report, rest := DecodeSummary(append(i.Encode([]byte("report"), engine.Statistics{Events: 7, Switches: 9}), 1, 2))
			if string(report) != "report" {
				t.Errorf("the report is %q", report)
			}
			if counts.Events != 7 || counts.Switches != 9 || len(rest) != 2 {
				t.Fatalf("counts %+v, and %d bytes are left", counts, len(rest))
			}
			total.Merge(decoded)
		}
		for _, c := range []struct{ got, want any }{
			{total.Digest, alone.Digest}, {total.Late, alone.Late}, {total.Unreceived, alone.Unreceived}, {total.Uncharged, alone.Uncharged},
			{total.Calls.Times(all), alone.Calls.Times(all)}, {total.Calls.Balance(), alone.Calls.Balance()},
			{total.Calls.Sites(), alone.Calls.Sites()}, {total.Calls.Course().Times().Bins, alone.Calls.Course().Times().Bins},
			{total.Activities, alone.Activities}, {total.Sent, alone.Sent}, {total.Handed, alone.Handed}, {total.Tally.Finishes(), alone.Tally.Finishes()},
			{total.Tally.Iterations(), alone.Tally.Iterations()}, {total.Tally.Operations(), alone.Tally.Operations()},
		} {
			if !reflect.DeepEqual(c.got, c.want) {
				t.Fatalf("%d engines report %+v, one %+v", engines, c.got, c.want)
			}
		}
		alone.ForgetFinishes()
		if none := (engine.Digest{}); alone.Digest != none || !reflect.DeepEqual(alone.Tally.Finishes(), (&stats.Tally{}).Finishes()) {
			t.Fatal("finishes that are to be forgotten are kept")
		}
	})
}

// MPI 4.1, 11.2.2: a message that nobody receives is an error. The one that is told is the first in the order of (receiver,
// arrival, source).
func TestUnreceivedMessagesAreTold(t *testing.T) {
	var u Unreceived
	if err := u.Err(); err != nil {
		t.Errorf("%v, and no message", err)
	}
	u.Add(3, 50, 1, 7, 40, 100)
	u.Add(2, 60, 9, 8, 30, 200)
	u.Add(2, 60, 1, 9, 35, 300)
	u.Add(2, 60, 4, 6, 30, 400)
	err := u.Err()
	var failure *RankError
	if !errors.As(err, &failure) || failure.Rank != 2 || failure.Time != 60 || !errors.Is(err, ErrOther) {
		t.Fatalf("%v", err)
	}
	for _, part := range []string{"400 bytes", "rank 4 ", "tag 6", "4 messages"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not have %q", err, part)
		}
	}
}

// The warning about late events has their number, the first of them, and a number of polls that avoids them.
func TestLateEventsAreTold(t *testing.T) {
	var l Late
	if l.String() != "" {
		t.Errorf("%s, and no event", &l)
	}
	l.Polled(40)
	l.Polled(7)
	l.Add(3, 2, 1_000_000, 5_000_000)
	if s := l.String(); !strings.Contains(s, "1 event ") || !strings.Contains(s, "1us for rank 3, a message from rank 2,") || !strings.Contains(s, "gone on to 5us") || !strings.Contains(s, "--polls 41 ") {
		t.Error(s)
	}
	for _, c := range []struct {
		rank, source int32
		at, decided  vtime.Time
		first        string
	}{
		{2, 5, 1_000_000, 3_000_000, "1us for rank 2, a message from rank 5, which had gone on to 3us"},
		{2, None, 1_000_000, 3_000_000, "1us for rank 2, which had gone on to 3us"},
		{2, None, 1_000_000, 2_000_000, "1us for rank 2, which had gone on to 2us"},
		{9, 9, 500_000, 600_000, "500ns for rank 9, a message from rank 9, which had gone on to 600ns"},
		{0, 0, 500_001, 600_000, "500ns for rank 9, a message from rank 9, which had gone on to 600ns"},
	} {
		if l.Add(c.rank, c.source, c.at, c.decided); !strings.Contains(l.String(), c.first) {
			t.Errorf("%s; want %s", &l, c.first)
		}
	}
	if l.Events != 6 {
		t.Errorf("%d events", l.Events)
	}
}
