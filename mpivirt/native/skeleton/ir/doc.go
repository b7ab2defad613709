// Package ir reads and writes the text form of LLVM 19's intermediate representation, as far as programs in C, C++ and
// Fortran have it once LLVM's own passes have prepared them.
//
// # Model
//
// A [Module] is a list of items in the order of the text: types, variables, functions, and lines that are kept as they stand. The
// instructions of a function are values with operands, types and lines of the source. Attributes, linkage and the
// like are kept as text: a pass does not ask for them, and the writer puts them back.
//
// A [Layout] tells sizes, alignments and the offsets of getelementptr, by the rules of the LLVM language reference, sections "Data
// Layout" and "getelementptr". [Module.Position] tells the line of an instruction, with the calls that were inlined.
//
// # Invariants
//
//   - The reader knows the opcodes of [Op] and no other. It refuses text that it does not know, with its line. It skips comments, and
//     the records that only debuggers read (#dbg_value and the like).
//   - The writer prints a module that has not been changed as LLVM prints it, but for comments and blank lines.
//   - Names are kept as they are written: with the quotes that they need, without their sigil.
//   - A value without a name has its number for a name. Instructions may be taken away: LLVM 19 reads numbers with gaps.
//
// # Use
//
//	m, err := ir.Parse("program.ll", text)
//	for _, f := range m.Functions() { … }
//	text = m.String()
package ir
