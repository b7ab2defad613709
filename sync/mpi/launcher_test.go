package mpi

import "testing"

func TestLaunched(t *testing.T) {
	for _, c := range []struct {
		why       string
		env       map[string]string
		launcher  string
		processes int
	}{
		{"a shell", nil, "", 1},
		{"mpirun of Open MPI", map[string]string{"OMPI_COMM_WORLD_SIZE": "4", "PMIX_RANK": "0"}, "Open MPI", 4},
		{"mpiexec of MPICH", map[string]string{"PMI_SIZE": "3", "PMI_RANK": "0", "PMI_FD": "6"}, "a PMI launcher (MPICH, Intel MPI, Slurm)", 3},
		{"srun of a program without MPI", map[string]string{"SLURM_NTASKS": "8", "SLURM_STEP_NUM_TASKS": "8", "SLURM_STEP_ID": "0"}, "srun", 8},
		{"srun of one task in a job of eight", map[string]string{"SLURM_NTASKS": "8", "SLURM_STEP_NUM_TASKS": "1", "SLURM_STEP_ID": "0"}, "srun", 1},
		{"srun --mpi=pmix", map[string]string{"SLURM_NTASKS": "8", "PMIX_RANK": "3"}, "srun with PMIx", 8},
		{"a batch script of Slurm", map[string]string{"SLURM_NTASKS": "8", "SLURM_PROCID": "0"}, "", 1},
		{"nonsense", map[string]string{"OMPI_COMM_WORLD_SIZE": "many", "PMI_SIZE": "0"}, "", 1},
	} {
		launcher, processes := Launched(func(name string) string { return c.env[name] })
		if launcher != c.launcher || processes != c.processes {
			t.Errorf("%s: %q, %d; want %q, %d", c.why, launcher, processes, c.launcher, c.processes)
		}
	}
}
