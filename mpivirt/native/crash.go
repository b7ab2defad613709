//go:build cgo && linux && (amd64 || arm64)

package native

/*
#include "rank/interface.h"
*/
import "C"

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"gigarank/internal/spelling"
	"gigarank/mpivirt/internal/world"
	"gigarank/mpivirt/native/toolchain"
)

// crash returns the error of a rank or of an operation, whose code a signal has stopped.
func (b *body) crash(what, code string, signal int) error {
	c := &b.engine.crash
	if c.overflow != 0 {
		return fmt.Errorf("the rank has overrun its stack of %s%s: use a larger --stack", spelling.Count(b.form.stack, "byte"), b.place())
	}
	name := unix.SignalName(unix.Signal(signal))
	where := b.place()
	if signal == int(unix.SIGABRT) {
		return fmt.Errorf("%s has called abort (%s)%s", what, name, where)
	}
	if signal == int(unix.SIGSEGV) || signal == int(unix.SIGBUS) {
		where = fmt.Sprintf(" at address %#x%s", uint64(c.address), where)
	}
	return fmt.Errorf("%s was stopped by %s%s", code, name, where)
}

// place returns " in" the function, and the line of the source if it is known, where the last
// crash was. Of a library it names the function that the program has called, if it is MPI's, and
// where.
func (b *body) place() string {
	c := &b.engine.crash
	if c.caller == 0 {
		name := ""
		if c.file != nil {
			name = b.fileOf(stringOf(c.file))
		}
		return b.placeOf(name, uint64(c.pc-c.base))
	}
	caller := b.placeOf(b.form.path, uint64(c.caller)-1)
	if library, err := toolchain.OpenLibrary(); err == nil && c.callee != 0 {
		if file, err := elf.Open(library.Path); err == nil {
			defer func() { _ = file.Close() }()
			if name := strings.TrimPrefix(functionAt(file, uint64(c.callee)-1), "P"); strings.HasPrefix(name, "MPI_") {
				return " in " + name + " called" + caller
			}
		}
	}
	return caller
}

// fileOf returns the file of an object that the loader knows by a name.
func (b *body) fileOf(name string) string {
	if name = original(name); strings.HasPrefix(name, "/proc/self/fd/") {
		return b.form.path
	}
	return name
}

// Place implements [kernel.Locator].
func (b *body) Place(lp int32) string {
	if placeCall(b.engine, lp); b.engine.crash.caller == 0 && b.engine.crash.file == nil {
		return ""
	}
	return strings.TrimPrefix(b.place(), " in ")
}

// CommName implements [kernel.Locator].
func (b *body) CommName(lp, comm int32) string { return commName(b.engine, lp, comm) }

// operationFailed ends a rank that takes part in a reduction whose operation, of the program's
// own, has crashed or called a function that only ranks may call.
func (b *body) operationFailed(o operation, signal int) {
	by := &b.engine.by_operation
	err := error(nil)
	if by.there != 0 {
		err = fmt.Errorf("%s was called by an operation of the program: operations must only compute", foreignFunction(by))
		by.there = 0
	} else {
		err = b.crash("the operation of the program", "the operation of the program", signal)
	}
	if lp, p := b.reducing(o); lp != world.None {
		b.k.Fail(lp, p, err)
	}
}

// reducing returns a rank that takes part in a reduction with an operation, and its call: the rank
// whose call is being made, else the first rank that waits in such a call, else the first rank that has not
// ended.
func (b *body) reducing(o operation) (lp int32, p world.Procedure) {
	first := int32(world.None)
	for lp := range int32(len(b.ranks)) {
		r := &b.ranks[lp]
		if r.state >= ended {
			continue
		}
		if r.state == calls && procedureOf(int32(r.call.procedure)).Reduces() && uintptr(r.call.handle) == o.handle {
			return lp, lastOf(r)
		}
		if first == world.None {
			first = lp
		}
	}
	return first, world.NoProcedure
}

// failForThread ends the rank whose thread has called a function that only ranks may call.
func (b *body) failForThread() {
	by := &b.engine.by_thread
	b.k.Fail(int32(by.lp), world.NoProcedure, fmt.Errorf("%s was called from a thread that the rank has started: "+
		"MPI_Init_thread provides MPI_THREAD_FUNNELED at most, so that only the rank itself may", foreignFunction(by)))
	by.there = 0
}

// foreignFunction returns the name of the function of a foreign call.
func foreignFunction(by *cForeignCall) string {
	if by.procedure != C.GIGARANK_NONE {
		return "MPI_" + procedureOf(int32(by.procedure)).NameInC()
	}
	return stringOf(&by.function[0])
}

// placeOf is place for an offset in an object.
func (b *body) placeOf(name string, offset uint64) string {
	at := fmt.Sprintf("%s+%#x", filepath.Base(name), offset)
	file, err := elf.Open(name)
	if err != nil {
		return " in " + at
	}
	defer func() { _ = file.Close() }()
	function := strings.TrimSuffix(functionAt(file, offset), ".cold") // where compilers put code that ends a program
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
	// The sequences of a table are in no order: functions that several units have, as templates, have
	// a sequence each.
	last := dwarf.LineEntry{EndSequence: true}
	for {
		var entry dwarf.LineEntry
		if lines.Next(&entry) != nil {
			return ""
		}
		if !last.EndSequence && last.Address <= address && address < entry.Address {
			return fmt.Sprintf("%s:%d", filepath.Base(last.File.Name), last.Line)
		}
		last = entry
	}
}
