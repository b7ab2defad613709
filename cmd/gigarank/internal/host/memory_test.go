package host

import (
	"errors"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

const mebibyte = 1 << 20

func files(pairs ...string) fstest.MapFS {
	root := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		root[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return root
}

func TestAvailableMemory(t *testing.T) {
	const meminfo = "MemTotal: 9000000 kB\nMemFree: 5 kB\nMemAvailable: 1048576 kB\n"
	for _, c := range []struct {
		why   string
		root  fstest.MapFS
		bytes int64
		bound string
	}{
		{"no /proc", files(), math.MaxInt64, "no known bound"},
		{"no control group", files("proc/meminfo", meminfo), 1024 * mebibyte, "MemAvailable"},
		{"version 2, with cache that can be given back", files(
			"proc/meminfo", meminfo, "proc/self/cgroup", "0::/job/step\n",
			"sys/fs/cgroup/job/step/memory.max", "536870912\n",
			"sys/fs/cgroup/job/step/memory.current", "104857600\n",
			"sys/fs/cgroup/job/step/memory.stat", "anon 5\ninactive_file 52428800\n"),
			(512 - 100 + 50) * mebibyte, "/sys/fs/cgroup/job/step/memory.max"},
		{"version 2, a limit further up", files(
			"proc/meminfo", meminfo, "proc/self/cgroup", "0::/job/step\n",
			"sys/fs/cgroup/job/step/memory.max", "max\n",
			"sys/fs/cgroup/job/memory.max", "209715200\n",
			"sys/fs/cgroup/job/memory.current", "0\n"),
			200 * mebibyte, "/sys/fs/cgroup/job/memory.max"},
		{"version 2, slowed down above a bound", files(
			"proc/meminfo", meminfo, "proc/self/cgroup", "0::/job\n",
			"sys/fs/cgroup/job/memory.max", "536870912\n",
			"sys/fs/cgroup/job/memory.high", "314572800\n",
			"sys/fs/cgroup/job/memory.current", "104857600\n"),
			200 * mebibyte, "/sys/fs/cgroup/job/memory.high"},
		{"version 1, in a container whose group above is limited", files(
			"proc/meminfo", meminfo, "proc/self/cgroup", "4:memory:/docker/5eed\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes", "104857600\n",
			"sys/fs/cgroup/memory/memory.stat", "hierarchical_memory_limit 314572800\ntotal_inactive_file 1048576\n"),
			201 * mebibyte, "hierarchical_memory_limit"},
		{"version 1, among other controllers", files(
			"proc/meminfo", meminfo, "proc/self/cgroup", "8:pids:/\n4:memory:/job\n0::/\n",
			"sys/fs/cgroup/memory/job/memory.limit_in_bytes", "314572800\n",
			"sys/fs/cgroup/memory/job/memory.usage_in_bytes", "104857600\n"),
			200 * mebibyte, "memory.limit_in_bytes"},
		{"version 1, no limit", files(
			"proc/meminfo", meminfo, "proc/self/cgroup", "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
			1024 * mebibyte, "MemAvailable"},
		{"more used than allowed", files(
			"proc/self/cgroup", "0::/\n",
			"sys/fs/cgroup/memory.max", "100\n", "sys/fs/cgroup/memory.current", "200\n"),
			0, "memory.max"},
	} {
		got := AvailableMemory(c.root)
		if got.Bytes != c.bytes || !strings.Contains(got.Bound, c.bound) {
			t.Errorf("%s: %d bytes by %q, want %d by %q", c.why, got.Bytes, got.Bound, c.bytes, c.bound)
		}
	}
}

func TestNeededMemory(t *testing.T) {
	for _, c := range []struct {
		ranks int64
		each  float64
		all   float64
		hosts int
		want  int64
	}{
		{1 << 20, 24, 0, 1, 24<<20 + ProcessMemory},
		{1 << 20, 24, 0, 4, 6<<20 + MPIProcessMemory},
		{1 << 20, 24, 5 << 20, 4, 11<<20 + MPIProcessMemory},
		{math.MaxInt32, math.MaxInt64, 0, 1, 1 << 60},
		{1 << 20, 12.5, 0, 1, 12<<20 + 1<<19 + ProcessMemory},
	} {
		if got := NeededMemory(c.ranks, c.each, c.all, c.hosts); got != c.want {
			t.Errorf("%d ranks of %v bytes on %d hosts need %d bytes, want %d", c.ranks, c.each, c.hosts, got, c.want)
		}
	}
}

func TestCheckMemoryNamesBothFigures(t *testing.T) {
	if err := CheckMemory(92, Headroom{100, "x"}); err != nil {
		t.Errorf("what just fits is refused: %v", err)
	}
	err := CheckMemory(3<<30, Headroom{1 << 30, "a limit"})
	var lack *MemoryError
	if !errors.As(err, &lack) || lack.Need != 3<<30 {
		t.Fatalf("3 GiB in 1 GiB: %v", err)
	}
	for _, want := range []string{"3.00 GiB", "1.00 GiB", "a limit", "GOMEMLIMIT"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

// gcPercent reads the pace of the collector; off is a very large number.
func gcPercent() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

var sink []byte

// The collector is off until it is first needed, and then as before.
func TestTuneCollector(t *testing.T) {
	usual := debug.SetGCPercent(100)
	limit := debug.SetMemoryLimit(-1)
	defer func() {
		debug.SetGCPercent(usual)
		debug.SetMemoryLimit(limit)
	}()
	set := func(name string) string { return map[string]string{"GOGC": "50"}[name] }
	if TuneCollector(set, 1<<30, 1<<40); gcPercent() != 100 {
		t.Errorf("with GOGC set by the user the pace is %d, want it untouched", gcPercent())
	}
	TuneCollector(func(string) string { return "" }, 1<<40, 1<<50)
	if gcPercent() <= 100 || debug.SetMemoryLimit(-1) != 2<<40 {
		t.Errorf("pace %d, limit %d, want no collection below twice what is needed", gcPercent(), debug.SetMemoryLimit(-1))
	}
	runtime.GC() // asked for: the cleanups that follow have no effect
	for range 2 {
		ran := make(chan bool)
		runtime.AddCleanup(new([16]byte), func(int) { close(ran) }, 0)
		runtime.GC()
		<-ran
	}
	if gcPercent() == 100 || debug.SetMemoryLimit(-1) != 2<<40 {
		t.Errorf("after a collection that was asked for the pace is %d, limit %d, want no change", gcPercent(), debug.SetMemoryLimit(-1))
	}
	debug.SetMemoryLimit(1)
	for taken := 0; taken < 64<<20; taken += 1 << 20 { // the limit makes the runtime collect
		sink = make([]byte, 1<<20)
	}
	for deadline := time.Now().Add(time.Minute); gcPercent() != 100; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("after a collection the pace is still %d", gcPercent())
		}
	}
	if got := debug.SetMemoryLimit(-1); got != 1<<50 {
		t.Errorf("after a collection the limit is %d, want the share", got)
	}
}
