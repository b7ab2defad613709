package skeleton

import (
	"os"

	"gigarank/mpivirt/native/toolchain"
)

// Passes prepare a program.
const Passes = passes

// Public are the symbols that stay visible.
const Public = public

// CompileFlags are flags for the front end.
func CompileFlags() []string { return compileFlags }

// Link links a program from the text of a module.
func Link(text, path, work string) error {
	library, err := toolchain.OpenLibrary()
	if err != nil {
		return err
	}
	b := build{language: toolchain.C, library: library, work: work, out: os.Stdout, diagnostics: os.Stderr}
	return b.link(path, text, []string{"-lm"})
}
