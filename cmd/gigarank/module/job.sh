#!/bin/bash -l
# Runs the program on one node: sbatch job.sh, or ./job.sh here. RANKS are the virtual
# ranks, about 3 KB of memory each.
#SBATCH --job-name=NAME
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --exclusive
#SBATCH --time=00:30:00
#SBATCH --output=NAME-%j.log
set -euo pipefail
cd "${SLURM_SUBMIT_DIR:-$(dirname "${BASH_SOURCE[0]}")}"
if [[ ! -x ./NAME ]]; then
  go build -o NAME .
fi
exec ./NAME -ranks "${RANKS:-100000}" -machine machine.yaml
