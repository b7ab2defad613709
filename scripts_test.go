package gigarank_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// slurm are stand-ins for the commands of a job script. Like Slurm's, sbatch runs a
// copy of the script in the directory of --chdir. The launcher sends the batch shell
// the signal before the time limit, and waits until it is passed on.
var slurm = map[string]string{
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
	"srun": `
printf '%s\n' "$PWD" "$@" >"$SPOOL/srun"
trap 'exit 3' USR1
kill -USR1 "$PPID"
for ((i = 0; i < 6000; i++)); do read -rt 0.01 <> <(:) || true; done`,
	"scontrol": `echo "$*" >"$SPOOL/scontrol"`,
}

// A study can be submitted from anywhere. It finds its files and leaves its results
// there, and goes back to the queue when its time is up.
func TestSlurmStudy(t *testing.T) {
	spool, tools, caller := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "a place")
	if err := os.Mkdir(caller, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range slurm {
		if err := os.WriteFile(filepath.Join(tools, name), []byte("#!/usr/bin/env bash\n"+text+"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Rel(caller, filepath.Join(root, "scripts", "slurm-study.sh"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", script, "barrier", "--machine", "my machine.yaml", "--out", "d")
	cmd.Dir = caller
	cmd.Env = append(os.Environ(), "SPOOL="+spool, "PATH="+tools+":"+os.Getenv("PATH"), "SLURM_JOB_ID=", "MODULES=", "OPTIONS=", "LAUNCH=")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	gigarank := filepath.Join(root, "bin", "gigarank")
	for name, want := range map[string][]string{
		"go":       {caller + ": build -C " + root + " -tags mpi -o bin/gigarank ./cmd/gigarank"},
		"srun":     {caller, "env", "GOMAXPROCS=1", gigarank, "study", "barrier", "--machine", "my machine.yaml", "--out", "d", "--resume", "--progress", "plain"},
		"scontrol": {"requeue 7"},
	} {
		text, err := os.ReadFile(filepath.Join(spool, name))
		if got := strings.TrimSpace(string(text)); err != nil || got != strings.Join(want, "\n") {
			t.Errorf("%s is called with %q, %v, want %q", name, got, err, want)
		}
	}
}
