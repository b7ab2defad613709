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
	prefetch(a)
	return n
}

func prefetchAll() { clamp(nil, 1) }
`
	all, err := sitesIn("p.go", []byte(source))
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
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := string(all[3].apply([]byte(source))), strings.Replace(source, "continue", "break", 1); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A room with a test that looks at one of its functions and not at the other: mutations of the one are found.
func TestOutcomes(t *testing.T) {
	room := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module room\n",
		"room.go":      "package room\n\nfunc Seen(n int) bool { return n < 3 }\n\nfunc Unseen(n int) bool { return n > 7 }\n",
		"room_test.go": "package room\n\nimport \"testing\"\n\nfunc TestSeen(t *testing.T) {\n\tif !Seen(2) || Seen(3) {\n\t\tt.Fail()\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(room, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(room)
	m := measurement{seed: 1, count: 2, rooms: []string{"."}}
	drawn, err := m.draw()
	if err != nil || len(drawn) != 2 {
		t.Fatalf("%v, %v, want two mutations", drawn, err)
	}
	all, err := sitesOf(".")
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		want := map[string]outcome{"Seen": found, "Unseen": survives}[all[i].function]
		if want == "" {
			continue
		}
		if got := m.tryOut(filepath.Join(t.TempDir(), "work"), &all[i]); got != want {
			t.Errorf("%v: %s, want %s", &all[i], got, want)
		}
	}
}
