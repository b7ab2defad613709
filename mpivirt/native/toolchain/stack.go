package toolchain

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
)

// ExecutesStack reports whether a program executes code on its stack. gcc and gfortran mark
// a program so that passes the address of a nested function.
func ExecutesStack(program string) bool {
	file, err := elf.Open(program)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_GNU_STACK && p.Flags&elf.PF_X != 0 })
}

// ForgetStack takes from the text of a program that it executes its stack. The loader would make
// the stacks of the process executable, on which no rank runs.
func ForgetStack(program []byte) {
	order := binary.LittleEndian
	header := program[order.Uint64(program[32:]):] // e_phoff
	size, n := int(order.Uint16(program[54:])), int(order.Uint16(program[56:]))
	for ; n > 0; n-- {
		if elf.ProgType(order.Uint32(header)) == elf.PT_GNU_STACK {
			order.PutUint32(header[4:], order.Uint32(header[4:])&^uint32(elf.PF_X))
		}
		header = header[size:]
	}
}

// ForgetUnique makes the variables of an object that the loader has once in a process, such as
// variables of inline functions in C++, variables of the object.
func ForgetUnique(text []byte) error {
	file, err := elf.NewFile(bytes.NewReader(text))
	if err != nil {
		return err
	}
	symbols := file.SectionByType(elf.SHT_DYNSYM)
	if symbols == nil {
		return nil
	}
	for table := text[symbols.Offset : symbols.Offset+symbols.Size]; len(table) >= elf.Sym64Size; table = table[elf.Sym64Size:] {
		if info := &table[4]; elf.ST_BIND(*info) == unique {
			*info = elf.ST_INFO(elf.STB_WEAK, elf.ST_TYPE(*info))
		}
	}
	return nil
}

// unique is the binding of variables that the loader has once in a process, STB_GNU_UNIQUE.
const unique = elf.STB_LOOS
