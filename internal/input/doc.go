// Package input reads the files that users write: machine files, tables of libraries, lists. Everything that is wrong with a
// file is reported at once: a [Fault] names the file, the line, the field, what is wrong and what to write instead.
//
// A [Document] is a file in YAML. Its fields have an order and lines, which a decoder into Go's structs would lose. The package knows
// the form of a document only; the rooms that read files know the fields.
package input
