package terminal

import (
	"bytes"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// Whatever a text holds, no control character of it is printed. A text without any stays as
// it is, and so does the output of ranks.
func TestNoControlCharactersArePrinted(t *testing.T) {
	stdout := new(bytes.Buffer)
	w := NewWriter(stdout)
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "text")
		safe, control := true, ""
		for _, r := range text {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				safe, control = false, string(r)
			}
		}
		stdout.Reset()
		if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
			rt.Fatalf("%d bytes written of %d, %v", n, len(text), err)
		}
		if safe && stdout.String() != text {
			rt.Errorf("%q has become %q", text, stdout)
		}
		for _, r := range stdout.String() {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				rt.Errorf("%q of %q is printed", control, text)
			}
		}
		stdout.Reset()
		if _, err := w.Raw().Write([]byte(text)); err != nil || stdout.String() != text {
			rt.Errorf("%q of a rank has become %q, %v", text, stdout, err)
		}
	})
}
