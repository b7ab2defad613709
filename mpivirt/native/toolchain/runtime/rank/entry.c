/* Linked into every program. A program is a shared object, since the C library loads no
 * executables. Run by itself it enters here, as an executable does at its start files: scripts that
 * configure a program build and run small programs. MPI_Init then says how to run the program. */

#include <stddef.h>

extern int main(int, char **, char **);

/* The program's main, whatever its visibility. */
__attribute__((visibility("default"), used)) int (*const gigarank_program_main)(int, char **, char **) = main;

/* The common block of mpif.h, if Fortran is in the program. */
extern char gigarank_mpi_constants_[] __attribute__((weak));
__attribute__((visibility("default"), used)) char *const gigarank_program_constants = gigarank_mpi_constants_;

/* Stands in for __dso_handle of the start files, which are not linked: they would give every program
 * variables. */
__attribute__((visibility("hidden"))) const void *const __dso_handle = &__dso_handle;

/* An object with this section is run by the loader that it names. A link refers to the
 * section: linkers may leave out a section without references. */
#if defined(__x86_64__)
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#else
#define LOADER "/lib/ld-linux-aarch64.so.1"
#endif
__attribute__((section(".interp"), visibility("hidden"))) const char gigarank_loader[] = LOADER;

/* The stack has the number of arguments and then the arguments; a register has the function that the loader
 * wants called at the end. The C library calls the constructors. */
__asm__(
	".text\n"
	".globl gigarank_entry\n"
	"gigarank_entry:\n"
#if defined(__x86_64__)
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	xorl %ebp, %ebp\n"
	"	movq %rdx, %r9\n"
	"	popq %rsi\n"
	"	movq %rsp, %rdx\n"
	"	andq $-16, %rsp\n"
	"	pushq %rax\n"
	"	pushq %rsp\n"
	"	xorl %r8d, %r8d\n"
	"	xorl %ecx, %ecx\n"
	"	movq gigarank_program_main(%rip), %rdi\n"
	"	call *__libc_start_main@GOTPCREL(%rip)\n"
	"	hlt\n"
	"	.cfi_endproc\n"
#else
	"	.cfi_startproc\n"
	"	.cfi_undefined x30\n"
	"	mov x29, #0\n"
	"	mov x30, #0\n"
	"	mov x5, x0\n"
	"	ldr x1, [sp]\n"
	"	add x2, sp, #8\n"
	"	mov x6, sp\n"
	"	adrp x0, gigarank_program_main\n"
	"	ldr x0, [x0, #:lo12:gigarank_program_main]\n"
	"	mov x3, #0\n"
	"	mov x4, #0\n"
	"	bl __libc_start_main\n"
	"	brk #1\n"
	"	.cfi_endproc\n"
#endif
);
