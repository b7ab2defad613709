package mpi

import "strconv"

// launchers lists how each launcher passes the number of processes: the variable size
// holds it. mark, if not empty, must be set too.
var launchers = []struct{ name, size, mark string }{
	{"Open MPI", "OMPI_COMM_WORLD_SIZE", ""},
	{"MVAPICH", "MV2_COMM_WORLD_SIZE", ""},
	{"a PMI launcher (MPICH, Intel MPI, Slurm)", "PMI_SIZE", ""},
	{"Cray PALS", "PALS_SIZE", "PALS_RANKID"},
	{"Flux", "FLUX_JOB_SIZE", "FLUX_TASK_RANK"},
	// Slurm sets these for each step of srun. SLURM_NTASKS is also set in a batch
	// script, which is one process, so it counts only beside a sign of PMI.
	{"srun", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"},
	{"srun with PMI", "SLURM_NTASKS", "PMI_RANK"},
	{"srun with PMI-2", "SLURM_NTASKS", "PMI_FD"},
	{"srun with PMIx", "SLURM_NTASKS", "PMIX_RANK"},
}

// Launched returns the MPI launcher that started this process and the number of
// processes that it started, "" and 1 if none did. It reads the environment with
// getenv.
func Launched(getenv func(string) string) (launcher string, processes int) {
	for _, l := range launchers {
		n, err := strconv.Atoi(getenv(l.size))
		if err != nil || n < 1 || l.mark != "" && getenv(l.mark) == "" {
			continue
		}
		return l.name, n
	}
	return "", 1
}
