package ir

import (
	"fmt"
	"strconv"
	"strings"
)

// Module is a program or a part of it.
type Module struct {
	File   string // the name of its text, for messages
	Layout *Layout
	Triple string
	Items  []Item // in the order of the text

	types   types
	symbols map[string]*Symbol
	nodes   map[string]string    // metadata, by number
	places  map[string]*Position // of instructions, by the node that describes the place
	fresh   int                  // names that Fresh has returned
	prefix  string               // of these
}

// Item is a part of a module: a [Line], a [Definition], a [Global] or a [Function].
type Item interface{ write(w *writer) }

// Line is a line that is kept as it stands.
type Line string

// Definition says what a structure with a name has.
type Definition struct{ Type *Type }

// Global is a variable, or another name for a symbol.
type Global struct {
	Symbol *Symbol
	Prefix string // linkage and the like, in front of the word
	Word   string // global, constant or alias
	Type   *Type
	Init   Value  // nil for a variable of another module
	Suffix string // alignment and the like, with the comma in front
}

// Function is a function, with blocks if its code is in the module.
type Function struct {
	Symbol   *Symbol
	Prefix   string // linkage and attributes of the result
	Result   *Type
	Params   []Param
	Variadic bool
	Suffix   string // attributes and the like
	Blocks   []*Block
}

// Param is a parameter of a function. That of a function of another module may have no name.
type Param struct {
	Local *Local
	Attrs string
}

// Block is a basic block: instructions of which the last alone goes elsewhere.
type Block struct {
	Name   string
	Quiet  bool // the first block of a function, whose name is not written
	Instrs []*Instr
	Func   *Function
}

// Last returns the instruction that ends the block.
func (b *Block) Last() *Instr { return b.Instrs[len(b.Instrs)-1] }

// Successors returns the blocks to which the block may go, some more than once.
func (b *Block) Successors() []*Block { return b.Last().Targets }

// Instr is an instruction.
type Instr struct {
	Op     Op
	Result *Local // nil if it has none
	Block  *Block
	Line   int // of the module's text

	Prefix   string   // in front of the opcode: tail, musttail or notail
	Flags    string   // behind the opcode: nsw, volatile, inbounds, cleanup, calling convention, attributes of the result
	Operands []Value  // see Op
	Targets  []*Block // blocks to go to; of phi the blocks that its operands come from
	Type     *Type    // alloca: of the memory; getelementptr: of what the pointer leads to; call: of the function; casts and load: of the result
	Pred     string   // of icmp and fcmp
	Indices  []int64  // of extractvalue and insertvalue
	Attrs    []string // of the arguments of a call; catch or filter for each clause of landingpad
	Suffix   string   // behind the operands: alignment with the comma in front; attributes of a call
	Bundles  []Bundle // of a call
	Notes    []Note   // metadata
}

// Bundle is a group of further operands of a call.
type Bundle struct {
	Tag      string
	Operands []Value
}

// Note is metadata of an instruction: the name of its kind and the number of its node.
type Note struct{ Name, Node string }

// Callee returns the value that a call or invoke calls.
func (i *Instr) Callee() Value { return i.Operands[len(i.Operands)-1] }

// Args returns the arguments of a call or invoke.
func (i *Instr) Args() []Value { return i.Operands[:len(i.Operands)-1] }

// Calls returns the name of the function that the instruction calls by its name, "" if it does not.
func (i *Instr) Calls() string {
	if i.Op != Call && i.Op != Invoke {
		return ""
	}
	if s, is := i.Callee().(*Symbol); is {
		return s.Name
	}
	return ""
}

// Each calls visit with each operand's place, those of bundles included.
func (i *Instr) Each(visit func(*Value)) {
	for n := range i.Operands {
		visit(&i.Operands[n])
	}
	for b := range i.Bundles {
		for n := range i.Bundles[b].Operands {
			visit(&i.Bundles[b].Operands[n])
		}
	}
}

// Functions returns the functions of the module, in the order of the text.
func (m *Module) Functions() (all []*Function) { return itemsOf[*Function](m) }

// Globals returns the variables and aliases of the module, in the order of the text.
func (m *Module) Globals() (all []*Global) { return itemsOf[*Global](m) }

func itemsOf[T Item](m *Module) (all []T) {
	for _, item := range m.Items {
		if one, is := item.(T); is {
			all = append(all, one)
		}
	}
	return all
}

// Symbol returns the symbol with a name, nil if the module has none.
func (m *Module) Symbol(name string) *Symbol { return m.symbols[name] }

// Op is an opcode. Operands lie in the order of the text; those of a call are its arguments, then the callee; those of
// switch the condition, then the value of each target but the first.
type Op uint8

// The opcodes that the reader knows.
const (
	Ret Op = iota + 1
	Br
	Switch
	Invoke
	Resume
	Unreachable
	LandingPad
	Call
	Phi
	Select
	Freeze
	Alloca
	Load
	Store
	GetElementPtr
	ICmp
	FCmp
	ExtractValue
	InsertValue
	ExtractElement
	InsertElement
	ShuffleVector
	FNeg
	Add
	FAdd
	Sub
	FSub
	Mul
	FMul
	UDiv
	SDiv
	FDiv
	URem
	SRem
	FRem
	Shl
	LShr
	AShr
	And
	Or
	Xor
	Trunc
	ZExt
	SExt
	FPTrunc
	FPExt
	FPToUI
	FPToSI
	UIToFP
	SIToFP
	PtrToInt
	IntToPtr
	BitCast
)

// opNames are the opcodes as they are written.
var opNames = [...]string{
	Ret: "ret", Br: "br", Switch: "switch", Invoke: "invoke", Resume: "resume", Unreachable: "unreachable", LandingPad: "landingpad", Call: "call",
	Phi: "phi", Select: "select", Freeze: "freeze", Alloca: "alloca", Load: "load", Store: "store", GetElementPtr: "getelementptr", ICmp: "icmp", FCmp: "fcmp",
	ExtractValue: "extractvalue", InsertValue: "insertvalue", ExtractElement: "extractelement", InsertElement: "insertelement", ShuffleVector: "shufflevector",
	FNeg: "fneg", Add: "add", FAdd: "fadd", Sub: "sub", FSub: "fsub", Mul: "mul", FMul: "fmul", UDiv: "udiv", SDiv: "sdiv", FDiv: "fdiv", URem: "urem", SRem: "srem", FRem: "frem",
	Shl: "shl", LShr: "lshr", AShr: "ashr", And: "and", Or: "or", Xor: "xor",
	Trunc: "trunc", ZExt: "zext", SExt: "sext", FPTrunc: "fptrunc", FPExt: "fpext", FPToUI: "fptoui", FPToSI: "fptosi", UIToFP: "uitofp", SIToFP: "sitofp",
	PtrToInt: "ptrtoint", IntToPtr: "inttoptr", BitCast: "bitcast",
}

func (o Op) String() string { return opNames[o] }

// IsBinary reports whether the opcode takes two operands of one type, which its result has, too.
func (o Op) IsBinary() bool { return Add <= o && o <= Xor }

// IsCast reports whether the opcode changes the type of an operand.
func (o Op) IsCast() bool { return Trunc <= o && o <= BitCast }

// Ends reports whether the opcode ends a block.
func (o Op) Ends() bool { return Ret <= o && o <= Unreachable }

// opOf returns the opcode with a name, 0 if there is none; isCast tells the names of casts.
var opOf, isCast = map[string]Op{}, map[string]bool{}

func init() {
	for op, name := range opNames {
		if op > 0 {
			opOf[name], isCast[name] = Op(op), Op(op).IsCast()
		}
	}
}

// Declare adds the declaration of a function to the module. The error says that the module uses its name.
func (m *Module) Declare(name string, result *Type, parameters ...*Type) error {
	if m.symbols[name] != nil {
		return fmt.Errorf("%s: the program has a symbol %s of its own: name it otherwise", m.File, name)
	}
	s := &Symbol{Name: name, Type: m.Pointer()}
	s.Function = &Function{Symbol: s, Result: result}
	for _, t := range parameters {
		s.Function.Params = append(s.Function.Params, Param{Local: &Local{Type: t}})
	}
	m.symbols[name] = s
	m.Items = append(m.Items, s.Function)
	return nil
}

// Pointer returns the type of addresses.
func (m *Module) Pointer() *Type { return m.types.of(Type{Kind: Pointer}) }

// Void returns the type of functions without a result.
func (m *Module) Void() *Type { return m.types.of(Type{Kind: Void}) }

// Int returns the type of integers of some bits.
func (m *Module) Int(bits int64) *Type { return m.types.of(Type{Kind: Integer, N: bits}) }

// Number returns a constant of a type of integers.
func Number(t *Type, n int64) *Const { return &Const{Type: t, Text: strconv.FormatInt(n, 10)} }

// Make returns an instruction with operands. Its result has a type, nil for none.
func (m *Module) Make(b *Block, op Op, result *Type, operands ...Value) *Instr {
	i := &Instr{Op: op, Block: b, Operands: operands}
	if op == Call {
		i.Type, i.Attrs = m.Void(), make([]string, len(operands)-1)
	}
	if result != nil {
		i.Type, i.Result = result, &Local{Name: m.Fresh(), Type: result, Def: i}
	}
	return i
}

// NewBlock returns a block of a function that jumps to another one. It stands behind the blocks that the function has.
func (m *Module) NewBlock(f *Function, to *Block) *Block {
	b := &Block{Name: m.Fresh(), Func: f}
	b.Instrs = []*Instr{{Op: Br, Block: b, Targets: []*Block{to}}}
	f.Blocks = append(f.Blocks, b)
	return b
}

// Fresh returns a name that no value of the module has been given by it before, and that compilers do not give. A text that has come from here, by way of
// LLVM, has names of another prefix: LLVM puts digits behind names that it copies.
func (m *Module) Fresh() string {
	m.fresh++
	return fmt.Sprintf("%s%d", m.prefix, m.fresh)
}

// prefixFor returns the begin of names that a text does not have.
func prefixFor(text string) string {
	prefix := "gigarank."
	for n := 0; strings.Contains(text, prefix); n++ {
		prefix = fmt.Sprintf("gigarank%d.", n)
	}
	return prefix
}

// Zero returns the constant of a type whose bits are all 0.
func Zero(t *Type) *Const {
	text := "zeroinitializer"
	switch {
	case t.Kind == Integer:
		text = "0"
	case t.Kind == Pointer:
		text = "null"
	case t.IsFloat():
		text = zeros[t.Kind]
	}
	return &Const{Type: t, Text: text}
}

// zeros are the floating-point zeros as LLVM writes them.
var zeros = map[Kind]string{
	Half: "0xH0000", BFloat: "0xR0000", Float: "0.000000e+00", Double: "0.000000e+00", X86FP80: "0xK00000000000000000000",
	FP128: "0xL00000000000000000000000000000000", PPCFP128: "0xM00000000000000000000000000000000",
}
