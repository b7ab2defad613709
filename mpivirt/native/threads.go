//go:build cgo && linux && (amd64 || arm64)

package native

/*
#include "rank/interface.h"
*/
import "C"

import (
	"debug/elf"
	"fmt"
	"os"
	"slices"
	"strings"

	"gigarank/mpivirt/native/toolchain"
)

// A thread that a rank has started, and a region of OpenMP that is open, use the rank's variables and its stack while
// the rank waits. So each rank of a program that starts threads has an image of the program for itself, if an engine has few
// of them, and a stack of its own: nothing of it moves. The settings and teams of libgomp, which keeps them by thread of
// the system, are a rank's as its thread-local variables are. Other runs end once a rank waits beside its threads.

// mostThreaded is the number of ranks of an engine up to which each has an image to itself, if the program starts threads.
const mostThreaded = 64

// threadsOf returns how a program makes threads, in libraries of the system, too.
func threadsOf(path string) (toolchain.Threads, error) {
	t, err := toolchain.ThreadsOf(path)
	if err != nil || t.Starts {
		return t, err
	}
	libraries, err := needs(path)
	if err != nil {
		return t, err
	}
	for _, one := range libraries {
		if one.own || isWorker(one.name) {
			continue
		}
		library, err := elf.Open(one.path)
		if err != nil {
			return t, fmt.Errorf("%s: %w", one.path, err)
		}
		symbols, err := library.ImportedSymbols()
		_ = library.Close()
		if err == nil && slices.ContainsFunc(symbols, func(s elf.ImportedSymbol) bool { return toolchain.StartsThreads(s.Name) }) {
			t.Starts = true
		}
	}
	return t, nil
}

// waitPassively has libgomp, which reads its settings as it is loaded, make threads that wait sleep, unless the user has
// said how they are to wait. The ranks of an engine share a processor, which threads that spin would keep from them. The
// function that it returns undoes it.
func waitPassively() (undo func()) {
	const policy = "OMP_WAIT_POLICY"
	for _, name := range []string{policy, "GOMP_SPINCOUNT"} {
		if _, set := os.LookupEnv(name); set {
			return func() {}
		}
	}
	if os.Setenv(policy, "passive") != nil {
		return func() {}
	}
	return func() { _ = os.Unsetenv(policy) }
}

// strayed ends a rank that waits while threads of its own go on where other ranks have their variables. The engine
// resumes no other rank.
func (b *body) strayed(lp int32, c *cCall) {
	what := "a thread that the rank has started lives, and"
	remedy := "end the thread before the call"
	if c.n == C.GIGARANK_OPEN_REGION {
		what, remedy = "a parallel region of OpenMP is open, whose threads", "end the region before the call"
		if b.form.threads.Ordered {
			remedy = "use an engine for each rank, or leave out ordered, or " + remedy
		}
	}
	switch {
	case b.engine.copied != 0:
		remedy = "use --stacks own, or " + remedy
	case b.engine.images == nil && !b.form.threads.Starts: // as in a library that is loaded while ranks run
		remedy = "link what starts it with the program, use an engine for each rank, or " + remedy
	case b.engine.images == nil:
		remedy = fmt.Sprintf("use more engines or hosts, so that each engine has at most %d ranks, or %s", mostThreaded, remedy)
	}
	b.spoiled = true
	b.named = namedCall{lp, c.nonblocking}
	err := fmt.Errorf("%s would use the variables of other ranks while this one waits: %s", what, remedy)
	b.k.Fail(lp, variantOf(procedureOf(int32(c.dest)), c.nonblocking), err)
}

// workers begin the names of libraries whose threads work only within calls, on the arguments of a call.
// runtime/libc/threads.c has the same table.
var workers = []string{"libgomp.so", "libopenblas", "libblis", "libmkl_", "libfftw3"}

func isWorker(library string) bool {
	return slices.ContainsFunc(workers, func(begin string) bool { return strings.HasPrefix(library, begin) })
}
