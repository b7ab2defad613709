package ir

import (
	"strconv"
	"strings"
)

// Value is an operand: a [Local], a [Symbol] or a [Const].
type Value interface {
	Of() *Type // its type
	String() string
}

// Local is a parameter or the result of an instruction.
type Local struct {
	Name string
	Type *Type
	Def  *Instr // which it is the result of, nil for a parameter
}

// Of returns the type of the value.
func (l *Local) Of() *Type { return l.Type }

func (l *Local) String() string { return "%" + l.Name }

// Symbol is the address of a variable or a function, or stands for an alias of it.
type Symbol struct {
	Name     string
	Type     *Type     // a pointer
	Global   *Global   // nil for a function
	Function *Function // nil for a variable
	line     int       // of its first use
}

// Of returns the type of the address.
func (s *Symbol) Of() *Type { return s.Type }

func (s *Symbol) String() string { return "@" + s.Name }

// Form is the form of a constant.
type Form uint8

// The forms of constants.
const (
	Literal    Form = iota // its text stands for it: a number, true, null, zeroinitializer, c"text", a node of metadata
	Aggregate              // elements of an array, a structure or a vector
	Expression             // an opcode with operands
)

// Const is a constant.
type Const struct {
	Type   *Type
	Form   Form
	Text   string  // of a literal; the opcode of an expression
	Flags  string  // of an expression, between the opcode and the operands
	Source *Type   // of getelementptr
	Elems  []Value // of an aggregate or an expression
}

// Of returns the type of the constant.
func (c *Const) Of() *Type { return c.Type }

func (c *Const) String() string {
	switch c.Form {
	case Literal:
		return c.Text
	case Aggregate:
		return c.aggregate()
	}
	var s strings.Builder
	s.WriteString(c.Text)
	if c.Flags != "" {
		s.WriteString(" " + c.Flags)
	}
	s.WriteString(" (")
	if c.Source != nil {
		s.WriteString(c.Source.String() + ", ")
	}
	s.WriteString(typed(c.Elems))
	if isCast[c.Text] {
		s.WriteString(" to " + c.Type.String())
	}
	return s.String() + ")"
}

func (c *Const) aggregate() string {
	text := typed(c.Elems)
	switch c.Type.Kind {
	case Array:
		return "[" + text + "]"
	case Vector:
		return "<" + text + ">"
	}
	if text = "{ " + text + " }"; len(c.Elems) == 0 {
		text = "{}"
	}
	if c.Type.Packed {
		return "<" + text + ">"
	}
	return text
}

// typed returns values with their types, with commas between them.
func typed(values []Value) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.Of().String() + " " + v.String()
	}
	return strings.Join(texts, ", ")
}

// IntOf returns the value of an integer constant of at most 64 bits, and whether v is such a constant. The value true is 1.
func IntOf(v Value) (n int64, is bool) {
	c, is := v.(*Const)
	if !is || c.Form != Literal || c.Type.Kind != Integer || c.Type.N > 64 {
		return 0, false
	}
	switch c.Text {
	case "true":
		return 1, true
	case "false", "zeroinitializer":
		return 0, true
	}
	n, err := strconv.ParseInt(c.Text, 10, 64)
	return n, err == nil
}
