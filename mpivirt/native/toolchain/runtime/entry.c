/* Linked into every program. A program is a shared object, since the C library loads no
 * executables. Run by itself it enters here, without a C library, and says how to run it. */

#include <stddef.h>

extern int main(int, char **, char **);

/* The program's main, whatever its visibility. */
__attribute__((visibility("default"), used)) int (*const gigarank_program_main)(int, char **, char **) = main;

/* The common block of mpif.h, if Fortran is in the program. */
extern char gigarank_mpi_constants_[] __attribute__((weak));
__attribute__((visibility("default"), used)) char *const gigarank_program_constants = gigarank_mpi_constants_;

/* Stands in for that of the start files, which are not linked: they would give every program
 * variables. */
__attribute__((visibility("hidden"))) const void *const __dso_handle = &__dso_handle;

static const char advice[] = "this program was built with gigarank cc: run it with gigarank run ./PROGRAM --ranks N\n";

__attribute__((visibility("default"), used, noreturn)) void gigarank_entry(void) {
#if defined(__x86_64__)
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(1), "D"(2), "S"(advice), "d"(sizeof advice - 1) : "rcx", "r11", "memory");
	__asm__ volatile("syscall" : "=a"(result) : "a"(231), "D"(2) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long number __asm__("x8") = 64, first __asm__("x0") = 2, third __asm__("x2") = sizeof advice - 1;
	register const char *second __asm__("x1") = advice;
	__asm__ volatile("svc 0" : "+r"(first) : "r"(number), "r"(second), "r"(third) : "memory");
	number = 94, first = 2;
	__asm__ volatile("svc 0" : "+r"(first) : "r"(number) : "memory");
#endif
	__builtin_unreachable();
}
