/* Large counts, with which files that have functions of both sorts are included the second time. COUNTED(MPI_Send, ...) then defines
 * MPI_Send_c. */
#undef COUNT
#undef PLACE
#undef DISTANCE
#undef COUNTED
#undef SECOND
#undef LARGE
#undef USER_FUNCTION
#undef LIST
#undef UNLIST
#undef START
#define COUNT MPI_Count
#define PLACE MPI_Aint
#define DISTANCE MPI_Count
#define COUNTED(name, ...) MPI(name##_c, __VA_ARGS__)
#define SECOND(name) P##name##_c
#define LARGE 1
#define USER_FUNCTION MPI_User_function_c
#define LIST(numbers) ((struct gigarank_numbers){.wide = numbers})
#define UNLIST(list) (list).wide
#define START(name) start_##name##_c
