#!/bin/bash -l
# Submits the case of 221,184,000 ranks to Slurm, with one host process per core:
#
#   NODES=8 CORES=64 TIME=01:00:00 MODULES="go openmpi" scripts/slurm-221m.sh
#
# It builds on the machine where it is called, since nodes seldom reach a module
# proxy, and submits itself. A run takes about 13 bytes a rank, 2.9 GB in total,
# and some 50 MB for each host process (an estimate).
#
#   NODES    nodes                                        (4)
#   CORES    cores of a node                              (32)
#   TIME     wall-clock limit, as Slurm writes it         (00:30:00)
#   GRACE    seconds before the limit at which SIGTERM ends the run (120)
#   MODULES  environment modules to load                  (none)
#   OPTIONS  more options for sbatch, such as --partition (none)
#   LAUNCH   srun, "srun --mpi=pmix" or mpirun            (srun)
#
# and RANKS, MACHINE, RESULTS as in run-221m.
set -euo pipefail

if [[ -n ${MODULES:-} ]]; then
  read -ra modules <<<"$MODULES"
  module load "${modules[@]}"
fi

if [[ -z ${SLURM_JOB_ID:-} ]]; then
  cd "$(dirname "${BASH_SOURCE[0]}")/.."
  go build -tags mpi -o bin/gigarank ./cmd/gigarank
  read -ra options <<<"${OPTIONS:-}"
  # B: sends the signal to the batch shell, which passes it on to the launcher.
  exec sbatch --job-name=gigarank-221m --nodes="${NODES:-4}" \
    --ntasks-per-node="${CORES:-32}" --cpus-per-task=1 --hint=nomultithread \
    --exclusive --mem=0 --time="${TIME:-00:30:00}" \
    --signal="B:TERM@${GRACE:-120}" --output=gigarank-221m-%j.log \
    --chdir="$PWD" --export=ALL "${options[@]}" scripts/slurm-221m.sh
fi

# srun ends the step when a host process fails, also one that dies before MPI could tell the others.
export LAUNCH=${LAUNCH:-srun} SLURM_KILL_BAD_EXIT=1
exec scripts/run-221m
