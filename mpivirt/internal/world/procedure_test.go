package world

import (
	"strings"
	"testing"

	"gigarank/collectives"
)

// Each procedure has a row of its own.
func TestRowsOfProcedures(t *testing.T) {
	names, inC := map[string]Procedure{}, map[string]Procedure{}
	for p := range Procedure(Procedures()) {
		if !p.Known() || (p.Class() == ClassNone) != (p == NoProcedure) || (p.String() == "") != (p == NoProcedure) {
			t.Errorf("procedure %d: %q of class %d", p, p, p.Class())
		}
		if q, twice := names[p.String()]; twice {
			t.Errorf("procedures %d and %d are named %q", q, p, p)
		}
		if q, twice := inC[p.NameInC()]; twice {
			t.Errorf("procedures %d and %d are named %q in C", q, p, p.NameInC())
		}
		names[p.String()], inC[p.NameInC()] = p, p
		if like := p.Plain(); like.Plain() != like {
			t.Errorf("%v goes like %v, which goes like %v", p, like, like.Plain())
		}
	}
	for p := Procedures(); p < 1<<8; p++ {
		if c := Procedure(p); c.Known() || c.Class() != ClassNone || c.Blocks() || c.Sends() {
			t.Errorf("%d is no procedure", p)
		}
	}
}

// The operations of package collectives and their procedures have the same names, and belong together.
func TestProceduresOfOperations(t *testing.T) {
	for _, op := range collectives.Operations() {
		p := ProcedureOf(op)
		if p.Operation() != op || p.Class() != ClassCollective || p.Plain() != p {
			t.Errorf("%v: %v, of operation %v", op, p, p.Operation())
		}
		if got, want := strings.ToLower(p.NameInC()), op.String(); strings.ReplaceAll(got, "_", "") != strings.ReplaceAll(want, "_", "") {
			t.Errorf("operation %s is procedure %s in C", want, got)
		}
	}
	for p, op := range map[Procedure]collectives.Operation{Alltoallw: collectives.Alltoallv, ReduceScatterBlock: collectives.ReduceScatter} {
		if p.Operation() != op {
			t.Errorf("%v: operation %v, want %v", p, p.Operation(), op)
		}
	}
}

// Names say what MPI says of procedures (MPI 4.1, 3.4, 3.7.2 and 4.2): a nonblocking one begins with I, then comes
// the mode of a send. That which initialises a partitioned message begins with P and ends with _init.
func TestNamesTellModesAndBlocking(t *testing.T) {
	modes := map[string]SendMode{"send": Standard, "ssend": Synchronous, "bsend": Buffered, "rsend": Ready}
	for p := range Procedure(Procedures()) {
		name := strings.ToLower(p.NameInC())
		plain, later := strings.CutPrefix(name, "i")
		if partitioned, is := strings.CutSuffix(name, "_init"); is {
			plain, later = strings.CutPrefix(partitioned, "p")
		}
		switch p.Class() {
		case ClassSend:
			if !later {
				plain = name
			}
			mode, known := modes[plain]
			if !known || p.Mode() != mode || p.Blocks() == later || p.Sends() == later {
				t.Errorf("%v: mode %d, blocks %t, sends %t, and its name in C, %s, says otherwise: correct its row in procedures, or inC there",
					p, p.Mode(), p.Blocks(), p.Sends(), p.NameInC())
			}
		case ClassReceive, ClassSendReceive:
			if p.Blocks() == later || p.Sends() {
				t.Errorf("%v: blocks %t, sends %t, and its name in C, %s, says otherwise: correct its row in procedures, or inC there", p, p.Blocks(), p.Sends(), p.NameInC())
			}
		default:
			if p.Blocks() || p.Sends() || p.Mode() != Standard {
				t.Errorf("%v: blocks %t, sends %t, mode %d", p, p.Blocks(), p.Sends(), p.Mode())
			}
		}
		if reduces := strings.Contains(name, "reduce") || strings.Contains(name, "scan"); p.Reduces() != (reduces && p.Class() == ClassCollective) {
			t.Errorf("%v: reduces %t", p, p.Reduces())
		}
	}
}
