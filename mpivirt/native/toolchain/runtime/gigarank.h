/* What a program can say to gigarank, beyond MPI. Without gigarank a program can define these
 * functions itself. */
#ifndef GIGARANK_H
#define GIGARANK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Advances the rank's virtual clock, as computing does. */
int gigarank_compute(double seconds);

/* Enters the length, in seconds, of a timed operation into the statistics of the run. The
 * index counts the iterations from 0. */
int gigarank_record(int index, const char *operation, double seconds);

#ifdef __cplusplus
}
#endif

#endif
