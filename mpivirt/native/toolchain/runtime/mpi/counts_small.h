/* Counts of type int, with which files that have functions of both sorts are included first. */
#define COUNT int
#define PLACE int
#define DISTANCE MPI_Aint
#define COUNTED(name, ...) MPI(name, __VA_ARGS__)
#define SECOND(name) P##name
#define LARGE 0
#define USER_FUNCTION MPI_User_function
#define LIST(numbers) ((struct gigarank_numbers){.narrow = numbers})
#define UNLIST(list) (list).narrow
#define START(name) start_##name
