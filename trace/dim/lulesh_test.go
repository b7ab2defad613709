//go:build dimemas

package dim_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"gigarank/trace"
	"gigarank/trace/dim"
	"gigarank/vtime"
)

var luleshFile = flag.String("lulesh", "", "the `FILE` lulesh-8.dim; see scripts/dimemas")

// lulesh returns the text of a real trace: LULESH on 8 tasks, five iterations, by Extrae and prv2dim.
func lulesh(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile(*luleshFile)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The run times of a real trace. Without latency and with infinite bandwidth it is that of Dimemas 5.5.0 to the nanosecond. With 100 MB/s (of
// 2^20 bytes) they are those of the rule of busses and links, evaluated by a program of sixty lines in which collectives are free: here
// five allreduces take their time.
func TestTimesOfDimemas(t *testing.T) {
	f, _, err := converted(lulesh(t), trace.Zstd)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bandwidth, contention string
		want, within          vtime.Duration
	}{
		{"9000000000GB/s", "", 1_612_594_828 * vtime.Nanosecond, vtime.Nanosecond},
		{"104857600B/s", "", 1_626_223_133 * vtime.Nanosecond, 10 * vtime.Microsecond},
		{"104857600B/s", "in: 1", 1_639_942_133 * vtime.Nanosecond, 10 * vtime.Microsecond},
		{"104857600B/s", "out: 1", 1_650_512_798 * vtime.Nanosecond, 10 * vtime.Microsecond},
		{"104857600B/s", "busses: 1", 1_815_811_680 * vtime.Nanosecond, 10 * vtime.Microsecond},
		{"104857600B/s", "busses: 2", 1_700_466_167 * vtime.Nanosecond, 10 * vtime.Microsecond},
		{"104857600B/s", "busses: 4", 1_648_515_931 * vtime.Nanosecond, 10 * vtime.Microsecond},
		{"104857600B/s", "in: 1, out: 1", 1_652_578_595 * vtime.Nanosecond, 10 * vtime.Microsecond},
	} {
		machine := "name: dimemas\nranks_per_node: 1\nnetwork: {model: flat, latency: 1ps, bandwidth: " + c.bandwidth + "}\n"
		if c.contention != "" {
			machine += "contention: {model: links, " + c.contention + "}\n"
		}
		first := ""
		for engines := 1; engines <= 3; engines++ {
			r, err := simulate(t, f, machine, engines)
			if err != nil {
				t.Errorf("%s, %s: %v", c.bandwidth, c.contention, err)
				continue
			}
			if d := r.VirtualTime.Sub(vtime.Time(c.want)); d < -c.within || d > c.within {
				t.Errorf("%s, %s: %v, want %v within %v", c.bandwidth, c.contention, r.VirtualTime, c.want, c.within)
			}
			if first == "" {
				first = r.Fingerprint
			}
			if r.Fingerprint != first {
				t.Errorf("%s, %s: fingerprint %s on %d engines, %s on one", c.bandwidth, c.contention, r.Fingerprint, engines, first)
			}
		}
	}
}

// A machine file that is imported from a configuration without latency gives the same times, by limits of busses and links as the configuration has them.
func TestTimesOnImportedMachinesOfDimemas(t *testing.T) {
	f, _, err := converted(lulesh(t), trace.Zstd)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bandwidth       string
		busses, in, out int
		want, within    vtime.Duration
	}{
		{"0.0", 0, 0, 0, 1_612_594_828 * vtime.Nanosecond, vtime.Nanosecond},
		{"100.0", 0, 0, 0, 1_626_223_133 * vtime.Nanosecond, 10 * vtime.Microsecond},
		{"100.0", 0, 1, 8, 1_639_942_133 * vtime.Nanosecond, 10 * vtime.Microsecond},
		{"100.0", 0, 8, 1, 1_650_512_798 * vtime.Nanosecond, 10 * vtime.Microsecond},
		{"100.0", 1, 0, 0, 1_815_811_680 * vtime.Nanosecond, 10 * vtime.Microsecond},
		{"100.0", 2, 0, 0, 1_700_466_167 * vtime.Nanosecond, 10 * vtime.Microsecond},
		{"100.0", 4, 0, 0, 1_648_515_931 * vtime.Nanosecond, 10 * vtime.Microsecond},
		{"100.0", 0, 1, 1, 1_652_578_595 * vtime.Nanosecond, 10 * vtime.Microsecond},
	} {
		text := fmt.Sprintf("#DIMEMAS_CONFIGURATION\n\"wide area network information\" {\"\", 1, 0, 4, 0.0, 0.0, 1};;\n\"environment information\" {\"\", 0, \"\", 8, %s, %d, 3};;\n"+
			"\"multi node information\" {0, 8, \"\", 1, 1.0, 0.0, 0.0, 0, 1, 1, 0.0, %d, %d, 0.0};;\n\"predefined mapping information\" {\"1 TASKS_PER_NODE\"};;\n", c.bandwidth, c.busses, c.in, c.out)
		yaml, _, err := dim.Machine("m.cfg", "m", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r, err := simulate(t, f, string(yaml), 1)
		if err != nil {
			t.Fatal(err)
		}
		if d := r.VirtualTime.Sub(vtime.Time(c.want)); d < -c.within || d > c.within {
			t.Errorf("%v: %v, want %v within %v", c, r.VirtualTime, c.want, c.within)
		}
	}
}

// fixedBytes returns the bytes of an operation as a record of fields of fixed length, without those that it has no use for: 4 for the function, each rank,
// tag, communicator and request, 8 for each time and size.
func fixedBytes(o *trace.Operation) int {
	const number, long = 4, 8
	switch o.Function.Class() {
	case trace.ClassBurst:
		return number + long
	case trace.ClassSend, trace.ClassReceive:
		n := number + 3*number + long // partner, tag, communicator
		if o.Function == trace.Isend || o.Function == trace.Irecv {
			n += number
		}
		return n
	case trace.ClassWait:
		return number + number + number*len(o.Requests)
	case trace.ClassCollective:
		return number + 2*number + long // communicator, root
	}
	return number
}

// Calls, bytes and load balance of the trace are those that Dimemas reports, and the file is at least 4 times smaller than the text without its event
// records, 8 times by compression. It takes at most 40 % of records of fields of 4 and 8 bytes (PSINS), without compression.
func TestContentsOfLulesh(t *testing.T) {
	text := lulesh(t)
	f, packed, err := converted(text, trace.Zstd)
	if err != nil {
		t.Fatal(err)
	}
	_, plain, err := converted(text, trace.None)
	if err != nil {
		t.Fatal(err)
	}
	records := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "20:") && !strings.HasPrefix(line, "0:") {
			records += len(line)
		}
	}
	t.Logf("%d bytes of text, %d plain, %d compressed", records, plain, packed)
	if 4*plain > records || 8*packed > records {
		t.Errorf("%d bytes plain and %d compressed, of %d bytes of text", plain, packed, records)
	}
	computation := []float64{1.605149415, 1.559852265, 1.477101348, 1.476768617, 1.469862137, 1.392694444, 1.392842226, 1.420840644}
	sends := []int{43, 48, 53, 58, 63, 68, 73, 78}
	bytesSent := []int64{2794632, 3840072, 3855912, 4901352, 3871992, 4917432, 4933272, 5978712}
	blocks, err := trace.NewBlocks(f, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	most, sum := 0.0, 0.0
	fixed := 0
	for task := range 8 {
		c, err := f.Task(task)
		if err != nil {
			t.Fatal(err)
		}
		burst, n, size := int64(0), 0, int64(0)
		for {
			var o trace.Operation
			more, err := c.Next(blocks, &o)
			if err != nil {
				t.Fatal(err)
			}
			if !more {
				break
			}
			fixed += fixedBytes(&o)
			switch o.Function.Class() {
			case trace.ClassBurst:
				burst += o.CPU
			case trace.ClassSend:
				n, size = n+1, size+o.Bytes
			}
		}
		if want := int64(math.Round(computation[task]*1e9)) * 1000; burst != want || n != sends[task] || size != bytesSent[task] {
			t.Errorf("task %d: %d ps, %d sends, %d bytes; want %d, %d, %d", task, burst, n, size, want, sends[task], bytesSent[task])
		}
		most, sum = max(most, float64(burst)), sum+float64(burst)
	}
	if balance := sum / 8 / most; math.Abs(balance-0.918537) > 1e-6 {
		t.Errorf("load balance %.6f, want 0.918537", balance)
	}
	if t.Logf("%d bytes in fields of fixed length", fixed); 10*plain > 4*fixed {
		t.Errorf("%d bytes plain, %.1f %% of %d bytes in fields of fixed length", plain, 100*float64(plain)/float64(fixed), fixed)
	}
}
