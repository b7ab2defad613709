package dim_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gigarank/mpivirt"
	"gigarank/mpivirt/replay"
	"gigarank/network"
	"gigarank/sync"
	"gigarank/trace"
	"gigarank/trace/dim"
	"gigarank/vtime"
)

// converted returns a file as a trace, and its length.
func converted(text []byte, way trace.Compression) (*trace.File, int, error) {
	var b bytes.Buffer
	w, s, err := dim.Format.Convert("file.dim", bytes.NewReader(text), func(h trace.Header) (*trace.Writer, error) { return trace.NewWriter(&b, h, way) })
	if err == nil {
		err = w.Close(s)
	}
	if err != nil {
		return nil, 0, err
	}
	f, err := trace.Open("file.grt", bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err == nil {
		err = f.Verify()
	}
	return f, b.Len(), err
}

// simulate replays a trace on a machine.
func simulate(t testing.TB, f *trace.File, machine string, engines int) (*mpivirt.Result, error) {
	t.Helper()
	m, err := network.Parse("test", []byte(machine), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(int64(f.Header.Tasks))
	if err != nil {
		t.Fatal(err)
	}
	s, err := mpivirt.New(mpivirt.Config{
		Target: target, Program: mpivirt.Program{Forms: []mpivirt.Form{replay.New(f, replay.Options{})}}, NoContents: true, Transports: sync.NewInProcess(engines),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.Run()
}

const head = "#DIMEMAS:\"p\":1,0:3(1,1,1),1,0,0\nd:1:14:2:2:0\n"

// Communicators, receives of all kinds, and receives that are not in the order of the sends.
func TestSmallTraces(t *testing.T) {
	machine := "name: small\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"
	for _, c := range []struct {
		why, records string
		want         vtime.Duration
	}{
		{"a message of 1000 bytes", "1:0:0:0.000001\n2:0:0:1:0:1000:5:9:0\n3:1:0:0:-1:1000:5:9:0\n", 3 * vtime.Microsecond},
		{"a send that waits for its receiver, which takes 1 us to tell", "2:0:0:1:0:0:5:9:1\n1:1:0:0.000010\n3:1:0:0:-1:0:5:9:0\n", 11 * vtime.Microsecond},
		{"receives against the order of the sends: the larger message comes second", "2:0:0:1:0:1000:5:7:2\n2:0:0:1:0:3000:5:8:2\n" +
			"3:1:0:0:-1:3000:5:8:1\n3:1:0:0:-1:1000:5:7:1\n3:1:0:0:-1:1000:5:7:2\n1:1:0:0.000010\n3:1:0:0:-1:3000:5:8:3\n", 12 * vtime.Microsecond},
		{"a barrier of two tasks", "1:0:0:0.000005000001\n10:0:0:0:14:0:0:0:0:1\n10:2:0:0:14:0:0:0:0:1\n", 6000001},
	} {
		f, _, err := converted([]byte(head+c.records+"s:0:0\ns:1:0\ns:2:0\n"), trace.Zstd)
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		r, err := simulate(t, f, machine, 2)
		if err != nil || r.VirtualTime != vtime.Time(c.want) {
			t.Errorf("%s: %v, %v; want %v", c.why, r.VirtualTime, err, c.want)
		}
	}
}

// A file with a fault is refused with the line.
func TestFaultsNameTheLine(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "file.dim: the file is empty"},
		{"#DIMEMAS:\"p\":1,0:x(1),1\n", "line 1: the header is not"},
		{"#DIMEMAS:\"p\":1,0:2(1,2),1\n", "line 1: tasks with several threads"},
		{"#DIMEMAS:\"p\":1,0:2(1),1\n", "line 1: 2 tasks, and threads of 1"},
		{head + "1:0:0:1.0\n", "lines s:, are missing behind line 3"},
		{head + "1:3:0:1.0\n", "line 3: task 3: the header has 3"},
		{head + "1:0:1:1.0\n", "line 3: thread 1 of task 0"},
		{head + "1:0:0:-1.0\n", `line 3: "-1.0" is no time`},
		{head + "1:0:0:1.0000000000001\n", "line 3: "},
		{head + "1:0:0:9999999\n", "line 3: "},
		{head + "2:0:0:9:0:8:1:1:0\n", "line 3: partner 9"},
		{head + "2:0:0:1:0:8:1:1:4\n", "line 3: a send of the unknown kind 4"},
		{head + "2:0:0:1:0:8\n", "line 3: "},
		{head + "2:0:0:1:0:8:1:14:0\ns:0:0\n", ""},
		{head + "2:1:0:0:0:8:1:14:0\n", "line 3: task 1 is not in communicator 14"},
		{head + "3:0:0:1:0:8:1:1:2\n", "line 3: task 0 waits for a receive of 8 bytes from task 1 with tag 1 that it has not begun"},
		{head + "10:0:0:11:15:0:0:8:8:1\n", "line 3: there is no communicator 15"},
		{head + "10:0:0:9:14:0:0:8:8:1\n", "line 3: collective 9 has different counts by member"},
		{head + "10:0:0:27:14:0:0:8:8:1\n", "line 3: a nonblocking collective"},
		{head + "7:0:0:1\n", "line 3: records of type 7"},
		{head + "d:1:15:2:0:0\n", "line 3: task 0, of 3, or twice"},
		{head + "s:0:0\n1:0:0:1.0\n", "line 4: a record behind the places"},
	} {
		_, _, err := converted([]byte(c.text), trace.Zstd)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// A trace that does not fit together ends in an error, never in a result.
func TestTracesThatDoNotFit(t *testing.T) {
	machine := "name: small\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"
	for _, c := range []struct {
		why, records, check string
		want                []string
	}{
		{"a receive without its send", "3:1:0:0:-1:1000:5:9:0\n", "member 1 receives 1 message from member 0 with tag 5 that nobody sends on WORLD", []string{"deadlock", "rank 1 waits in Recv", "operation 0 of task 1"}},
		{"a message with another tag", "2:0:0:1:0:1000:6:9:0\n3:1:0:0:-1:1000:5:9:0\n",
			"with tag 5 that nobody sends on WORLD, the last by MPI_Recv in task 1, operation 0, block 0, byte 139 (byte 0 of the block); nearest to it is the message from member 0 to member 1 with tag 6 that is only sent, the last by MPI_Send in task 0, operation 1, block 0, byte 106 (byte 11 of the block)",
			[]string{"deadlock", "rank 1 waits in Recv", "operation 0 of task 1"}},
		{"a receive that is too short", "2:0:0:1:0:1000:5:9:0\n3:1:0:0:-1:999:5:9:0\n", "member 1 receives message 0 from member 0 with tag 5 on WORLD in 999 bytes, MPI_Recv in task 1, operation 0, block 0, byte 139 (byte 0 of the block), and it has 1000, by MPI_Send in task 0, operation 1", []string{"file.grt: task 1, operation 0, block 0, byte ", "MPI_Recv", "MPI_ERR_TRUNCATE"}},
		{"a collective on one side", "10:0:0:0:14:0:0:0:0:1\n", "tasks 0 and 2 call 1 and 0 collectives on a communicator of tasks [0 2]; collective 0, MPI_Barrier in task 0, operation 1, block 0, byte 106 (byte 11 of the block), is missing in task 2", []string{"deadlock", "Barrier"}},
		{"collectives of different kinds", "10:0:0:0:14:0:0:0:0:1\n10:2:0:11:14:0:0:8:8:1\n", "collective 0 is another one, or has another root, length or type: MPI_Barrier in task 0, operation 1, block 0, byte 106 (byte 11 of the block), and MPI_Allreduce in task 2, operation 1", []string{"file.grt: task ", "MPI_ERR_OTHER"}},
		{"a root that is no member", "10:0:0:1:14:7:0:8:8:1\n10:2:0:1:14:7:0:8:8:1\n", "", []string{"file.grt: task 0", "MPI_Bcast", "MPI_ERR_ROOT"}},
	} {
		f, _, err := converted([]byte(head+c.records+"s:0:0\n"), trace.Zstd)
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		faults, n, err := trace.Check(f, 5)
		if err != nil || n != len(faults) || (n > 0) != (c.check != "") || !strings.Contains(strings.Join(faults, "\n"), c.check) {
			t.Errorf("%s: check: %v, %q; want %q", c.why, err, faults, c.check)
		}
		for engines := 1; engines <= 2; engines++ {
			r, err := simulate(t, f, machine, engines)
			for _, want := range c.want {
				if r.Complete || !strings.Contains(fmt.Sprint(err), want) {
					t.Errorf("%s, %d engines: %v, want %q", c.why, engines, err, want)
				}
			}
		}
	}
}
