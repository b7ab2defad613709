package skeleton

import (
	"os"
	"path/filepath"

	"gigarank/mpivirt/native/skeleton/slice"
	"gigarank/mpivirt/native/toolchain"
)

// Link links a program from the text of a module.
func Link(l toolchain.Language, text, path, work string) error {
	library, err := toolchain.OpenLibrary()
	if err != nil {
		return err
	}
	b := build{language: l, library: library, work: work, out: os.Stdout, diagnostics: os.Stderr}
	return b.link(path, text, []string{"-lm"})
}

// Text returns the text of the skeleton of a program of sources and bitcode, with the counters of its tasks. Work is a directory of files on the way.
func Text(l toolchain.Language, sources []string, directives, work string) (text string, tasks int, err error) {
	library, err := toolchain.OpenLibrary()
	if err != nil {
		return "", 0, err
	}
	arguments := append([]string{"-O2"}, sources...)
	if directives != "" {
		arguments = append(arguments, DirectivesFlag, directives)
	}
	b := build{language: l, library: library, work: work, out: os.Stdout, diagnostics: os.Stderr}
	if arguments, b.directives, err = takeDirectives(arguments); err != nil {
		return "", 0, err
	}
	if l == toolchain.Fortran {
		arguments = append(arguments, "-J"+work)
		if err := b.openModule(); err != nil {
			return "", 0, err
		}
	}
	parts, _, _, err := b.parts(arguments)
	if err != nil {
		return "", 0, err
	}
	joined := filepath.Join(work, "joined.bc")
	if _, err := tool(b.diagnostics, "", link, append(parts, "-o", joined)...); err != nil {
		return "", 0, err
	}
	m, err := b.prepare(joined, "program")
	if err != nil {
		return "", 0, err
	}
	s, err := slice.Of(m, b.directives...)
	if err != nil {
		return "", 0, err
	}
	s, described, err := s.WithTasks()
	if err != nil {
		return "", 0, err
	}
	if err := s.Emit(); err != nil {
		return "", 0, err
	}
	return m.String(), len(described), nil
}
