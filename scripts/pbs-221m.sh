#!/bin/bash -l
# Submits the case of 221,184,000 ranks to PBS, with one host process per core:
#
#   NODES=8 CORES=64 TIME=3600 MODULES="go openmpi" scripts/pbs-221m.sh
#
# It builds on the machine where it is called, since nodes seldom reach a module
# proxy, and submits itself. A run takes about 13 bytes a rank, 2.9 GB in total,
# and some 50 MB for each host process (an estimate).
#
#   NODES    nodes                                        (4)
#   CORES    cores of a node                              (32)
#   TIME     wall-clock limit, in seconds                 (1800)
#   GRACE    seconds before the limit at which SIGTERM ends the run (120)
#   MODULES  environment modules to load                  (none)
#   OPTIONS  more options for qsub, such as -q            (none)
#   LAUNCH   command that starts the host processes       (mpirun -n NODES*CORES)
#
# and RANKS, MACHINE, RESULTS as in run-221m. PBS gives no notice before the
# limit, so the run itself keeps to TIME - GRACE.
set -euo pipefail

if [[ -n ${MODULES:-} ]]; then
  read -ra modules <<<"$MODULES"
  module load "${modules[@]}"
fi

nodes=${NODES:-4} cores=${CORES:-32} time=${TIME:-1800} grace=${GRACE:-120}
[[ $time -gt $grace ]] || {
  echo "pbs-221m: TIME=$time leaves nothing beyond GRACE=$grace seconds: give more time" >&2
  exit 2
}

if [[ -z ${PBS_JOBID:-} ]]; then
  cd "$(dirname "${BASH_SOURCE[0]}")/.."
  go build -tags mpi -o bin/gigarank ./cmd/gigarank
  read -ra options <<<"${OPTIONS:-}"
  # Half as much again as the estimate: messages and start-up need room, too.
  memory_mb=$((${RANKS:-221184000} * 13 * 3 / 2 / nodes / 1000000 + cores * 75))
  exec qsub -N gigarank-221m -j oe \
    -l "select=$nodes:ncpus=$cores:mpiprocs=$cores:mem=${memory_mb}mb" \
    -l place=scatter:excl -l "walltime=$time" -V -S /bin/bash "${options[@]}" scripts/pbs-221m.sh
fi

cd "$PBS_O_WORKDIR"
export LAUNCH=${LAUNCH:-mpirun -n $((nodes * cores))}
export GRACE=$grace LIMIT=$((time - grace))
exec scripts/run-221m
