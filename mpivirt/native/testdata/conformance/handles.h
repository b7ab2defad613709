! What differs between the modules mpi and mpi_f08, for programs that are built with each of them.
#ifdef MPI_F08
#define MODULE mpi_f08
#define HANDLE(class) type(class)
#define STATUS type(MPI_Status)
#define OF(status, field) status%field
#define STATUSES(name, n) type(MPI_Status) :: name(n)
#define ONE(statuses, i) statuses(i)
#define OF_ONE(statuses, i, field) statuses(i)%field
#else
#define MODULE mpi
#define HANDLE(class) integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define OF(status, field) status(field)
#define STATUSES(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define ONE(statuses, i) statuses(:, i)
#define OF_ONE(statuses, i, field) statuses(field, i)
#endif
