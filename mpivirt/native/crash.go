//go:build cgo && linux && (amd64 || arm64)

package native

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// crash returns the error of a rank that a signal has stopped.
func (b *body) crash(signal int) error {
	c := &b.engine.crash
	if c.overflow != 0 {
		return fmt.Errorf("the rank has overrun its stack of %d bytes%s: use a larger --stack", b.form.stack, b.place())
	}
	name := unix.SignalName(unix.Signal(signal))
	if signal == int(unix.SIGABRT) {
		return fmt.Errorf("the rank has called abort (%s)", name)
	}
	where := b.place()
	if signal == int(unix.SIGSEGV) || signal == int(unix.SIGBUS) {
		where = fmt.Sprintf(" at address %#x%s", uint64(c.address), where)
	}
	return fmt.Errorf("the rank's code was stopped by %s%s", name, where)
}

// place returns " in" the function, and the line of the source if it is known, where the last
// crash was.
func (b *body) place() string {
	c := &b.engine.crash
	name, offset := stringOf(&c.file[0]), uint64(c.pc-c.base)
	if strings.HasPrefix(name, "/proc/self/fd/") {
		name = b.form.path
	}
	return b.placeOf(name, offset)
}

// placeOf is place for an offset in an object.
func (b *body) placeOf(name string, offset uint64) string {
	at := fmt.Sprintf("%s+%#x", filepath.Base(name), offset)
	file, err := elf.Open(name)
	if err != nil {
		return " in " + at
	}
	defer func() { _ = file.Close() }()
	function := functionAt(file, offset)
	if line := sourceLine(file, offset); line != "" {
		return fmt.Sprintf(" in %s (%s)", cmp.Or(function, at), line)
	}
	return fmt.Sprintf(" in %s (%s; build with -g for the line)", cmp.Or(function, "an unnamed function"), at)
}

// functionAt returns the name of the function of an object that holds an address, if the
// object says.
func functionAt(file *elf.File, address uint64) string {
	for _, symbols := range []func() ([]elf.Symbol, error){file.Symbols, file.DynamicSymbols} {
		all, err := symbols()
		if err != nil {
			continue
		}
		for _, s := range all {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC && address >= s.Value && address < s.Value+s.Size {
				return s.Name
			}
		}
	}
	return ""
}

// sourceLine returns the file and line of an address of an object, if the object says.
func sourceLine(file *elf.File, address uint64) string {
	data, err := file.DWARF()
	if err != nil {
		return ""
	}
	unit, err := data.Reader().SeekPC(address)
	if err != nil || unit == nil {
		return ""
	}
	lines, err := data.LineReader(unit)
	if err != nil || lines == nil {
		return ""
	}
	var entry dwarf.LineEntry
	if err := lines.SeekPC(address, &entry); err != nil {
		return ""
	}
	return fmt.Sprintf("%s:%d", filepath.Base(entry.File.Name), entry.Line)
}
