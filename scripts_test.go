package gigarank_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// stands are stand-ins for the commands of a job script. Like Slurm's, sbatch runs a
// copy of the script in the directory of --chdir. Like that of PBS, qsub takes a script from its
// input, and the test runs it. Launchers do what the test says.
var stands = map[string]string{
	"go": `echo "$PWD: $*" >"$SPOOL/go"`,
	"sbatch": `
for option; do
  case $option in
    --chdir=*) cd "${option#--chdir=}" ;;
    --*) ;;
    *) break ;;
  esac
  shift
done
cp "$1" "$SPOOL/slurm_script"
shift
SLURM_JOB_ID=7 exec bash "$SPOOL/slurm_script" "$@"`,
	"srun":     `printf '%s\n' "$PWD" "$@" >"$SPOOL/launched"; ` + linger + `eval "$LAUNCHED"`,
	"mpirun":   `printf '%s\n' "$PWD" "$@" >"$SPOOL/launched"; ` + linger + `eval "$LAUNCHED"`,
	"scontrol": `echo "$*" >>"$SPOOL/requeued"`,
	"qsub":     `printf '%s\n' "$@" >"$SPOOL/requeued"; cat >"$SPOOL/job"`,
}

// linger defines what waits for a signal, up to a minute.
const linger = `linger() { for ((i = 0; i < 6000; i++)); do read -rt 0.01 <> <(:) || true; done; }; `

// jobScript is a job script, run with stand-ins.
type jobScript struct {
	spool, caller, root string
	environment         []string
}

func newJobScript(t *testing.T) *jobScript {
	t.Helper()
	tools := t.TempDir()
	for name, text := range stands {
		if err := os.WriteFile(filepath.Join(tools, name), []byte("#!/usr/bin/env bash\n"+text+"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	j := &jobScript{spool: t.TempDir(), caller: filepath.Join(t.TempDir(), "a place"), root: root}
	if err := os.Mkdir(j.caller, 0o777); err != nil {
		t.Fatal(err)
	}
	j.environment = append(os.Environ(), "SPOOL="+j.spool, "PATH="+tools+":"+os.Getenv("PATH"), "PBS_O_WORKDIR="+j.caller)
	for _, unset := range []string{"SLURM_JOB_ID", "SLURM_RESTART_COUNT", "PBS_JOBID", "MODULES", "OPTIONS", "LAUNCH", "LIMIT", "ATTEMPT", "TIME", "NODES", "CORES", "GRACE"} {
		j.environment = append(j.environment, unset+"=")
	}
	return j
}

// run runs a command, such as a script by bash (a login shell sets its own PATH), in the caller's directory and returns its exit code and its output.
func (j *jobScript) run(t *testing.T, environment []string, command ...string) (int, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = j.caller
	cmd.Env = append(j.environment, environment...)
	output, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(output)
}

// lines returns the lines of a file of the stand-ins, none if it is not there.
func (j *jobScript) lines(name string) []string {
	text, _ := os.ReadFile(filepath.Join(j.spool, name)) // not there: nobody was called
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func (j *jobScript) expect(t *testing.T, name string, want ...string) {
	t.Helper()
	if got := j.lines(name); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s: %q, want %q", name, got, want)
	}
}

// A study can be submitted from anywhere. It finds its files and leaves its results
// there, and goes back to the queue when its time is up.
func TestSlurmStudy(t *testing.T) {
	j := newJobScript(t)
	script, err := filepath.Rel(j.caller, filepath.Join(j.root, "scripts", "slurm-study.sh"))
	if err != nil {
		t.Fatal(err)
	}
	code, output := j.run(t, []string{`LAUNCHED=echo "$SLURM_KILL_BAD_EXIT" >"$SPOOL/kill"; trap 'exit 3' USR1; kill -USR1 "$PPID"; linger`},
		"bash", script, "barrier", "--machine", "my machine.yaml", "--out", "d")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, output)
	}
	j.expect(t, "go", j.caller+": build -C "+j.root+" -tags mpi -o bin/gigarank ./cmd/gigarank")
	j.expect(t, "launched", j.caller, "env", "GOMAXPROCS=1", filepath.Join(j.root, "bin", "gigarank"),
		"study", "barrier", "--machine", "my machine.yaml", "--out", "d", "--resume", "--progress", "plain")
	j.expect(t, "requeued", "requeue 7")
	j.expect(t, "kill", "1")
}

// The same for PBS, which gives no notice: the job itself keeps the time, and its script
// submits the next job.
func TestPBSStudy(t *testing.T) {
	j := newJobScript(t)
	environment := []string{"TIME=5", "GRACE=4", "CORES=3", "LAUNCHED=trap 'exit 3' USR1; linger"}
	submit := func(command ...string) {
		t.Helper()
		if code, output := j.run(t, environment, command...); code != 0 {
			t.Fatalf("%s: exit code %d\n%s", command, code, output)
		}
	}
	options := []string{"-N", "gigarank-study", "-j", "oe", "-l", "select=1:ncpus=3:mpiprocs=3", "-l", "place=scatter:excl",
		"-l", "walltime=5", "-V", "-S", "/bin/bash"}
	submit("bash", filepath.Join(j.root, "scripts", "pbs-study.sh"), "barrier", "--machine", "my machine.yaml", "--out", "d")
	j.expect(t, "requeued", options...)

	environment = append(environment, "PBS_JOBID=7.here")
	submit("bash", filepath.Join(j.spool, "job"))
	j.expect(t, "launched", j.caller, "-n", "3", "env", "GOMAXPROCS=1", filepath.Join(j.root, "bin", "gigarank"),
		"study", "barrier", "--machine", "my machine.yaml", "--out", "d", "--resume", "--progress", "plain")
	next := append(options, "-W", "depend=afterany:7.here")
	j.expect(t, "requeued", next...)

	environment = append(environment, "PBS_JOBID=8.here")
	submit("bash", filepath.Join(j.spool, "job"))
	next[len(next)-1] = "depend=afterany:8.here"
	j.expect(t, "requeued", next...)
}

// What happens to a job by the end of its launcher. A launcher that hangs is killed in time. A
// job that has lost a host goes back to the queue, but not without end.
func TestStudyGoesBackToTheQueue(t *testing.T) {
	const point = "echo >>d/results.jsonl; "
	for _, c := range []struct {
		name     string
		launched string
		restarts string // of the job before
		idle     string // the number of those without a new point
		code     int
		requeued bool
	}{
		{"done", "exit 0", "", "", 0, false},
		{"a failed point", "exit 1", "", "", 1, false},
		{"wrong usage", "exit 2", "", "", 2, false},
		{"a lost host", "exit 3", "", "", 0, true},
		{"killed for its memory", "exit 137", "", "", 0, true},
		{"the third in a row", "exit 3", "2", "2", 0, true},
		{"the fourth in a row", "exit 3", "3", "3", 3, false},
		{"a new point in the fourth", point + "exit 3", "3", "3", 0, true},
		{"a new submission", "exit 3", "", "3", 0, true},
		{"time is up", `trap 'exit 3' USR1; kill -USR1 "$PPID"; linger`, "", "", 0, true},
		{"time is up for the fourth time", `trap 'exit 3' USR1; kill -USR1 "$PPID"; linger`, "3", "3", 3, false},
		{"a launcher that hangs", `trap '' USR1 TERM; kill -USR1 "$PPID"; linger`, "", "", 0, true},
		{"cancelled", `trap 'exit 3' TERM; kill -TERM "$PPID"; linger`, "", "", 3, false},
		{"cancelled after its time was up", `trap 'kill -TERM "$PPID"; exit 3' USR1; kill -USR1 "$PPID"; linger`, "", "", 3, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := newJobScript(t)
			results := filepath.Join(j.caller, "d")
			if err := os.Mkdir(results, 0o777); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"results.jsonl": "{}\n{}\n", "requeued": c.idle} {
				if err := os.WriteFile(filepath.Join(results, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			began := time.Now()
			const grace = 10 * time.Second
			code, output := j.run(t, []string{"GRACE=10", "SLURM_RESTART_COUNT=" + c.restarts, "LAUNCHED=" + c.launched},
				"bash", filepath.Join(j.root, "scripts", "slurm-study.sh"), "barrier", "--out=d")
			if code != c.code {
				t.Errorf("exit code %d, want %d\n%s", code, c.code, output)
			}
			if took := time.Since(began); took > grace {
				t.Errorf("the script ends after %v, and the limit is after %v", took, grace)
			}
			requeued := j.lines("requeued")[0] == "requeue 7"
			if requeued != c.requeued {
				t.Errorf("requeued: %t, want %t\n%s", requeued, c.requeued, output)
			}
		})
	}
}

// CI leaves the tests in beside_tests out of its main step, and runs them in room mpivirt: no other room has tests of these names.
func TestTestsWithEnginesSideBySideAreOfOneRoom(t *testing.T) {
	text, err := os.ReadFile("scripts/test")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^readonly beside_tests='(.*)'$`).FindSubmatch(text)
	if m == nil {
		t.Fatal("scripts/test has no line beside_tests")
	}
	beside, name, found := regexp.MustCompile(string(m[1])), regexp.MustCompile(`(?m)^func (Test\w+)\(`), 0
	dirs, err := packageDirs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range name.FindAllSubmatch(text, -1) {
				if !beside.Match(m[1]) {
					continue
				}
				if found++; filepath.ToSlash(dir) != "mpivirt" {
					t.Errorf("%s in %s is left out of CI: name it another way, or take it out of beside_tests in scripts/test", m[1], dir)
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("beside_tests matches %d tests", found)
	}
}
