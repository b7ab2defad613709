package mpivirt_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gigarank/mpivirt"
	"gigarank/mpivirt/internal/world"
	"gigarank/mpivirt/timeline"
	"gigarank/sync"
	"gigarank/vtime"
)

// pictureOn returns the picture of all ranks of a program in a window, and the result.
func pictureOn(t rapid.TB, p *program, h hosting, from, to vtime.Time) (*timeline.Timeline, [][]entry, *mpivirt.Result) {
	t.Helper()
	c := timeline.New(timeline.Options{Shown: []timeline.Range{{First: 0, Last: len(p.ops) - 1}}, From: from, To: to, Format: timeline.Formats[0]})
	h.activities, h.observer = true, func(first, n int) mpivirt.Observer { return c.Observer(first, n) }
	log, result := p.simulate(t, h)
	return c.Timeline("p", "m", len(p.ops), result.VirtualTime, nil), log, result
}

// pictureText returns a picture as lines.
func pictureText(p *timeline.Timeline) (all []string) {
	for i := range p.Slices {
		s := &p.Slices[i]
		all = append(all, fmt.Sprint(s.Rank, p.NameOf(s.Procedure), s.Begin, s.End, s.Bytes, p.PartsOf(s)))
	}
	for _, m := range p.Messages {
		all = append(all, fmt.Sprintf("%+v", m))
	}
	return all
}

// In the picture of every valid program on every machine the slices of a rank follow one another, the parts of a slice are its time, and
// the sums of a rank's parts by cause are those of the statistics. Messages arrive after they are sent, and both ends lie in the time of
// their ranks. The picture is the same however the simulation is hosted, and drawing changes no time.
func TestPicturesOfRandomPrograms(t *testing.T) {
	fewer(t, 30)
	rapid.Check(t, func(t *rapid.T) {
		p := programsOn(anyMachine, 12, 20).Draw(t, "program")
		ends := watch(t, &p, hosting{engines: 1})
		picture, log, result := pictureOn(t, &p, hosting{engines: 1}, 0, vtime.Forever)
		if fmt.Sprint(log) != fmt.Sprint(ends) {
			t.Fatalf("drawing changes the program's times:\n%v\nwithout\n%v", log, ends)
		}
		times := make([]mpivirt.Causes, len(p.ops))
		at := make([]vtime.Time, len(p.ops))
		for i := range picture.Slices {
			s := &picture.Slices[i]
			if s.Begin != at[s.Rank] {
				t.Fatalf("rank %d: a slice from %v on follows a slice until %v", s.Rank, s.Begin, at[s.Rank])
			}
			sum := vtime.Duration(0)
			for _, part := range picture.PartsOf(s) {
				times[s.Rank][part.Cause] += part.Time
				sum += part.Time
			}
			if s.Begin.Add(sum) != s.End {
				t.Fatalf("rank %d: %s takes %v, its parts %v", s.Rank, picture.NameOf(s.Procedure), s.End.Sub(s.Begin), sum)
			}
			at[s.Rank] = s.End
		}
		for rank, task := range result.Calls.Tasks {
			if times[rank] != task.Times {
				t.Errorf("rank %d: the picture has %s, the statistics %s", rank, causesOf(&times[rank]), causesOf(&task.Times))
			}
		}
		sent := uint64(0)
		for _, class := range result.Sent {
			sent += class.Count
		}
		if uint64(len(picture.Messages)) > sent && !strings.Contains(p.GoString(), "neighbor") { // whose messages are drawn, too
			t.Errorf("%d messages are received, %d sent", len(picture.Messages), sent)
		}
		for _, m := range picture.Messages {
			if m.Received <= m.Sent && m.From != m.To || m.Sent > at[m.From] {
				t.Errorf("a message of rank %d, which ends at %v: %+v", m.From, at[m.From], m)
			}
		}
		h := hosts(len(p.ops)).Draw(t, "host")
		want, _, _ := pictureOn(t, &p, hosting{kind: h.kind, engines: 1}, 0, vtime.Forever)
		got, _, _ := pictureOn(t, &p, h, 0, vtime.Forever)
		if diff := cmp.Diff(pictureText(want), pictureText(got)); diff != "" {
			t.Fatalf("%v (-one engine +there):\n%s", h, diff)
		}
		checkWindow(t, &p, picture, result)
	})
}

// checkWindow holds the picture of a window to that of the whole run.
func checkWindow(t *rapid.T, p *program, whole *timeline.Timeline, result *mpivirt.Result) {
	t.Helper()
	from := vtime.Time(rapid.Int64Range(0, int64(result.VirtualTime)).Draw(t, "from"))
	to := vtime.Time(rapid.Int64Range(int64(from)+1, int64(result.VirtualTime)+2).Draw(t, "to"))
	part, _, _ := pictureOn(t, p, hosting{engines: 1}, from, to)
	inside := make([]mpivirt.Causes, len(p.ops))
	want := make([]mpivirt.Causes, len(p.ops))
	for i := range whole.Slices {
		s := &whole.Slices[i]
		at := s.Begin
		for _, q := range whole.PartsOf(s) {
			if a, b := max(at, from), min(at.Add(q.Time), to); b > a {
				want[s.Rank][q.Cause] += b.Sub(a)
			}
			at = at.Add(q.Time)
		}
	}
	for i := range part.Slices {
		s := &part.Slices[i]
		if s.Begin < from || s.End > to {
			t.Fatalf("a slice from %v to %v in the window %v to %v", s.Begin, s.End, from, to)
		}
		for _, q := range part.PartsOf(s) {
			inside[s.Rank][q.Cause] += q.Time
		}
	}
	if diff := cmp.Diff(want, inside); diff != "" {
		t.Fatalf("from %v to %v (-whole +window):\n%s", from, to, diff)
	}
	messages := 0
	for _, m := range whole.Messages {
		if m.Sent >= from && m.Received <= to {
			messages++
		}
	}
	if len(part.Messages) != messages {
		t.Fatalf("from %v to %v: %d messages, %d lie there", from, to, len(part.Messages), messages)
	}
}

// The messages of a picture are those that the program sends, from the beginning of the send until the receive is complete.
func TestMessagesOfPicture(t *testing.T) {
	const flat = "name: m\nnetwork: {model: flat, latency: 5us, bandwidth: 10GB/s, eager_limit: 64KiB, overhead: {send: 3us, receive: 2us}}\n"
	c := timeline.New(timeline.Options{Shown: []timeline.Range{{First: 0, Last: 1}}, To: vtime.Forever, Format: timeline.Formats[0]})
	result, err := simulate(t, mpivirt.Config{
		Target: target(t, flat, 3), Activities: true, Observer: func(first, n int) mpivirt.Observer { return c.Observer(first, n) },
		Program: mpivirt.Program{Name: "messages", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			w := r.World()
			switch r.Rank() {
			case 0:
				r.Compute(10 * vtime.Microsecond)
				if err := w.SendSize(1000, 1, 7); err != nil { // leaves at 13 us, is there at 18.1 us
					return err
				}
				return w.SendSize(10, 2, 8) // to a rank that is not shown
			case 1:
				_, err := w.RecvSize(1000, 0, 7)
				return err
			}
			_, err := w.RecvSize(10, 0, 8)
			return err
		})}},
	}, 2)
	if err != nil {
		t.Fatal(err)
	}
	picture := c.Timeline("p", "m", 3, result.VirtualTime, nil)
	const us = vtime.Time(vtime.Microsecond)
	want := []timeline.Message{{Sent: 10 * us, Received: 181 * us / 10, Bytes: 1000, Context: world.WorldContext, From: 0, To: 1, Tag: 7}}
	if diff := cmp.Diff(want, picture.Messages); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A picture that would be longer than its limit ends the run, and says where it has come to. Without a limit the run comes to its end.
func TestPictureHasALimit(t *testing.T) {
	for _, limit := range []int64{1_000_000, 0} {
		c := timeline.New(timeline.Options{Shown: []timeline.Range{{First: 0, Last: 1}}, To: vtime.Forever, Limit: limit, Format: timeline.Formats[0]})
		_, err := simulate(t, mpivirt.Config{
			Target: target(t, "name: m\nnetwork: {model: flat, latency: 5us, bandwidth: 10GB/s}\n", 2), Activities: true,
			Observer: func(first, n int) mpivirt.Observer { return c.Observer(first, n) },
			Program: mpivirt.Program{Name: "long", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
				for range 10_000 {
					if err := r.World().Barrier(); err != nil {
						return err
					}
				}
				return nil
			})}},
		}, 1)
		var tooLong *timeline.LimitError
		if is := errors.As(err, &tooLong); is != (limit > 0) || limit == 0 && err != nil {
			t.Fatalf("limit %d: %v", limit, err)
		}
		if tooLong != nil && (tooLong.At == 0 || !strings.Contains(tooLong.Error(), "--window")) {
			t.Errorf("%v", tooLong)
		}
	}
}

// A picture of a run that the watchdog has ended is what was drawn until then: the rank that was blocked may go on while the picture is written.
// The race detector looks on.
func TestPictureOfARunThatTheWatchdogEnds(t *testing.T) {
	c := timeline.New(timeline.Options{Shown: []timeline.Range{{First: 0, Last: 3}}, To: vtime.Forever, Limit: 1 << 30, Format: timeline.Formats[0]})
	line, over := make(chan int), make(chan int)
	s, err := mpivirt.New(mpivirt.Config{
		Target: target(t, flat4, 4), Activities: true, Transports: sync.NewInProcess(2), Watchdog: 0.1,
		Observer: func(first, n int) mpivirt.Observer { return c.Observer(first, n) },
		Program: mpivirt.Program{Name: "blocked", Forms: []mpivirt.Form{mpivirt.Main(func(r *mpivirt.Rank) error {
			r.Compute(us(1))
			if r.Rank() == 1 {
				<-line
				for range 10_000 {
					r.Compute(us(1))
				}
				close(over)
			}
			return r.World().Barrier()
		})}},
	})
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Run()
	if err == nil || !strings.Contains(err.Error(), "chan receive") {
		t.Fatalf("the run ends with %v", err)
	}
	close(line)
	picture := c.Timeline("p", "m", 4, result.VirtualTime, nil)
	<-over
	if n := len(picture.Slices); n == 0 || picture.Slices[0].End.Sub(picture.Slices[0].Begin) != us(1) {
		t.Errorf("the picture has %d slices: %v", n, picture.Slices)
	}
}
