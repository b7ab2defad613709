package spelling

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	names := []string{"block", "cyclic", "random", "randomise", "xt5", "Bcast", strings.Repeat("long", 20)}
	for _, c := range []struct{ why, word, want string }{
		{"the name itself", "cyclic", "cyclic"},
		{"a substitution", "clock", "block"},
		{"a deletion", "blck", "block"},
		{"an insertion", "cyyclic", "cyclic"},
		{"a swap of neighbours is one edit", "bolck", "block"},
		{"two edits of six bytes", "ciclik", "cyclic"},
		{"three are too many", "ciklik", ""},
		{"one byte may always change", "xt6", "xt5"},
		{"case is the same", "CYCLIC", "cyclic"},
		{"on both sides", "bcats", "Bcast"},
		{"the least distance wins", "randomis", "randomise"},
		{"the beginning of a name", "cyc", "cyclic"},
		{"two bytes are no beginning", "cy", ""},
		{"nothing is near", "unheard", ""},
		{"no word", "", ""},
		{"a word too long to compare", strings.Repeat("long", 20), ""},
	} {
		got, found := Nearest(c.word, names)
		if got != c.want || found != (c.want != "") {
			t.Errorf("%s: %q gives %q, %t, want %q", c.why, c.word, got, found, c.want)
		}
	}
}

// slowDistance is the definition, by recursion on the last bytes.
func slowDistance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	m, n := len(a)-1, len(b)-1
	substitute := slowDistance(a[:m], b[:n])
	if a[m] != b[n] {
		substitute++
	}
	least := min(slowDistance(a[:m], b)+1, slowDistance(a, b[:n])+1, substitute)
	if m > 0 && n > 0 && a[m] == b[n-1] && a[m-1] == b[n] {
		least = min(least, slowDistance(a[:m-1], b[:n-1])+1)
	}
	return least
}

func TestDistanceIsItsDefinition(t *testing.T) {
	words := rapid.StringMatching(`[abc]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := words.Draw(t, "a"), words.Draw(t, "b")
		if got, want := distance(a, b), slowDistance(a, b); got != want {
			t.Errorf("from %q to %q: %d, want %d", a, b, got, want)
		}
	})
}

func TestChoices(t *testing.T) {
	for word, want := range map[string]string{
		"ruin":    "did you mean run? there are: run, list",
		"unheard": "there are: run, list",
	} {
		if got := Choices(word, []string{"run", "list"}); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
