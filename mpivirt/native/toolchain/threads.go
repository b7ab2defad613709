package toolchain

import (
	"debug/elf"
	"slices"
	"strings"
)

// Threads is how a program makes threads.
type Threads struct {
	Starts  bool   // it, or a library of its own, starts threads or has parallel regions of OpenMP
	Ordered bool   // it has ordered regions of OpenMP
	OpenMP  string // the library of OpenMP that it needs, if that is not GCC's
}

// StartThread is the symbol of the function of libstdc++ that starts a std::thread.
const StartThread = "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"

// threadStarters begin the names of functions that start threads, of libgomp and libstdc++ among others, or begin
// operations that the C library carries out in threads.
var threadStarters = []string{
	"pthread_create", "thrd_create", StartThread, "GOMP_parallel",
	"aio_read", "aio_write", "lio_listio", "timer_create", "mq_notify",
}

// otherOpenMP begin the names of libraries of OpenMP whose settings and teams gigarank does not tell apart by rank.
var otherOpenMP = []string{"libomp.", "libomp5.", "libomp-", "libiomp5.", "libnvomp.", "libcraymp."}

// ThreadsOf returns how a program makes threads.
func ThreadsOf(program string) (t Threads, err error) {
	err = inObjects(program, func(path string, object *elf.File) error {
		symbols, err := imported(path, object)
		if err != nil {
			return err
		}
		for _, s := range symbols {
			t.Starts = t.Starts || StartsThreads(s.Name)
			t.Ordered = t.Ordered || s.Name == "GOMP_ordered_start"
		}
		needed, err := object.ImportedLibraries()
		for _, name := range needed {
			if slices.ContainsFunc(otherOpenMP, func(begin string) bool { return strings.HasPrefix(name, begin) }) {
				t.OpenMP = name
			}
		}
		return err
	})
	return t, err
}

// StartsThreads reports whether a function starts threads.
func StartsThreads(function string) bool {
	return slices.ContainsFunc(threadStarters, func(begin string) bool { return strings.HasPrefix(function, begin) })
}
