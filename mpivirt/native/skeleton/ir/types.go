package ir

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind is the kind of a type.
type Kind uint8

// The kinds of types.
const (
	Void Kind = iota
	Integer
	Half
	BFloat
	Float
	Double
	X86FP80
	FP128
	PPCFP128
	Pointer
	Metadata
	Array
	Vector
	Struct
	Func
)

// words are the types that are one word.
var words = map[string]Kind{
	"void": Void, "half": Half, "bfloat": BFloat, "float": Float, "double": Double, "x86_fp80": X86FP80, "fp128": FP128, "ppc_fp128": PPCFP128,
	"ptr": Pointer, "metadata": Metadata,
}

// Type is a type of a module. Two types of a module are equal if their addresses are.
type Type struct {
	Kind     Kind
	N        int64   // bits of an integer, elements of an array or a vector, address space of a pointer
	Elem     *Type   // of an array or a vector; what a function returns
	Fields   []*Type // of a structure; the parameters of a function
	Name     string  // of a structure that has one
	Packed   bool    // a structure without padding
	Variadic bool    // a function with further arguments
	Opaque   bool    // a structure with a name whose fields are not known
	text     string
}

// String returns the type as it is written where it is used: a structure with a name by this name.
func (t *Type) String() string { return t.text }

// IsFloat reports whether values of the type are floating-point numbers.
func (t *Type) IsFloat() bool { return Half <= t.Kind && t.Kind <= PPCFP128 }

// body returns a structure's fields as they are written, also if it has a name.
func (t *Type) body() string {
	if t.Opaque {
		return "opaque"
	}
	text := "{}"
	if len(t.Fields) > 0 {
		text = "{ " + list(t.Fields) + " }"
	}
	if t.Packed {
		return "<" + text + ">"
	}
	return text
}

// list returns types with commas between them.
func list(types []*Type) string {
	texts := make([]string, len(types))
	for i, t := range types {
		texts[i] = t.text
	}
	return strings.Join(texts, ", ")
}

// spell stores the text of a type without a name.
func (t *Type) spell() *Type {
	switch t.Kind {
	case Integer:
		t.text = "i" + strconv.FormatInt(t.N, 10)
	case Pointer:
		t.text = "ptr"
		if t.N != 0 {
			t.text = fmt.Sprintf("ptr addrspace(%d)", t.N)
		}
	case Array:
		t.text = fmt.Sprintf("[%d x %s]", t.N, t.Elem)
	case Vector:
		t.text = fmt.Sprintf("<%d x %s>", t.N, t.Elem)
	case Struct:
		t.text = t.body()
	case Func:
		parameters := list(t.Fields)
		if t.Variadic {
			parameters = strings.TrimPrefix(parameters+", ...", ", ")
		}
		t.text = fmt.Sprintf("%s (%s)", t.Elem, parameters)
	default:
		for word, kind := range words {
			if kind == t.Kind {
				t.text = word
			}
		}
	}
	return t
}

// types holds the types of a module, by their text.
type types map[string]*Type

// of returns the type of the module that is equal to t.
func (all types) of(t Type) *Type {
	key := t.spell().text
	if known := all[key]; known != nil {
		return known
	}
	all[key] = &t
	return &t
}

// named returns the structure with a name, which may be defined later.
func (all types) named(name string) *Type {
	key := "%" + name
	if all[key] == nil {
		all[key] = &Type{Kind: Struct, Name: name, text: key, Opaque: true}
	}
	return all[key]
}

// element returns the type of the element of an aggregate at an index, nil if there is none.
func (t *Type) element(i int64) *Type {
	switch {
	case t.Kind == Array || t.Kind == Vector:
		return t.Elem
	case t.Kind == Struct && 0 <= i && i < int64(len(t.Fields)):
		return t.Fields[i]
	}
	return nil
}
