/* Buffers that a skeleton gives to calls of MPI: its code is the same in C and Fortran, whose MPI_IN_PLACE are two addresses. */
#include "fortran/unread.h"
#include "fortran/fortran.h"
#include "rank/unread.h"

static int in_place(void *buffer) {
	return gigarank_buffer_of(buffer) == MPI_IN_PLACE;
}

void *gigarank_unread_sent(void *buffer) {
	return in_place(buffer) ? buffer : gigarank_unread_memory().sent;
}

void *gigarank_unread_received(void *buffer) {
	return in_place(buffer) ? buffer : gigarank_unread_memory().received;
}

void *gigarank_unread_null(void *buffer) {
	(void)buffer;
	(void)gigarank_unread_memory();
	return gigarank_unread;
}
