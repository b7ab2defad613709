/* Functions of gigarank for programs, beyond MPI. Without gigarank a program can define these
 * functions itself. */
#ifndef GIGARANK_H
#define GIGARANK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Advances the rank's virtual clock, as computing does. */
int gigarank_compute(double seconds);

/* Says whether the CPU time of the rank's code from here on counts. At the start it does. The
 * call has an effect only with gigarank run --cpu measured, --cpu-record and --cpu-replay, as the
 * next two functions have. */
int gigarank_charge(int on);

/* Marks a region that only computes, which begins here if the function returns 1:
 *
 *	if (gigarank_sample_begin("smooth", 10)) {
 *		smooth(field);
 *		gigarank_sample_end();
 *	}
 *
 * The region of a name runs the given number of times on each rank, and the rank is charged the time
 * that it takes. From then on the function returns 0 and charges the mean. So the region's results must
 * not matter to the course of the program. Calls of MPI in the region that the rank cannot answer
 * by itself, as all calls that can wait, are errors, and so are clock polls and declared computing.
 * Calls that the rank can answer, such as MPI_Comm_rank and MPI_Pack, are part of the region. */
int gigarank_sample_begin(const char *name, int times);
int gigarank_sample_end(void);

/* Enters the length, in seconds, of a timed operation into the statistics of the run. The
 * index counts the iterations from 0. */
int gigarank_record(int index, const char *operation, double seconds);

/* Begins an iteration of a phase, and ends the phase that is open: the time between is entered into the
 * statistics of the run, as by gigarank_record, by the phase's name and the number of its iteration on this rank.
 * An empty name, NULL and MPI_Finalize end a phase and begin none. MPI_Pcontrol(level) is gigarank_phase of the name
 * "MPI_Pcontrol(level)", and MPI_Pcontrol(0) ends a phase. */
int gigarank_phase(const char *name);

#ifdef __cplusplus
}
#endif

#endif
