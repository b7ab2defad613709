package profile

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func sample(t *testing.T, name string) *Profile {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Read(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The same run in three formats: tasks of 0.5 and 0.75 s in MPI, a second of it in Waitall and 0.25 s in Allreduce.
func TestFormats(t *testing.T) {
	for name, tasks := range map[string][]float64{"small.mpiP": {0.5, 0.75}, "small.ipm.txt": nil, "small.ipm.xml": {0.5, 0.75}} {
		p := sample(t, name)
		functions := map[string]string{}
		for _, f := range p.Functions {
			functions[f.Name] = fmt.Sprintf("%d %.6g", f.Count, f.Seconds)
		}
		want := map[string]string{"Waitall": "60 1", "Allreduce": "20 0.25"}
		if p.Tasks != 2 || p.Run != 2.25 || p.InMPI != 1.25 || fmt.Sprint(p.ByTask) != fmt.Sprint(tasks) || fmt.Sprint(functions) != fmt.Sprint(want) || !p.Measured {
			t.Errorf("%s: %+v with %v", name, p, functions)
		}
	}
	p := sample(t, "small.osu.txt")
	if b := p.Benchmarks; len(b) != 2 || b[0].Name != "allreduce" || b[0].Bytes != 4 || math.Abs(b[0].Value-1e-5) > 1e-12 || b[1].Bytes != 8 || math.Abs(b[1].Value-2e-5) > 1e-12 {
		t.Errorf("benchmarks are %v", b)
	}
}

// A concise report has the top twenty call sites alone, and says so.
func TestConciseReport(t *testing.T) {
	text, err := os.ReadFile("testdata/small.mpiP")
	if err != nil {
		t.Fatal(err)
	}
	concise, _, _ := strings.Cut(string(text), "---------------------------------------------------------------------------\n@--- Callsite Time")
	p, err := Read("concise", []byte(concise))
	if err != nil || p.Note == "" || fmt.Sprint(p.Functions) != "[{Waitall 60 1} {Allreduce 20 0.25}]" {
		t.Errorf("%+v, %v", p, err)
	}
}

const simulated = `{"schema": 1, "program": "halo", "ranks": 2, "complete": true, "virtual_time_ps": 1800000000000,
 "statistics": {"time_ps": 3600000000000, "waiting_ps": 0, "causes_ps": {"computing": 2350000000000, "network": 1250000000000},
 "calls": [{"function": "Waitall", "count": 60, "bytes": 0, "time_ps": 1100000000000, "waiting_ps": 0, "causes_ps": {}}, {"function": "Isend", "count": 4, "bytes": 0, "time_ps": 150000000000, "waiting_ps": 0, "causes_ps": {}}],
 "tasks": [{"rank": 0, "count": 1, "bytes": 0, "time_ps": 1800000000000, "waiting_ps": 0, "causes_ps": {"computing": 1200000000000}},
           {"rank": 1, "count": 1, "bytes": 0, "time_ps": 1800000000000, "waiting_ps": 0, "causes_ps": {"computing": 1150000000000}}], "vaced_sim": []}}`

// Errors are simulated over measured, less one, whichever side comes first: 1.8 of 2.25 s are -20 %, 0.6 of 0.5 s are 20 %.
func TestErrorsByHand(t *testing.T) {
	b, err := Read("simulated.json", []byte(simulated))
	if err != nil {
		t.Fatal(err)
	}
	for _, swapped := range []bool{false, true} {
		a := sample(t, "small.mpiP")
		c, err := Compare(a, b)
		if swapped {
			c, err = Compare(b, a)
		}
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got *float64, want float64) {
			if got == nil || math.Abs(*got-want) > 1e-9 {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		near("run", c.Run.Error, -0.2)
		near("in MPI", c.InMPI.Error, 0)
		near("task 0", c.ByTask[0].Error, 0.2)
		near("task 1", c.ByTask[1].Error, 0.65/0.75-1)
		near("mean of tasks", c.MeanTaskError, (0.2+1-0.65/0.75)/2)
		near("Waitall", c.Functions[0].Error, 0.1)
		if len(c.Functions) != 1 || fmt.Sprint(c.OnlyA, c.OnlyB) != "[Allreduce] [Isend]" || c.Functions[0].ShareA != 0.8 {
			t.Errorf("%+v", c)
		}
	}
}

// Benchmarks are compared by size, with the program that times the operation too.
func TestBenchmarksBySize(t *testing.T) {
	b, err := Read("r.json", []byte(`{"schema": 1, "program": "allreducetest", "ranks": 8, "complete": true, "payload_bytes": 8,
 "iterations": [{"operation": "allreduce", "mean_ps": 20000000}, {"operation": "allreduce", "mean_ps": 24000000}]}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Compare(sample(t, "small.osu.txt"), b)
	if err != nil || len(c.Benchmarks) != 1 || math.Abs(*c.Benchmarks[0].Error-0.1) > 1e-9 || fmt.Sprint(c.OnlyA) != "[allreduce of 4 B]" {
		t.Errorf("%+v, %v", c, err)
	}
	b, err = Read("p.json", []byte(`{"schema": 1, "program": "mpiping", "ranks": 2, "complete": true,
 "iterations": [{"operation": "8 B between nodes", "mean_ps": 5000000}, {"operation": "1 KiB between nodes", "mean_ps": 8000000}]}`))
	if err != nil || fmt.Sprint(b.Benchmarks) != "[osu_latency of 8 B osu_latency of 1024 B]" || b.Benchmarks[0].Value != 2.5e-6 || b.Benchmarks[1].Value != 4e-6 {
		t.Errorf("%+v, %v", b, err)
	}
}

// Bad input is refused with file and line.
func TestFaults(t *testing.T) {
	mpiP, err := os.ReadFile("testdata/small.mpiP")
	if err != nil {
		t.Fatal(err)
	}
	ipm, err := os.ReadFile("testdata/small.ipm.txt")
	if err != nil {
		t.Fatal(err)
	}
	xml, err := os.ReadFile("testdata/small.ipm.xml")
	if err != nil {
		t.Fatal(err)
	}
	change := func(text []byte, old, new string) string {
		if !strings.Contains(string(text), old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(string(text), old, new, 1)
	}
	for _, c := range []struct{ text, want string }{
		{"", "f:1: no known format"},
		{"hello\n", "f:1: no known format"},
		{"{\n\"schema\": 1,\n}", "f:3: no result of a run"},
		{"{\n\"schema\": 1,\n\"ranks\": \"x\"}", "f:3: no result of a run"},
		{`{"schema": 2, "ranks": 1}`, "f:1: schema 2"},
		{`{"schema": 1, "ranks": 1}`, "f:1: the run has not come to its end"},
		{change(mpiP, "0.75    33.33", "0.75x   33.33"), `f:12: MPITime "0.75x" is no time`},
		{change(mpiP, "0.75    33.33", "-1      33.33"), `f:12: MPITime "-1" is no time`},
		{change(mpiP, "   1       2.25", "   0       2.25"), "f:12: task 0 has a time already"},
		{change(mpiP, "   1       2.25", "   2       2.25"), "task 1 has no time"},
		{change(mpiP, "   1       2.25", "  1e9      2.25"), `f:12: "1e9" is no task`},
		{change(mpiP, "MPI Time (seconds)", "MPI Time (minutes)"), "f:8: the heading names no seconds"},
		{change(mpiP, "statistics (all, milliseconds)", "statistics (all, fortnights)"), "f:29: the heading names no milliseconds"},
		{change(mpiP, "Allreduce            3    1     10     12.5", "Allreduce            3    1     10"), "f:33: 8 fields under 9 columns"},
		{change(mpiP, "Allreduce            3    1     10     12.5", "Allreduce            3    1     ten     12.5"), `f:33: Count "ten" is no number of calls`},
		{"@ mpiP\n@ Version\n", "f:2: the report has no section MPI Time"},
		{change(ipm, "MPI_Waitall                   1.00", "MPI_Waitall                   1,00"), `f:20: "1,00" is no time`},
		{change(ipm, "mpi_tasks : 2 on", "mpi_tasks : two on"), `f:7: "two" is no number of tasks`},
		{strings.ReplaceAll(string(ipm), "[time]", "[when]"), "the banner has no times of functions"},
		{change(xml, "</task>", "</tusk>"), "f:19: no well-formed XML"},
		{change(xml, `mpi_rank="1"`, `mpi_rank="0"`), "f:20: task 0 is there twice"},
		{change(xml, `mpi_rank="1"`, `mpi_rank="7"`), "f:20: rank 7 of 2 tasks"},
		{change(xml, `count="30"`, `cnt="30"`), "f:7: <func> has no count"},
		{change(xml, "3.7500e-01", "NaN"), `f:7: "NaN" is no time`},
		{"<ipm_job_profile>\n</ipm_job_profile>\n", "the file has no <task>"},
		{"# OSU MPI Allreduce Latency Test v7.3\n# Size Avg Latency(us)\n4 fast\n", "f:3: "},
		{"# OSU MPI Allreduce Latency Test v7.3\n# Size Avg Latency(us)\n4 1\n\n# OSU MPI Allreduce Latency Test v7.3\n# Size Avg Latency(us)\n4 2\n", "f:7: allreduce of 4 bytes is there already, in line 3"},
		{"# OSU MPI Allreduce Latency Test v7.3\n# Size Avg Latency(us)\n4 1\n4 2\n", "f:4: the size 4 comes after 4"},
	} {
		if p, err := Read("f", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %v, %v, want %q", c.text, p, err, c.want)
		}
	}
}

// Sides that have nothing in common are refused, with the remedy.
func TestNothingInCommon(t *testing.T) {
	bare, err := Read("bare.json", []byte(`{"schema": 1, "program": "p", "ranks": 2, "complete": true}`))
	if err != nil {
		t.Fatal(err)
	}
	many, err := Read("many.json", []byte(strings.Replace(simulated, `"ranks": 2`, `"ranks": 2`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	many.Tasks = 4
	for _, c := range []struct {
		a, b *Profile
		want string
	}{
		{sample(t, "small.mpiP"), bare, "bare.json has no statistics: simulate it by gigarank run --stats --json FILE"},
		{sample(t, "small.mpiP"), many, "small.mpiP has 2 tasks and many.json has 4"},
		{sample(t, "small.mpiP"), sample(t, "small.osu.txt"), "nothing is in both"},
	} {
		if got, err := Compare(c.a, c.b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v, %v, want %q", got, err, c.want)
		}
	}
}

// No text panics, and a profile that is read compares with itself without an error.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"small.mpiP", "small.ipm.txt", "small.ipm.xml", "small.osu.txt"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(simulated))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Read("f", text)
		if err != nil {
			return
		}
		c, err := Compare(p, p)
		if err != nil {
			return
		}
		for _, pair := range c.Functions {
			if pair.Error != nil && *pair.Error != 0 {
				t.Errorf("%+v", pair)
			}
		}
	})
}

// A profile of a recorded run has nanoseconds of tasks and functions: 0.4 s in MPI of task 0, 0.35 of task 1.
func TestRecordedProfiles(t *testing.T) {
	const text = `{"schema": 1, "header": {"tasks": 2}, "tasks": [
 {"task": 1, "took_ns": 2250000000, "functions": {"MPI_Waitall": {"calls": 3, "ns": 350000000}}},
 {"task": 0, "took_ns": 2000000000, "functions": {"MPI_Waitall": {"calls": 3, "ns": 250000000}, "MPI_Isend": {"calls": 2, "ns": 150000000}}}]}`
	p, err := Read("recorded.json", []byte(text))
	if err != nil || !p.Measured || p.Tasks != 2 || p.Run != 2.25 || fmt.Sprint(p.ByTask) != "[0.4 0.35]" || fmt.Sprint(p.Functions) != "[{Isend 2 0.15} {Waitall 6 0.6}]" {
		t.Errorf("%+v, %v", p, err)
	}
	for _, c := range []struct{ text, says string }{
		{strings.Replace(text, `"task": 1`, `"task": 2`, 1), "task 2 of 2"},
		{strings.Replace(text, `"tasks": 2`, `"tasks": 3`, 1), "2 of 3 tasks have times"},
		{strings.Replace(text, `"schema": 1`, `"schema": 7`, 1), "schema 7"},
	} {
		if _, err := Read("recorded.json", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}
