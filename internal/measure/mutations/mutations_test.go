package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The mutations of a line are those that a reader would make by hand.
func TestMutationsOfAFile(t *testing.T) {
	source := `package p

func clamp(a []int, most int) (n int) {
	for _, v := range a {
		if v < 0 {
			continue
		}
		n += min(v, most)
	}
	prefetch(a, n+1)
	if invariant.Enabled && n < 3 {
		check(n)
	}
	return n
}

func prefetchAll() { clamp(nil, 1) }

func check(n int) bool { return n > 7 || deeper(n+1) }

func deeper(n int) bool { return n > 8 }

func room() []int { return append(slices.Grow(make([]int, 3, 4), 5), len(make(map[int]int, 6))) }

var all = append(room(), clamp(nil, 1))
`
	all, err := sitesIn(map[string][]byte{"p.go": []byte(source)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range all {
		got = append(got, all[i].String())
	}
	want := []string{
		"p.go:5 clamp: operator: v < 0 -> <=",
		"p.go:5 clamp: operator: v < 0 -> >=",
		"p.go:5 clamp: off by one: 0 -> 1",
		"p.go:6 clamp: branch: continue -> break",
		"p.go:8 clamp: left out: n += min(v, most) -> nothing",
		"p.go:8 clamp: operator: n += min(v, most) -> -=",
		"p.go:8 clamp: operator: min(v, most) -> max",
		"p.go:8 clamp: argument left out: min(v, most) -> nothing",
		"p.go:8 clamp: argument left out: min(v, most) -> nothing",
		"p.go:23 room: off by one: 3 -> 4",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := all[3].apply([]byte(source)), strings.Replace(source, "continue", "break", 1); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A room with a test that looks at one of its functions and not at the other: mutations of the one are found. A binary
// holds all mutations but that of the length of an array, which is a constant.
func TestOutcomes(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module room\n\ngo 1.24\n",
		"room.go": `package room

type Size int64

func Seen(n Size) (sum Size) {
	for i := range n {
		if i%3 == 1 {
			continue
		}
		sum += min(i*2, 7)
	}
	return sum
}

func Unseen(n int) bool {
	var a [2]int
	return n > 7 && a[0] == 0
}
`,
		"room_test.go": `package room

import "testing"

func TestSeen(t *testing.T) {
	for n, want := range []Size{0, 0, 0, 4, 10, 10, 17, 24} {
		if got := Seen(Size(n)); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	m := measurement{seed: 1, count: 2, rooms: []string{"."}}
	if drawn, err := m.draw(); err != nil || len(drawn) != 2 {
		t.Fatalf("%v, %v, want two mutations", drawn, err)
	}
	all, err := sitesOf(".")
	if err != nil {
		t.Fatal(err)
	}
	binary, err := m.prepare(t.TempDir(), ".", all)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		x := &all[i]
		if alone := x.kind == "off by one" && x.line == 16; (x.number == 0) != alone {
			t.Errorf("%v has number %d, 0 for one that is built alone", x, x.number)
		}
		want := map[string]outcome{"Seen": found, "Unseen": survives}[x.function]
		if got := m.tryOut(filepath.Join(t.TempDir(), "work"), binary, x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}
