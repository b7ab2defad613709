package host

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	stdsync "sync"

	"golang.org/x/sys/unix"

	"gigarank/cmd/gigarank/internal/terminal"
)

// Headroom is the memory that a process can still take, and the bound that limits it.
type Headroom struct {
	Bytes int64
	Bound string
}

// Unbounded is the headroom where no bound is known.
var Unbounded = Headroom{math.MaxInt64, "no known bound"}

// AvailableMemory returns the memory that this process can still take: the least of its
// bounds.
func AvailableMemory(root fs.FS) Headroom {
	least := Unbounded
	for _, r := range MemoryBounds(root) {
		if r.Bytes < least.Bytes {
			least = r
		}
	}
	return least
}

// MemoryBounds returns the headroom of this process under each bound: the system's free
// memory, the control groups (version 1 and 2), and the limits of a shell's ulimit.
// root is the root of the file system.
func MemoryBounds(root fs.FS) []Headroom {
	var bounds []Headroom
	if free, ok := field(root, "proc/meminfo", "MemAvailable:"); ok {
		bounds = append(bounds, Headroom{free << 10, "MemAvailable of /proc/meminfo"})
	}
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err == nil {
		for line := range strings.Lines(string(groups)) {
			bounds = append(bounds, groupBounds(root, strings.TrimSpace(line))...)
		}
	}
	for _, l := range []struct {
		resource, column int
		name             string
	}{{unix.RLIMIT_AS, addressSpace, "ulimit -v"}, {unix.RLIMIT_DATA, dataMemory, "ulimit -d"}} {
		var limit unix.Rlimit
		if unix.Getrlimit(l.resource, &limit) == nil && limit.Cur < math.MaxInt64 {
			used, _ := statm(root, "self", l.column)
			bounds = append(bounds, Headroom{max(int64(limit.Cur)-used, 0), l.name})
		}
	}
	return bounds
}

// groupBounds returns the headroom under the limits of the control group that a line of
// /proc/self/cgroup names, "ID:CONTROLLERS:PATH", and of those above it.
func groupBounds(root fs.FS, line string) (bounds []Headroom) {
	fields := strings.SplitN(line, ":", 3)
	if len(fields) != 3 {
		return nil
	}
	// Above memory.high the kernel slows a group down until hardly anything runs.
	mount, limits, usage, cache := "sys/fs/cgroup", []string{"memory.max", "memory.high"}, "memory.current", "inactive_file"
	switch fields[1] {
	case "": // version 2
	case "memory":
		mount, limits, usage, cache = "sys/fs/cgroup/memory", []string{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"
	default:
		return nil
	}
	for group := path.Clean("/" + fields[2]); ; group = path.Dir(group) {
		dir := path.Join(mount, group)
		used, _ := number(root, path.Join(dir, usage))
		// The kernel gives back unused file cache on demand.
		stat := path.Join(dir, "memory.stat")
		reclaimable, _ := field(root, stat, cache)
		add := func(bytes int64, ok bool, source string) {
			if ok {
				bounds = append(bounds, Headroom{max(bytes-used+reclaimable, 0), "control group limit /" + source})
			}
		}
		for _, limit := range limits {
			bytes, ok := number(root, path.Join(dir, limit))
			add(bytes, ok, path.Join(dir, limit))
		}
		// In a container the groups above are out of sight. Version 1 tells their limit.
		const above = "hierarchical_memory_limit"
		bytes, ok := field(root, stat, above)
		add(bytes, ok && bytes < noLimit, stat+", "+above)
		if group == "/" {
			return bounds
		}
	}
}

// number reads a file that holds one number. It reports false for "max" and for
// numbers so large that they stand for no limit.
func number(root fs.FS, name string) (int64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil && n < noLimit
}

// noLimit and larger numbers stand for no limit.
const noLimit = 1 << 60

// field reads the number behind a key from a file of lines "KEY NUMBER ...".
func field(root fs.FS, name, key string) (int64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) >= 2 && fields[0] == key {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// The columns of /proc/PID/statm.
const (
	addressSpace = 0
	resident     = 1
	dataMemory   = 5 // private and writable, with stacks
)

// statm reads a column of /proc/PID/statm, in bytes.
func statm(root fs.FS, pid string, column int) (int64, bool) {
	text, err := fs.ReadFile(root, path.Join("proc", pid, "statm"))
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text))
	if column >= len(fields) {
		return 0, false
	}
	pages, err := strconv.ParseInt(fields[column], 10, 64)
	return pages * int64(unix.Getpagesize()), err == nil
}

// peakResident returns the most memory that this process has had resident, in bytes. It
// reads the kernel's high-water mark, which starts with the program. That of getrusage
// is inherited from the parent process.
func peakResident() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err == nil {
		for line := range strings.Lines(string(status)) {
			var kib int64
			if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
				return kib << 10
			}
		}
	}
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" { // in bytes, elsewhere in KiB
		return usage.Maxrss
	}
	return usage.Maxrss << 10
}

// Memory of a host process before it has ranks, in bytes: the program and its stacks;
// among several, the buffers of MPI too.
const (
	ProcessMemory    = 20 << 20
	MPIProcessMemory = 42 << 20
)

// processBytes returns the memory of each host process before it has ranks.
func processBytes(processes int) int64 {
	if processes > 1 {
		return MPIProcessMemory
	}
	return ProcessMemory
}

// NeededMemory estimates the memory of one host process in bytes, at most 2^60. shared
// is the memory for all its ranks together.
func NeededMemory(ranks int64, bytesPerRank, shared float64, processes int) int64 {
	need := math.Ceil(float64(ranks)/float64(processes))*bytesPerRank + shared + float64(processBytes(processes))
	return int64(min(need, 1<<60))
}

// Usable is the share of the available memory that a run may need. Page tables and
// garbage not yet collected take the rest.
const Usable = 0.92

// MemoryError says that the machine lacks the memory that a run needs.
type MemoryError struct {
	Need      int64
	Available Headroom
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("the run needs about %s of memory on this machine and %s are available (%s): "+
		"use fewer ranks, a smaller --payload, --contents none where sizes suffice, --lp event if the program has it, or more hosts; GOMEMLIMIT=SIZE overrides the available memory",
		terminal.Bytes(e.Need), terminal.Bytes(e.Available.Bytes), e.Available.Bound)
}

// CheckMemory returns a [*MemoryError] if the machine lacks the memory that a run needs. A
// limit that the user has set by GOMEMLIMIT, for each process, replaces the available
// memory.
func CheckMemory(need int64, available Headroom) error {
	if float64(need) <= Usable*float64(available.Bytes) {
		return nil
	}
	return &MemoryError{need, available}
}

// userLimit returns the limit that the user has set by GOMEMLIMIT for each process,
// times the processes on this machine. The Go runtime has read it, and refuses to start
// with a malformed one.
func userLimit(getenv func(string) string, localHosts int) (Headroom, bool) {
	if text := getenv("GOMEMLIMIT"); text == "" || text == "off" {
		return Headroom{}, false
	}
	limit := debug.SetMemoryLimit(-1)
	if limit > math.MaxInt64/int64(localHosts) {
		return Unbounded, true
	}
	return Headroom{limit * int64(localHosts), "GOMEMLIMIT"}, true
}

// Memory returns the memory that the host processes of this machine can still take.
func Memory(c *terminal.Console, localHosts int) Headroom {
	if limit, set := userLimit(c.Getenv, localHosts); set {
		return limit
	}
	return AvailableMemory(c.Root)
}

// TuneCollector holds the garbage collector back unless the user has set GOGC or
// GOMEMLIMIT. Unless the program asks for a collection, it does not collect until the
// process has taken twice its expected memory, and from then on as usual. need and share
// are the bytes that this process is expected to take and may take. restore puts the
// collector back to its usual pace.
//
// A collection walks every stack, some 1.6 us each, and ranks make little garbage. With
// 10^6 goroutine ranks on two cores the usual pace of the collector doubles the wall
// time of the set-up. It makes the peak of the memory less than 2% lower.
func TuneCollector(getenv func(string) string, need, share int64) (restore func()) {
	if getenv("GOGC") != "" || getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	limit := debug.SetMemoryLimit(min(max(2*need, 4*ProcessMemory), share))
	percent := debug.SetGCPercent(-1)
	var once stdsync.Once
	before := unforced()
	var collected func(int)
	// The sentinel dies in the next collection.
	watch := func() { runtime.AddCleanup(new([16]byte), collected, percent) }
	collected = func(percent int) {
		if unforced() == before {
			watch() // the program has asked for it
			return
		}
		once.Do(func() {
			debug.SetMemoryLimit(share)
			debug.SetGCPercent(percent)
		})
	}
	watch()
	return func() {
		once.Do(func() { debug.SetGCPercent(percent) })
		debug.SetMemoryLimit(limit)
	}
}

// unforced returns the number of collections so far that the program has not asked for.
func unforced() uint64 {
	sample := []metrics.Sample{{Name: "/gc/cycles/automatic:gc-cycles"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// ResetPeak restarts the high-water mark of peakResident, where the kernel can.
func ResetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// ResidentMemory returns the memory in bytes that a process has resident, 0 where the system does not tell.
func ResidentMemory(root fs.FS, pid string) int64 {
	bytes, _ := statm(root, pid, resident)
	return bytes
}
