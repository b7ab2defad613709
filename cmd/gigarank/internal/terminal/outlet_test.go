package terminal

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

// Everything arrives in order, however slow the reader is.
func TestOutletKeepsTheOrder(t *testing.T) {
	reader, writer := io.Pipe()
	o := NewOutlet(writer)
	var want strings.Builder
	for i := range 1000 {
		text := strings.Repeat(string(rune('a'+i%26)), i)
		want.WriteString(text)
		o.Print(text)
	}
	got := make(chan string)
	go func() {
		all, _ := io.ReadAll(reader)
		got <- string(all)
	}()
	o.Flush()
	_ = writer.Close()
	if all := <-got; all != want.String() {
		t.Errorf("%d bytes arrived, want %d", len(all), want.Len())
	}
}

// print waits when the reader stands still, and no longer once the outlet is loose.
func TestOutletWaitsForItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		o := NewOutlet(writer)
		printed := 0
		go func() {
			for range 5 {
				o.Print(strings.Repeat("x", outletLimit))
				printed++
			}
		}()
		synctest.Wait()
		if printed != 2 { // one being written, one waiting
			t.Errorf("%d prints went on, want 2", printed)
		}
		o.loosen()
		synctest.Wait()
		if printed != 5 {
			t.Errorf("%d prints went on after the outlet was loosened, want 5", printed)
		}
		go func() {
			o.Flush()
			_ = writer.Close()
		}()
		if all, _ := io.ReadAll(reader); len(all) != 5*outletLimit {
			t.Errorf("%d bytes arrived, want all", len(all))
		}
	})
}
