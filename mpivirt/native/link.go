//go:build cgo && linux && (amd64 || arm64)

package native

/*
#cgo CFLAGS: -O2 -I${SRCDIR}/toolchain/runtime
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "rank/interface.h"

static struct gigarank_program *load(void *f, const char *path) {
	return ((struct gigarank_program *(*)(const char *))f)(path);
}
static struct gigarank_engine *open_engine(void *f, struct gigarank_program **p, int32_t images, int32_t count, int32_t first, int32_t world, size_t stack, int32_t copied, int32_t argc, char **argv, char *fault, size_t room) {
	return ((struct gigarank_engine *(*)(struct gigarank_program *const *, int32_t, int32_t, int32_t, int32_t, size_t, int32_t, int32_t, char **, char *, size_t))f)(p, images, count, first, world, stack, copied, argc, argv, fault, room);
}
static int32_t resume(void *f, struct gigarank_engine *e, int32_t n) { return ((int32_t (*)(struct gigarank_engine *, int32_t))f)(e, n); }
static int32_t close_engine(void *f, struct gigarank_engine *e) { return ((int32_t (*)(struct gigarank_engine *))f)(e); }
static void on_engine(void *f, struct gigarank_engine *e) { ((void (*)(struct gigarank_engine *))f)(e); }
static int open_tasks(void *f, struct gigarank_engine *e, int32_t number, int32_t by_rank, size_t beside) {
	return ((int (*)(struct gigarank_engine *, int32_t, int32_t, size_t))f)(e, number, by_rank, beside);
}
static int open_sites(void *f, struct gigarank_engine *e) { return ((int (*)(struct gigarank_engine *))f)(e); }
static int measure(void *f, struct gigarank_engine *e) { return ((int (*)(struct gigarank_engine *))f)(e); }
static void lend(void *f, struct gigarank_engine *e, int32_t lp, const void *memory, size_t bytes) {
	((void (*)(struct gigarank_engine *, int32_t, const void *, size_t))f)(e, lp, memory, bytes);
}
static void on_rank(void *f, struct gigarank_engine *e, int32_t lp) { ((void (*)(struct gigarank_engine *, int32_t))f)(e, lp); }
static const char *comm_name(void *f, const struct gigarank_engine *e, int32_t lp, int32_t comm) {
	return ((const char *(*)(const struct gigarank_engine *, int32_t, int32_t))f)(e, lp, comm);
}
static int operate(void *f, struct gigarank_engine *e, int32_t lp, uintptr_t handle, uintptr_t type, void *into, const void *left, const void *right, size_t bytes) {
	return ((int (*)(struct gigarank_engine *, int32_t, uintptr_t, uintptr_t, void *, const void *, const void *, size_t))f)(e, lp, handle, type, into, left, right, bytes);
}
static int operate_row(void *f, struct gigarank_engine *e, int32_t lp, uintptr_t handle, uintptr_t type, void *vectors, size_t bytes, size_t count) {
	return ((int (*)(struct gigarank_engine *, int32_t, uintptr_t, uintptr_t, void *, size_t, size_t))f)(e, lp, handle, type, vectors, bytes, count);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"unsafe"

	"gigarank/mpivirt/native/toolchain"
)

// The types of C that the package shares with the runtime.
type (
	cEngine  = C.struct_gigarank_engine
	cRank    = C.struct_gigarank_rank
	cCall    = C.struct_gigarank_call
	cStatus  = C.struct_gigarank_status
	cProgram = C.struct_gigarank_program
	cBurst   = C.struct_gigarank_burst
	cTask    = C.struct_gigarank_task

	cTaskCount = C.struct_gigarank_task_count

	cForeignCall = C.struct_gigarank_foreign_call
)

// runtime holds the functions of the C runtime, which is loaded once.
var runtime struct {
	load, open, resume, place, commName, release, close, flush, lend, operate, operateRow, measure, openSites, openTasks, interrupt unsafe.Pointer
	path                                                                                                                            string
}

// loadRuntime loads the C runtime.
var loadRuntime = sync.OnceValue(func() error {
	library, err := toolchain.OpenLibrary()
	if err != nil {
		return err
	}
	runtime.path = library.Path
	name := C.CString(filepath.Base(library.Path))
	defer C.free(unsafe.Pointer(name))
	if C.dlopen(name, C.RTLD_NOW|C.RTLD_NOLOAD) != nil {
		return errors.New("the runtime of native ranks is in this process already, as with a library in LD_PRELOAD: link a profiler with the program instead")
	}
	path := C.CString(library.Path)
	defer C.free(unsafe.Pointer(path))
	handle := C.dlopen(path, C.RTLD_NOW|C.RTLD_LOCAL|C.RTLD_DEEPBIND)
	if handle == nil {
		return fmt.Errorf("the runtime of native ranks: %s", C.GoString(C.dlerror()))
	}
	for name, place := range map[string]*unsafe.Pointer{
		"gigarank_load": &runtime.load, "gigarank_open": &runtime.open, "gigarank_resume": &runtime.resume, "gigarank_place": &runtime.place, "gigarank_comm_name": &runtime.commName,
		"gigarank_release": &runtime.release, "gigarank_close": &runtime.close,
		"gigarank_flush": &runtime.flush, "gigarank_lend": &runtime.lend, "gigarank_operate": &runtime.operate, "gigarank_operate_row": &runtime.operateRow,
		"gigarank_measure": &runtime.measure, "gigarank_open_sites": &runtime.openSites, "gigarank_open_tasks": &runtime.openTasks, "gigarank_interrupt": &runtime.interrupt,
	} {
		symbol := C.CString(name)
		*place = C.dlsym(handle, symbol)
		C.free(unsafe.Pointer(symbol))
		if *place == nil {
			return fmt.Errorf("the runtime of native ranks has no %s: remove %s", name, filepath.Dir(library.Path))
		}
	}
	return nil
})

// loaded are the programs in this process. A program stays loaded: functions that its constructors have
// registered may not go away.
var loaded struct {
	lock   sync.Mutex
	copies map[string][]*image // by path
}

// image is a program as it is loaded once.
type image struct {
	program *cProgram
	stamp   string // of the file, which may be built again
	used    bool   // by an engine
}

// mostImages is the number of ranks of an engine up to which each may have an image to itself. An
// image takes some milliseconds to load, and 3 MiB in Fortran.
const mostImages = 8

// takeImages returns the images of the program for n ranks of an engine. Each rank has an image of its own if the ranks are few and
// start threads, or if time is measured, so that a switch does not leave the pages of large variables to be found anew.
// Else all ranks share an image, also where the loader cannot make a further image.
func (b *body) takeImages(n int) ([]*image, error) {
	first, err := take(b.form.path)
	if err != nil {
		return nil, err
	}
	images := []*image{first}
	large := b.k.Bursting() && first.program.image >= 0
	if first.program.bytes == 0 || !(b.form.threads.Starts && n <= mostThreaded || large && n <= mostImages) {
		return images, nil
	}
	for len(images) < n {
		next, err := take(b.form.path)
		if err != nil {
			giveBack(images[1:])
			return images[:1], nil
		}
		images = append(images, next)
	}
	return images, nil
}

// take returns an image of a program that no other engine uses. All engines share the image of a program without
// variables.
func take(path string) (*image, error) {
	l := &loaded
	l.lock.Lock()
	defer l.lock.Unlock()
	stamp, err := stampOf(path)
	if err != nil {
		return nil, err
	}
	for _, one := range l.copies[path] {
		if one.stamp != stamp {
			continue
		}
		if one.program.bytes == 0 || !one.used {
			one.used = true
			return one, nil
		}
	}
	one := &image{stamp: stamp, used: true}
	if one.program, err = load(path, len(l.copies) > 0); err != nil {
		return nil, err
	}
	if l.copies == nil {
		l.copies = map[string][]*image{}
	}
	l.copies[path] = append(l.copies[path], one)
	return one, nil
}

// stampOf returns a text that changes when a program is built again.
func stampOf(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano()), nil
}

// giveBack ends the use of images.
func giveBack(images []*image) {
	loaded.lock.Lock()
	defer loaded.lock.Unlock()
	for _, i := range images {
		i.used = false
	}
}

// load loads a program. The loader takes a file that it has loaded for the same program or
// library, so that a later image is a copy of the files in memory.
func load(path string, later bool) (*cProgram, error) {
	file, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	name := file
	libraries, err := foreignLibraries(path)
	if err != nil {
		return nil, err
	}
	fortran, executable := fortranLibrary(path), toolchain.ExecutesStack(path)
	if later || len(libraries) > 0 || fortran != "" || executable {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if executable {
			toolchain.ForgetStack(text)
		}
		dir, err := copyLibraries(name, text, fortran, libraries, later)
		if dir != "" {
			defer func() { _ = os.RemoveAll(dir) }()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: no copies of its libraries for its ranks: %w", path, err)
		}
		fd, err := inMemory(filepath.Base(path), holding(text))
		if err != nil {
			return nil, fmt.Errorf("no copy of %s in memory: %w", path, err)
		}
		name = fmt.Sprintf("/proc/self/fd/%d", fd)
	}
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	defer waitPassively()()
	p := C.load(runtime.load, c)
	if p == nil {
		return nil, errors.New("no memory to load the program")
	}
	if fault := C.GoString(&p.fault[0]); fault != "" {
		return nil, fmt.Errorf("%s: %s", path, fault)
	}
	p.file = C.CString(file)
	if executable {
		p.executable = 1
	}
	return p, nil
}

// arguments returns the arguments of a program in C memory, which it keeps.
func arguments(path string, list []string) (int, **C.char) {
	all := append([]string{path}, list...)
	argv := (*[1 << 20]*C.char)(C.calloc(C.size_t(len(all)+1), C.size_t(unsafe.Sizeof((*C.char)(nil)))))
	for i, a := range all {
		argv[i] = C.CString(a)
	}
	return len(all), &argv[0]
}

// openEngine returns the tables and stacks of n ranks from the first on, of all in WORLD. They share
// an image of the program, or have an image each.
func openEngine(images []*image, n, first, all int, stack int64, copied bool, argc int, argv **C.char) (*cEngine, error) {
	var fault [512]C.char
	programs := make([]*cProgram, len(images))
	for i, one := range images {
		programs[i] = one.program
	}
	var copies C.int32_t
	if copied {
		copies = 1
	}
	e := C.open_engine(runtime.open, &programs[0], C.int32_t(len(programs)), C.int32_t(n), C.int32_t(first), C.int32_t(all), C.size_t(stack), copies, C.int32_t(argc), argv, &fault[0], C.size_t(len(fault)))
	if e == nil {
		return nil, errors.New(C.GoString(&fault[0]))
	}
	return e, nil
}

// measureBursts has the CPU times of an engine's ranks count.
func measureBursts(e *cEngine) error {
	if C.measure(runtime.measure, e) != 0 {
		return errors.New("no memory for the CPU times of ranks: use fewer ranks or more hosts")
	}
	return nil
}

// openSites has an engine keep the places of calls.
func openSites(e *cEngine) error {
	if C.open_sites(runtime.openSites, e) != 0 {
		return errors.New("no memory for the places of calls: use fewer ranks or more hosts")
	}
	return nil
}

// openTasks has an engine know a number of tasks, by rank, too, if asked for, and bytes of memory that stand for that of other ranks.
func openTasks(e *cEngine, number int, byRank bool, beside int64) error {
	counts := C.int32_t(0)
	if byRank {
		counts = 1
	}
	if C.open_tasks(runtime.openTasks, e, C.int32_t(number), counts, C.size_t(beside)) != 0 {
		return errors.New("no memory for the tasks of ranks, or for that beside them: use fewer ranks or more hosts")
	}
	return nil
}

// resumeRanks runs n ranks of the list, up to a rank that fails or is interrupted, and returns the number of ranks that have run.
func resumeRanks(e *cEngine, n int) int { return int(C.resume(runtime.resume, e, C.int32_t(n))) }

func releaseStacks(e *cEngine)       { C.on_engine(runtime.release, e) }
func interruptRank(e *cEngine)       { C.on_engine(runtime.interrupt, e) }
func flushLine(e *cEngine, lp int32) { C.on_rank(runtime.flush, e, C.int32_t(lp)) }
func placeCall(e *cEngine, lp int32) { C.on_rank(runtime.place, e, C.int32_t(lp)) }
func commName(e *cEngine, lp, comm int32) string {
	return C.GoString(C.comm_name(runtime.commName, e, C.int32_t(lp), C.int32_t(comm)))
}
func textOf(e *cEngine) string  { return C.GoStringN(e.text, C.int(e.text_length)) }
func stringOf(s *C.char) string { return C.GoString(s) }
func slot[T any](base *T, i int32) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(base), uintptr(i)*unsafe.Sizeof(*base)))
}

// closeEngine reports whether other engines may use the images of an engine: it reports false if threads of its ranks still do.
func closeEngine(e *cEngine) bool { return C.close_engine(runtime.close, e) != 0 }

// lendVariables has the variables of a rank that waits stay where they are, if memory lies among them.
func lendVariables(e *cEngine, lp int32, memory []byte) {
	C.lend(runtime.lend, e, C.int32_t(lp), unsafe.Pointer(unsafe.SliceData(memory)), C.size_t(len(memory)))
}

// combine carries out a reduction operation of C in the call of a rank. It returns the signal that
// has stopped the operation, 0 for none.
func combine(e *cEngine, lp int32, handle, operand uintptr, into, left, right []byte) (signal int) {
	if len(into) == 0 {
		return 0
	}
	return int(C.operate(runtime.operate, e, C.int32_t(lp), C.uintptr_t(handle), C.uintptr_t(operand), unsafe.Pointer(&into[0]), unsafe.Pointer(&left[0]), unsafe.Pointer(&right[0]), C.size_t(len(into))))
}

// combineRow is combine for vectors that lie one behind another. The result takes the place of the last vector.
func combineRow(e *cEngine, lp int32, handle, operand uintptr, vectors []byte, bytes int) (signal int) {
	return int(C.operate_row(runtime.operateRow, e, C.int32_t(lp), C.uintptr_t(handle), C.uintptr_t(operand), unsafe.Pointer(&vectors[0]), C.size_t(bytes), C.size_t(len(vectors)/bytes)))
}

// flushFiles writes out the buffers of files of the C library, which the ranks of all engines share.
func flushFiles() { C.fflush(nil) }
