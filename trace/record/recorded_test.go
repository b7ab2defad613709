//go:build mpi && cgo && linux && (amd64 || arm64)

package record_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	stdsync "sync"
	"testing"

	"gigarank/mpivirt"
	"gigarank/mpivirt/native"
	"gigarank/mpivirt/native/toolchain"
	simulated "gigarank/mpivirt/record"
	"gigarank/mpivirt/replay"
	"gigarank/network"
	"gigarank/sync"
	"gigarank/trace"
	"gigarank/trace/record"
)

// library is an MPI library of this machine, by its commands.
type library struct{ mpicc, mpirun, mpif90 string }

var openMPI = library{"mpicc", "mpirun", "mpif90"}

// libraries are Open MPI and, if Debian's package is there, MPICH.
func libraries(t *testing.T) []library {
	t.Helper()
	if _, err := exec.LookPath(openMPI.mpicc); err != nil {
		t.Fatalf("the tests of the recorder need Open MPI: %v", err)
	}
	all := []library{openMPI}
	if _, err := exec.LookPath("mpicc.mpich"); err == nil {
		all = append(all, library{"mpicc.mpich", "mpirun.mpich", "mpif90.mpich"})
	} else {
		t.Log("without MPICH: scripts/test installs it")
	}
	return all
}

// opened are the recorders by compiler.
var opened stdsync.Map

func recorder(t *testing.T, l library) *record.Library {
	t.Helper()
	once, _ := opened.LoadOrStore(l.mpicc, stdsync.OnceValues(func() (*record.Library, error) { return record.Open(l.mpicc, "test") }))
	r, err := once.(func() (*record.Library, error))()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// output runs a command and returns what it prints.
func output(t *testing.T, environment []string, words ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_mpi_yield_when_idle=1",
		"OMPI_MCA_hwloc_base_binding_policy=none", "OMPI_MCA_btl_vader_single_copy_mechanism=none")
	cmd.Env = append(cmd.Env, environment...)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// compiler returns the compiler of a program.
func (l library) compiler(source string) string {
	if filepath.Ext(source) == ".F90" {
		return l.mpif90
	}
	return l.mpicc
}

// build compiles a program for a real MPI.
func build(t *testing.T, compiler, source string, flags ...string) (string, error) {
	t.Helper()
	program := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(source), filepath.Ext(source)))
	if text, err := output(t, nil, append([]string{compiler, "-O1", "-o", program, source, "-lm"}, flags...)...); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", compiler, err, text)
	}
	return program, nil
}

// run records a run of a program, which may fail, and returns the directory of its files and what it prints.
func run(t *testing.T, l library, ranks int, settings string, words ...string) (dir, text string, err error) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "recorded")
	all := append([]string{l.mpirun, "-n", strconv.Itoa(ranks), "env", "LD_PRELOAD=" + recorder(t, l).Path, "GIGATRACE=dir=" + dir + settings}, words...)
	text, err = output(t, nil, all...)
	return dir, text, err
}

// merge merges the files of a directory.
func merge(t *testing.T, dir string) (*trace.File, *record.Merged) {
	t.Helper()
	files, err := record.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	m, err := record.Merge(files, &b, trace.Zstd)
	if err != nil {
		t.Fatal(err)
	}
	return openBytes(t, b.Bytes()), m
}

func openBytes(t *testing.T, b []byte) *trace.File {
	t.Helper()
	f, err := trace.Open("file.grt", bytes.NewReader(b), int64(len(b)))
	if err == nil {
		err = f.Verify()
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// record records a run of a program that succeeds.
func recordRun(t *testing.T, l library, ranks int, words ...string) (*trace.File, *record.Merged) {
	t.Helper()
	dir, text, err := run(t, l, ranks, "", words...)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return merge(t, dir)
}

const machine = "name: flat\nnetwork: {model: flat, latency: 1us, bandwidth: 1GB/s}\n"

func target(t *testing.T, ranks int) *network.Target {
	t.Helper()
	m, err := network.Parse("test", []byte(machine), nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.Target(int64(ranks))
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// simulatedRun records a simulated run of a program, which uses a module of Fortran.
func simulatedRun(t *testing.T, ranks int, source, module string) *trace.File {
	t.Helper()
	language := toolchain.C
	if module != "" {
		language = toolchain.Fortran
	}
	program := filepath.Join(t.TempDir(), "simulated.out")
	var printed bytes.Buffer
	code, err := toolchain.Wrap(language, append([]string{"-O1", "-DIN_ORDER", source, "-o", program, "-lm"}, flagsOf(t, module)...), nil, &printed, &printed)
	if err != nil || code != 0 {
		t.Fatalf("%v\n%s", err, &printed)
	}
	form, err := native.Open(program, nil, native.Options{Stack: 256 << 10})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w, err := trace.NewWriter(&file, trace.Header{Origin: "simulated", Tasks: ranks}, trace.Zstd)
	if err != nil {
		t.Fatal(err)
	}
	recording := simulated.New(w)
	simulate(t, mpivirt.Config{Target: target(t, ranks), Program: mpivirt.Program{Forms: []mpivirt.Form{form}}, Transports: sync.NewInProcess(1), Recorder: recording.Recorder})
	if err := recording.Close(""); err != nil {
		t.Fatal(err)
	}
	return openBytes(t, file.Bytes())
}

func simulate(t *testing.T, c mpivirt.Config) *mpivirt.Result {
	t.Helper()
	s, err := mpivirt.New(c)
	var r *mpivirt.Result
	if err == nil {
		r, err = s.Run()
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// replayed replays a trace.
func replayed(t *testing.T, f *trace.File) *mpivirt.Result {
	t.Helper()
	ranks := f.Header.Tasks
	return simulate(t, mpivirt.Config{Target: target(t, ranks), Program: mpivirt.Program{Forms: []mpivirt.Form{replay.New(f, replay.Options{})}}, Transports: sync.NewInProcess(1), NoContents: true})
}

// checked holds that the tasks of a trace fit together.
func checked(t *testing.T, f *trace.File) {
	t.Helper()
	if faults, _, err := trace.Check(f, 5); err != nil || faults != nil {
		t.Errorf("check: %v, %s", err, strings.Join(faults, "\n"))
	}
}

// course returns the operations of a task without what depends on time: bursts, durations, waits and tests, of which there are as many as requests that
// were complete at the same time. Calls that failed are left out: a real MPI does not say whether it has refused the arguments.
func course(t *testing.T, f *trace.File, task int) (all []string) {
	t.Helper()
	b, err := trace.NewBlocks(f, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.Task(task)
	if err != nil {
		t.Fatal(err)
	}
	var o trace.Operation
	for {
		more, err := c.Next(b, &o)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return all
		}
		switch class := o.Function.Class(); {
		case class == trace.ClassBurst || class == trace.ClassWait || class == trace.ClassTest || class == trace.ClassCancel || o.Form.Has(trace.Missed) || o.Form.Has(trace.Failed) && class > trace.ClassEnd:
		default:
			all = append(all, describe(&o))
		}
	}
}

// describe returns the fields of an operation that its class has and that do not depend on time.
func describe(o *trace.Operation) string {
	text := o.Function.String()
	add := func(names ...string) {
		for _, name := range names {
			v := reflect.ValueOf(o).Elem().FieldByName(name)
			if v.Kind() == reflect.Slice && v.Len() == 0 || v.Kind() != reflect.Slice && v.IsZero() {
				continue
			}
			text += fmt.Sprintf(" %s=%v", name, v.Interface())
		}
	}
	o.Message = max(o.Message, 0) // that of a probe from MPI_PROC_NULL is no number
	o.Form &^= trace.Persistent   // under gigarank the runtime in C starts the messages of a program in C
	if o.Function.Class() > trace.ClassEnd {
		add("Form")
	}
	switch o.Function.Class() {
	case trace.ClassMark:
		text += strings.TrimRight(" "+string(o.Name), " ")
	case trace.ClassSend:
		add("Comm", "Peer", "Tag", "Bytes")
	case trace.ClassReceive:
		add("Comm", "Source", "SourceTag", "Room")
	case trace.ClassSendReceive:
		add("Comm", "Peer", "Tag", "Bytes", "Source", "SourceTag", "Room")
	case trace.ClassProbe:
		add("Comm", "Source", "SourceTag", "GotBytes", "Message")
	case trace.ClassCollective:
		add("Comm", "Root", "Vector", "Element", "Datatype", "Traits", "Counts", "InCounts", "OutCounts", "Given", "Taken")
	case trace.ClassNeighborhood:
		add("Comm", "SendPeers", "SendTags", "SendBytes", "ReceivePeers", "ReceiveTags", "ReceiveRooms")
	case trace.ClassFree:
		add("Comm")
	case trace.ClassCommunicator, trace.ClassDuplicate, trace.ClassGiven:
		add("Comm", "Made", "Group")
	case trace.ClassMeeting:
		add("Comm", "Made", "Root", "Group")
	case trace.ClassMerge:
		add("Comm", "Made", "Color")
	}
	return text
}

// different are programs whose course under gigarank is another one, and why.
var different = map[string]string{
	"attributes":            "a duplicate that a callback refuses has been made under gigarank",
	"inheritance":           "MPI_Comm_idup_with_info is of MPI 4, and MPI_Dist_graph_create sends messages under gigarank",
	"fortran_inheritance":   "MPI_Dist_graph_create sends messages under gigarank",
	"fortran_communicators": "a duplicate that a callback refuses has been made under gigarank",
	"large":                 "Open MPI 4.1 has no large counts",
	"requests":              "MPI_Cancel has its effect or not",
	"fortran_requests":      "MPI_Cancel has its effect or not",
	"matmul":                "the course depends on which worker is free first",
	"lists":                 "the course depends on which request is complete first",
	"pairs":                 "Open MPI 4.1 has no MPI_Isendrecv",
	"partitioned":           "Open MPI 4.1 has no partitioned messages",
	"persistent":            "Open MPI 4.1 has no persistent collectives",
	"topologies":            "MPI_Dist_graph_create sends messages under gigarank",
	"fortran_topologies":    "MPI_Dist_graph_create sends messages under gigarank",
}

// usual are the programs of usual tests; with GIGARANK_PROGRAMS=all it is all.
var usual = []string{"messages", "collectives", "communicators", "intercommunicators", "neighbors", "topologies", "ring_nonblocking", "fortran_messages"}

// Programs that are recorded under a real MPI take the course that they take under gigarank: the same operations of each task
// with the same communicators, partners, tags, bytes and counts. The traces fit together and replay.
func TestRecordedAsSimulated(t *testing.T) {
	var sources []string
	for _, pattern := range []string{"../../mpivirt/native/testdata/conformance/*.c", "../../examples/c/*.c", "../../mpivirt/native/testdata/conformance/fortran_*.F90"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) < 5 {
			t.Fatal(found, err)
		}
		sources = append(sources, found...)
	}
	all := os.Getenv("GIGARANK_PROGRAMS") == "all"
	libraries := libraries(t)
	worked := make([]int, len(libraries))
	for _, source := range sources {
		name := strings.TrimSuffix(filepath.Base(source), filepath.Ext(source))
		if !all && !slices.Contains(usual, name) {
			continue
		}
		modules := []string{""}
		if filepath.Ext(source) == ".F90" {
			modules = []string{"mpi", "mpi_f08"}
		}
		for _, module := range modules {
			t.Run(strings.TrimSuffix(name+":"+module, ":"), func(t *testing.T) {
				const ranks = 4
				var want *trace.File
				if different[name] == "" {
					want = simulatedRun(t, ranks, source, module)
				}
				for i, l := range libraries {
					program, err := build(t, l.compiler(source), source, flagsOf(t, module)...)
					if err == nil && l != openMPI {
						_, err = output(t, nil, l.mpirun, "-n", strconv.Itoa(ranks), program)
					}
					if err != nil && l != openMPI {
						t.Logf("the program is not for %s: %.100v", l.mpicc, err)
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					f, m := recordRun(t, l, ranks, program)
					if worked[i]++; m.Count > 0 || f.Header.Tasks != ranks {
						t.Errorf("%s: %d tasks; %q", l.mpicc, f.Header.Tasks, m.Problems)
					}
					if want != nil {
						compare(t, f, want)
					}
					if m.Summary.Unrecorded == nil {
						checked(t, f)
						replayed(t, f)
					}
				}
			})
		}
	}
	for i, l := range libraries {
		if least := map[bool]int{true: 20, false: 3}[all]; worked[i] < least {
			t.Errorf("%s: %d programs were recorded, want at least %d", l.mpicc, worked[i], least)
		}
	}
}

// Intercommunicators are recorded under both libraries, by tasks that make them while MPI_Pcontrol has the recording off, too. The order in which both groups
// of a merge come, which a library chooses if both give the same, is that of the record.
func TestIntercommunicatorsAreRecorded(t *testing.T) {
	for _, l := range libraries(t) {
		program, err := build(t, l.mpicc, "testdata/tasks.c", "-pthread")
		if err != nil {
			t.Fatal(err)
		}
		f, m := recordRun(t, l, 5, program, "groups")
		if m.Count > 0 || m.Summary.Unrecorded != nil {
			t.Errorf("%s: %q, %v", l.mpicc, m.Problems, m.Summary.Unrecorded)
		}
		checked(t, f)
		replayed(t, f)
		merged := 0
		for task := range f.Header.Tasks {
			for _, o := range course(t, f, task) {
				if strings.HasPrefix(o, "local merge") {
					merged++
				}
			}
		}
		if got := f.Summary.Functions["MPI_Intercomm_create"]; got != 3*5 || merged != 2*5 {
			t.Errorf("%s: %d calls of MPI_Intercomm_create, %d merges; want 15 and 10", l.mpicc, got, merged)
		}
	}
}

// flagsOf returns the flags by which a program of the suite in Fortran uses a module. Its own modules go to a folder of the test.
func flagsOf(t *testing.T, module string) []string {
	if module == "" {
		return nil
	}
	return []string{"-cpp", "-D" + strings.ToUpper(module), "-ffree-line-length-none", "-fallow-argument-mismatch", "-w", "-J" + t.TempDir()}
}

// compare compares the courses of the tasks of two traces.
func compare(t *testing.T, got, want *trace.File) {
	t.Helper()
	for task := range want.Header.Tasks {
		a, b := course(t, got, task), course(t, want, task)
		for i := range max(len(a), len(b)) {
			x, y := "nothing", "nothing"
			if i < len(a) {
				x = a[i]
			}
			if i < len(b) {
				y = b[i]
			}
			if x != y {
				t.Errorf("task %d, operation %d of %d and %d: recorded\n%s\nsimulated\n%s", task, i, len(a), len(b), x, y)
				for j := max(0, i-3); j < i+4; j++ {
					if j < len(a) && j < len(b) {
						t.Logf("%d: %s | %s", j, a[j], b[j])
					}
				}
				return
			}
		}
	}
}
