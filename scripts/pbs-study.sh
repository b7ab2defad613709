#!/bin/bash -l
# Submits a study to PBS, with one host process per core. A study that is not finished
# when its time is up, or that has lost a host, is submitted again by its job:
#
#   NODES=8 CORES=64 TIME=3600 scripts/pbs-study.sh \
#     barrier --ranks 2^20..2^30 --out barrier-study
#
# The arguments are those of gigarank study; --resume is added. Files, DIR and the
# logs are in the directory where it is called. TIME must be enough for the longest
# point: after three further jobs without a new point no other follows. It builds on the
# machine where it is called, since nodes seldom reach a module proxy.
#
#   NODES    nodes                                        (1)
#   CORES    cores of a node                              (32)
#   TIME     wall-clock limit, in seconds                 (3600)
#   GRACE    seconds before the limit at which SIGUSR1 ends the study (120); a launcher
#            that hangs is killed when half of them, or 20, are left
#   MEMORY   memory of a node, as PBS writes it           (the queue's default)
#   MODULES  environment modules to load                  (none)
#   OPTIONS  more options for qsub, such as -q            (none)
#   LAUNCH   command that starts the host processes       (mpirun -n NODES*CORES)
#
# PBS gives no notice before the limit, so the job itself keeps to TIME - GRACE. It goes on
# in a new job, since qrerun is for operators; qsub must work on the first node.
set -euo pipefail

if [[ -n ${MODULES:-} ]]; then
  read -ra modules <<<"$MODULES"
  module load "${modules[@]}"
fi

nodes=${NODES:-1} cores=${CORES:-32} time=${TIME:-3600}
export GRACE=${GRACE:-120}
[[ $time -gt $GRACE ]] || {
  echo "pbs-study: TIME=$time leaves nothing beyond GRACE=$GRACE seconds: give more time" >&2
  exit 2
}

# submit ATTEMPT OPTIONS ARGUMENTS... submits the job, whose script is a call of this one.
submit() {
  local options words select="select=$nodes:ncpus=$cores:mpiprocs=$cores${MEMORY:+:mem=$MEMORY}"
  read -ra options <<<"$2 ${OPTIONS:-}"
  words=$(printf '%q ' "ATTEMPT=$1" "GIGARANK=$GIGARANK" "SCRIPTS=$SCRIPTS" bash "$SCRIPTS/pbs-study.sh" "${@:3}")
  qsub -N gigarank-study -j oe -l "$select" -l place=scatter:excl -l "walltime=$time" \
    -V -S /bin/bash "${options[@]}" <<<"cd \"\$PBS_O_WORKDIR\" && exec env $words"
}

if [[ -z ${PBS_JOBID:-} ]]; then
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
  go build -C "$root" -tags mpi -o bin/gigarank ./cmd/gigarank
  export GIGARANK=$root/bin/gigarank SCRIPTS=$root/scripts
  submit 0 "" "$@"
  exit
fi

arguments=("$@")
# shellcheck disable=SC2317 # run-study calls it
requeue() { submit $((ATTEMPT + 1)) "-W depend=afterany:$PBS_JOBID" "${arguments[@]}"; }
name=pbs-study LAUNCH=${LAUNCH:-mpirun -n $((nodes * cores))} LIMIT=$((time - GRACE))
# shellcheck source=scripts/run-study
source "$SCRIPTS/run-study"
