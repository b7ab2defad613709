/* Calls of the system by the libraries of Fortran and C++. */
#define _GNU_SOURCE
#include "libc/files.h"
#include "libc/output.h"
#include "libc/process.h"
#include "rank/real.h"
#include "rank/running.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes that are written to the standard output without stdio go to the simulator, as bytes of stdio do. */
ssize_t write(int file, const void *bytes, size_t n) {
	struct gigarank_rank *r = gigarank_running();
	if (r && file == STDERR_FILENO && gigarank_has_closed(r, file)) {
		errno = EBADF;
		return -1;
	}
	if (file == STDOUT_FILENO && r) {
		ssize_t written = gigarank_print(bytes, n);
		return written ? written : n ? -1 : 0;
	}
	return real(write)(file, bytes, n);
}

/* The output of a rank does not depend on where the simulator's output goes: for the rank its standard output and error
 * are pipes, as under a launcher that collects output. The library of Fortran, which keeps a buffer of 8 KiB for each
 * regular file, writes each record to a pipe at once. */
static int is_pipe(const struct gigarank_rank *r, int file) { return r && (file == STDOUT_FILENO || file == STDERR_FILENO); }

int fstat(int file, struct stat *s) {
	struct gigarank_rank *r = gigarank_running();
	int standard = is_pipe(r, file);
	if (standard && gigarank_has_closed(r, file)) {
		errno = EBADF;
		return -1;
	}
	if (standard && file == STDOUT_FILENO && gigarank_output(r))
		file = fileno(gigarank_output(r)), standard = 0;
	int error = real(fstat)(file, s);
	if (!error && standard) {
		s->st_mode = S_IFIFO | S_IRUSR | S_IWUSR;
		s->st_size = s->st_blocks = 0;
	}
	return error;
}

int isatty(int file) {
	if (!is_pipe(gigarank_running(), file))
		return real(isatty)(file);
	errno = ENOTTY;
	return 0;
}

int fstat64(int file, struct stat64 *s) { return fstat(file, (struct stat *)s); } /* the same on machines of 64 bits */

/* --- random bytes -------------------------------------------------------------------------- */

/* Random bytes are the same in every run: they follow from the rank and from
 * the number of bytes that it has drawn. The generator is SplitMix64 (Steele, Lea, Flood 2014). */
static void random_bytes(struct gigarank_fortran *f, char *to, size_t n) {
	uint64_t rank = (uint64_t)(gigarank_current->first + (gigarank_running() - gigarank_current->ranks));
	for (size_t i = 0; i < n; i++) {
		uint64_t x = (rank << 32) + ++f->drawn * 0x9e3779b97f4a7c15u;
		x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
		x = (x ^ x >> 27) * 0x94d049bb133111ebu;
		to[i] = (char)(x ^ x >> 31);
	}
}

int getentropy(void *to, size_t n) {
	struct gigarank_fortran *f = gigarank_fortran();
	if (!f)
		return real(getentropy)(to, n);
	if (n > 256) {
		errno = EIO;
		return -1;
	}
	random_bytes(f, to, n);
	return 0;
}

ssize_t getrandom(void *to, size_t n, unsigned flags) {
	struct gigarank_fortran *f = gigarank_fortran();
	if (!f)
		return real(getrandom)(to, n, flags);
	random_bytes(f, to, n);
	return (ssize_t)n;
}

/* std::random_device of C++ would ask the processor. */
unsigned random_device_value(void *self) __asm__("_ZNSt13random_device9_M_getvalEv");

unsigned random_device_value(void *self) {
	struct gigarank_fortran *f = gigarank_fortran();
	unsigned value;
	if (!f)
		return ((unsigned (*)(void *))dlsym(RTLD_NEXT, "_ZNSt13random_device9_M_getvalEv"))(self);
	random_bytes(f, (char *)&value, sizeof value);
	return value;
}
