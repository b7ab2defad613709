/* Buffers that a skeleton gives to calls of MPI, in C and Fortran. */
#ifndef GIGARANK_FORTRAN_UNREAD_H
#define GIGARANK_FORTRAN_UNREAD_H

/* The addresses that a skeleton sends from and receives into in the place of a buffer that nobody reads. A buffer that is MPI_IN_PLACE in C or Fortran stays so. */
void *gigarank_unread_sent(void *buffer);
void *gigarank_unread_received(void *buffer);

/* gigarank_unread_null is for a null pointer in a collective, which some ranks may give, and others not. */
void *gigarank_unread_null(void *buffer);

#endif
