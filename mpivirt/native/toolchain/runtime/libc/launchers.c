/* Variables of the environment by which launchers tell a process its number. Scripts and libraries choose files and
 * devices by them. A rank has its own, of the simulated machine, whatever has launched the simulator. */
#define _GNU_SOURCE
#include "libc/launchers.h"
#include "libc/process.h"
#include "rank/ranks.h"
#include "rank/running.h"

#include <string.h>

enum { RANK, SIZE, LOCAL_RANK, LOCAL_SIZE, NODE };

/* Open MPI 4.1 (mpirun(1), "Environment variables"; PMIX_RANK by PMIx), MPICH's Hydra, MVAPICH2, and srun(1),
 * "Output environment variables". */
static const struct {
	const char *name;
	int tells;
} told[] = {
	{"OMPI_COMM_WORLD_RANK", RANK}, {"OMPI_COMM_WORLD_SIZE", SIZE}, {"OMPI_COMM_WORLD_LOCAL_RANK", LOCAL_RANK},
	{"OMPI_COMM_WORLD_LOCAL_SIZE", LOCAL_SIZE}, {"OMPI_COMM_WORLD_NODE_RANK", LOCAL_RANK}, {"PMIX_RANK", RANK},
	{"PMI_RANK", RANK}, {"PMI_SIZE", SIZE}, {"MPI_LOCALRANKID", LOCAL_RANK}, {"MPI_LOCALNRANKS", LOCAL_SIZE},
	{"MV2_COMM_WORLD_RANK", RANK}, {"MV2_COMM_WORLD_SIZE", SIZE}, {"MV2_COMM_WORLD_LOCAL_RANK", LOCAL_RANK},
	{"MV2_COMM_WORLD_LOCAL_SIZE", LOCAL_SIZE}, {"SLURM_PROCID", RANK}, {"SLURM_NTASKS", SIZE}, {"SLURM_NPROCS", SIZE},
	{"SLURM_LOCALID", LOCAL_RANK}, {"SLURM_NODEID", NODE},
};
enum { TOLD = sizeof told / sizeof *told };
_Static_assert(TOLD == GIGARANK_LAUNCHER_VARIABLES, "the number of variables that launchers set");

int gigarank_of_launcher(const char *name, size_t length) {
	for (int i = 0; i < TOLD; i++)
		if (strncmp(told[i].name, name, length) == 0 && !told[i].name[length])
			return i;
	return -1;
}

/* ask has the simulator say where a rank is on the machine. The latest call that the rank counts stays the same. */
static void ask(struct gigarank_rank *r, struct gigarank_process *p) {
	struct gigarank_call c = {.procedure = GIGARANK_NODE};
	uint16_t last = r->last;
	gigarank_suspend(&c);
	r->last = last;
	p->node = c.found, p->local_rank = c.made_member, p->local_size = c.made_size;
}

static int number(struct gigarank_rank *r, int what) {
	struct gigarank_engine *e = gigarank_current;
	if (what == RANK)
		return e->first + (int)(r - e->ranks);
	if (what == SIZE)
		return e->world;
	struct gigarank_process *p = gigarank_process(r);
	if (!p->local_size)
		ask(r, p);
	return what == NODE ? p->node : what == LOCAL_RANK ? p->local_rank : p->local_size;
}

int gigarank_launcher_entry(struct gigarank_rank *r, int i, char *entry, size_t room) {
	return snprintf(entry, room, "%s=%d", told[i].name, number(r, told[i].tells));
}

char **gigarank_without_launcher(char **list) {
	size_t n = 0, kept = 0;
	while (list && list[n])
		n++;
	char **own = calloc(n + 1, sizeof *own);
	for (size_t i = 0; own && i < n; i++)
		if (gigarank_of_launcher(list[i], strcspn(list[i], "=")) < 0)
			own[kept++] = list[i];
	return own;
}
