package study

import (
	"bytes"
	"encoding/csv"
	"slices"
	"testing"
)

// No cell is a formula to a spreadsheet, whatever names hold, and numbers stay numbers.
func TestTableHoldsNoFormulas(t *testing.T) {
	p := barrierPlan(t)
	r := fakeRecord(p, p.Points[0])
	r.Point.Machine, r.Error, r.Point.Mapping, r.Version = `=HYPERLINK("http://x","y")`, "@SUM(1)\n+2", "+1+1", "-cmd"
	var table bytes.Buffer
	if err := WriteCSV(&table, []Record{r}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	for name, want := range map[string]string{"machine": "'" + r.Point.Machine, "error": "'" + r.Error, "mapping": "'+1+1", "version": "'-cmd", "ranks": "16"} {
		if got := rows[1][slices.Index(rows[0], name)]; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for text, want := range map[string]string{"-1": "-1", "+2.5e3": "+2.5e3", "": "", "a=b": "a=b", "-": "'-", "\t=1": "'\t=1",
		"\x1b[31mred\x1b[0m": `\x1b[31mred\x1b[0m`, "a\rb\nc\u009b": "a\\x0db\nc\\x9b", "\r=1": `\x0d=1`, "na\u00efve": "na\u00efve"} {
		if got := inert(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
