#!/bin/bash -l
# Submits a study to Slurm, with one host process per core. A study that is not
# finished when its time is up, or that has lost a host, goes back to the queue:
#
#   NODES=8 CORES=64 TIME=01:00:00 scripts/slurm-study.sh \
#     barrier --ranks 2^20..2^30 --out barrier-study
#
# The arguments are those of gigarank study; --resume is added. Files, DIR and the
# log are in the directory where it is called. TIME must be enough for the longest
# point: a job that is put back three times without a new point ends. It builds on the
# machine where it is called, since nodes seldom reach a module proxy.
#
#   NODES    nodes                                        (1)
#   CORES    cores of a node                              (32)
#   TIME     wall-clock limit, as Slurm writes it         (01:00:00)
#   GRACE    seconds before the limit at which SIGUSR1 ends the study (120); a launcher
#            that hangs is killed when half of them, or 20, are left
#   MODULES  environment modules to load                  (none)
#   OPTIONS  more options for sbatch, such as --partition (none)
#   LAUNCH   srun, "srun --mpi=pmix" or mpirun            (srun)
set -euo pipefail

if [[ -n ${MODULES:-} ]]; then
  read -ra modules <<<"$MODULES"
  module load "${modules[@]}"
fi

if [[ -z ${SLURM_JOB_ID:-} ]]; then
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
  go build -C "$root" -tags mpi -o bin/gigarank ./cmd/gigarank
  # The job runs a copy of this script, which does not know its origin.
  export GIGARANK=$root/bin/gigarank SCRIPTS=$root/scripts GRACE=${GRACE:-120}
  read -ra options <<<"${OPTIONS:-}"
  # B: sends the signal to the batch shell, which passes it on to the launcher.
  exec sbatch --job-name=gigarank-study --nodes="${NODES:-1}" \
    --ntasks-per-node="${CORES:-32}" --cpus-per-task=1 --hint=nomultithread \
    --exclusive --mem=0 --time="${TIME:-01:00:00}" --requeue --open-mode=append \
    --signal="B:USR1@$GRACE" --output=gigarank-study-%j.log \
    --chdir="$PWD" --export=ALL "${options[@]}" "$root/scripts/slurm-study.sh" "$@"
fi

# shellcheck disable=SC2317 # run-study calls it
requeue() { scontrol requeue "$SLURM_JOB_ID"; }
# srun ends the step when a host process fails, also one that dies before MPI could tell the others.
export SLURM_KILL_BAD_EXIT=1
name=slurm-study LAUNCH=${LAUNCH:-srun} ATTEMPT=${SLURM_RESTART_COUNT:-0} LIMIT=0
# shellcheck source=scripts/run-study
source "${SCRIPTS:-scripts}/run-study"
