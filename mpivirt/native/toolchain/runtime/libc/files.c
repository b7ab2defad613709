/* A rank's own working directory, mask of new files and standard streams. */
#define _GNU_SOURCE
#include "libc/files.h"
#include "libc/process.h"
#include "libc/threads.h"
#include "rank/real.h"
#include "rank/running.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/stat.h>

/* A directory that ranks of an engine have gone to. The first is the directory of the run. */
struct gigarank_directory {
	struct gigarank_directory *next;
	int file, number;
	dev_t device;
	ino_t node;
};

/* --- working directory, mask of new files ------------------------------------------------------ */

/* A thread may have a working directory and a mask of its own. An engine whose ranks change either
 * has its thread take the directory and mask of the rank that runs. */
static int part(struct gigarank_engine *e) {
	if (e->keeps & (GIGARANK_KEEPS_DIRECTORY | GIGARANK_KEEPS_MASK))
		return 0;
	if (unshare(CLONE_FS) != 0)
		return -1;
	e->mask = real(umask)(0);
	real(umask)(e->mask);
	return 0;
}

/* number_of returns the number of a directory of the engine's ranks, which is open as file. */
static int number_of(struct gigarank_engine *e, int file) {
	struct stat s;
	struct gigarank_directory *d;
	if (fstat(file, &s) != 0)
		return -1;
	for (d = e->directories; d; d = d->next)
		if (d->device == s.st_dev && d->node == s.st_ino) {
			close(file);
			return d->number;
		}
	if (!(d = malloc(sizeof *d)))
		return -1;
	*d = (struct gigarank_directory){e->directories, file, e->directories ? e->directories->number + 1 : 0, s.st_dev, s.st_ino};
	e->directories = d;
	return d->number;
}

static int go(struct gigarank_engine *e, int number) {
	for (struct gigarank_directory *d = e->directories; d; d = d->next)
		if (d->number == number) {
			e->directory = number;
			return real(fchdir)(d->file);
		}
	return -1;
}

/* go_to has the running rank go to a directory, which is open as file. */
static int go_to(struct gigarank_engine *e, int file) {
	int run = e->directories ? -1 : open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), number = -1;
	if (file < 0 || part(e) != 0 || (!e->directories && (run < 0 || number_of(e, run) != 0)) || real(fchdir)(file) != 0 || (number = number_of(e, file)) < 0) {
		int why = errno;
		if (file >= 0)
			close(file);
		errno = why;
		return -1;
	}
	e->keeps |= GIGARANK_KEEPS_DIRECTORY;
	e->directory = gigarank_process(e->running)->directory = number;
	return 0;
}

int chdir(const char *path) {
	if (!gigarank_running())
		return real(chdir)(path);
	return go_to(gigarank_current, open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

int fchdir(int file) {
	if (!gigarank_running())
		return real(fchdir)(file);
	return go_to(gigarank_current, fcntl(file, F_DUPFD_CLOEXEC, 3));
}

mode_t umask(mode_t mask) {
	struct gigarank_engine *e = gigarank_current;
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(umask)(mask);
	if (part(e) != 0)
		return real(umask)(mask);
	struct gigarank_process *p = gigarank_process(r);
	e->keeps |= GIGARANK_KEEPS_MASK;
	p->has_mask = 1, p->mask = mask & 0777;
	return real(umask)(mask);
}

void gigarank_close_directories(struct gigarank_engine *e) {
	for (struct gigarank_directory *d = e->directories, *next; d; d = next) {
		next = d->next;
		close(d->file);
		free(d);
	}
	e->directories = NULL;
}

void gigarank_adopt(struct gigarank_engine *e, struct gigarank_rank *r) {
	struct gigarank_process *p = r ? r->process : NULL;
	if (e->keeps & GIGARANK_KEEPS_LOCALE)
		uselocale(p && p->locale ? p->locale : LC_GLOBAL_LOCALE);
	if (e->keeps & GIGARANK_KEEPS_DIRECTORY && e->directory != (p ? p->directory : 0))
		go(e, p ? p->directory : 0);
	if (e->keeps & GIGARANK_KEEPS_MASK)
		real(umask)(p && p->has_mask ? p->mask : e->mask);
}

/* --- standard streams, which a rank closes for itself ---------------------------------------------- */

int gigarank_has_closed(struct gigarank_rank *r, int file) { return r->process && r->process->closed >> file & 1; }

FILE *gigarank_output(struct gigarank_rank *r) { return r->process ? r->process->output : NULL; }

/* standard returns the number of a standard stream's file, -1 for another stream. */
static int standard(FILE *f) { return f == stdin ? STDIN_FILENO : f == stdout ? STDOUT_FILENO : f == stderr ? STDERR_FILENO : -1; }

/* close_standard closes the file of a standard stream for a rank. */
static int close_standard(struct gigarank_rank *r, int file) {
	if (gigarank_has_closed(r, file)) {
		errno = EBADF;
		return -1;
	}
	struct gigarank_process *p = gigarank_process(r);
	p->closed |= 1 << file;
	FILE *output = file == STDOUT_FILENO ? p->output : NULL;
	if (output)
		p->output = NULL;
	return output ? real(fclose)(output) : 0;
}

int close(int file) {
	struct gigarank_rank *r = gigarank_running();
	return r && file >= STDIN_FILENO && file <= STDERR_FILENO ? close_standard(r, file) : real(close)(file);
}

int fclose(FILE *f) {
	struct gigarank_rank *r = gigarank_running();
	return r && standard(f) >= 0 ? close_standard(r, standard(f)) : real(fclose)(f);
}

/* The ranks of an engine write to one stream, which keeps whole lines of each rank. It takes no buffer of a rank. */
int setvbuf(FILE *restrict f, char *restrict buffer, int mode, size_t size) {
	struct gigarank_rank *r = gigarank_running();
	int file = r ? standard(f) : -1;
	if (file == STDOUT_FILENO && gigarank_output(r))
		return real(setvbuf)(gigarank_output(r), buffer, mode, size);
	return file == STDOUT_FILENO || file == STDERR_FILENO ? 0 : real(setvbuf)(f, buffer, mode, size);
}

void setbuffer(FILE *f, char *buffer, size_t size) { setvbuf(f, buffer, buffer ? _IOFBF : _IONBF, size); }
void setbuf(FILE *restrict f, char *restrict buffer) { setbuffer(f, buffer, BUFSIZ); }
void setlinebuf(FILE *f) { setvbuf(f, NULL, _IOLBF, 0); }

/* number_of_stream returns the number of a stream's file. The stream of the standard output has no file, as its
 * text goes to the simulator; the number of the standard output stands for it. */
static int number_of_stream(int (*really)(FILE *), FILE *f) {
	struct gigarank_rank *r = gigarank_running();
	int error = errno, number = r && f == stdout ? -1 : really(f);
	if (f != stdout || number >= 0)
		return number;
	if (r && gigarank_has_closed(r, STDOUT_FILENO)) {
		errno = EBADF;
		return -1;
	}
	errno = error;
	return r && gigarank_output(r) ? really(gigarank_output(r)) : STDOUT_FILENO;
}

int fileno(FILE *f) { return number_of_stream(real(fileno), f); }
int fileno_unlocked(FILE *f) { return number_of_stream(real(fileno_unlocked), f); }

/* The standard output of a rank may go to a file. */
static FILE *reopen(FILE *(*really)(const char *, const char *, FILE *), const char *name, const char *path, const char *mode, FILE *f) {
	struct gigarank_rank *r = gigarank_running();
	if (!r || standard(f) < 0)
		return really(path, mode, f);
	if (f != stdout || !path)
		gigarank_forbid(name, "change the standard streams of the simulator: only stdout can be opened again, with a path");
	FILE *output = fopen(path, mode);
	struct gigarank_process *p = gigarank_process(r);
	if (p->output)
		real(fclose)(p->output);
	p->output = output;
	p->closed = output ? p->closed & ~(1 << STDOUT_FILENO) : p->closed | 1 << STDOUT_FILENO;
	return output ? f : NULL;
}

FILE *freopen(const char *restrict path, const char *restrict mode, FILE *restrict f) { return reopen((void *)real(freopen), "freopen", path, mode, f); }
FILE *freopen64(const char *restrict path, const char *restrict mode, FILE *restrict f) { return reopen((void *)real(freopen64), "freopen64", path, mode, f); }

#define STREAMS "change the standard streams of the simulator"

int dup2(int from, int to) {
	if (to >= STDIN_FILENO && to <= STDERR_FILENO)
		gigarank_forbid("dup2", STREAMS);
	return real(dup2)(from, to);
}

int dup3(int from, int to, int flags) {
	if (to >= STDIN_FILENO && to <= STDERR_FILENO)
		gigarank_forbid("dup3", STREAMS);
	return real(dup3)(from, to, flags);
}

/* --- text that is printed to a descriptor --------------------------------------------------------------- */

/* print_to writes a text of n bytes to a standard stream's file by the runtime's write. */
static int print_to(int file, char *text, int n) {
	if (n < 0)
		return -1;
	ssize_t written = write(file, text, (size_t)n);
	free(text);
	return written < 0 ? -1 : n;
}

static int is_ours(int file) { return gigarank_running() && (file == STDOUT_FILENO || file == STDERR_FILENO); }

int vdprintf(int file, const char *restrict format, va_list list) {
	char *text = NULL;
	if (!is_ours(file))
		return real(vdprintf)(file, format, list);
	int n = vasprintf(&text, format, list);
	return print_to(file, text, n);
}

int dprintf(int file, const char *restrict format, ...) {
	va_list list;
	va_start(list, format);
	int n = vdprintf(file, format, list);
	va_end(list);
	return n;
}

/* The names of checked calls. */
int __vasprintf_chk(char **text, int flag, const char *format, va_list list);
int __vdprintf_chk(int file, int flag, const char *format, va_list list);
int __dprintf_chk(int file, int flag, const char *format, ...);

int __vdprintf_chk(int file, int flag, const char *format, va_list list) {
	char *text = NULL;
	if (!is_ours(file))
		return real(__vdprintf_chk)(file, flag, format, list);
	int n = __vasprintf_chk(&text, flag, format, list);
	return print_to(file, text, n);
}

int __dprintf_chk(int file, int flag, const char *format, ...) {
	va_list list;
	va_start(list, format);
	int n = __vdprintf_chk(file, flag, format, list);
	va_end(list);
	return n;
}

/* --- standard input ------------------------------------------------------------------------------ */

/* Rank 0 reads the standard input. Other ranks find its end, as under mpirun. */
static int at_end(int file) {
	struct gigarank_engine *e = gigarank_current;
	struct gigarank_rank *r = gigarank_running();
	return file == STDIN_FILENO && r && (e->first + (r - e->ranks) != 0 || gigarank_has_closed(r, STDIN_FILENO));
}

static int ended(FILE *f) { return f == stdin && at_end(STDIN_FILENO); }

ssize_t read(int file, void *to, size_t bytes) { return at_end(file) ? 0 : real(read)(file, to, bytes); }

#undef getc
#undef getchar
#undef feof

#define AT_END(type, name, parameters, arguments, stream, at) \
	type name parameters { return ended(stream) ? (at) : real(name) arguments; }

AT_END(int, fgetc, (FILE *f), (f), f, EOF)
AT_END(int, getc, (FILE *f), (f), f, EOF)
AT_END(int, getchar, (void), (), stdin, EOF)
AT_END(int, getc_unlocked, (FILE *f), (f), f, EOF)
AT_END(int, getchar_unlocked, (void), (), stdin, EOF)
AT_END(char *, fgets, (char *restrict s, int n, FILE *restrict f), (s, n, f), f, NULL)
AT_END(size_t, fread, (void *restrict p, size_t size, size_t n, FILE *restrict f), (p, size, n, f), f, 0)
AT_END(ssize_t, getline, (char **restrict p, size_t *restrict n, FILE *restrict f), (p, n, f), f, -1)
AT_END(ssize_t, getdelim, (char **restrict p, size_t *restrict n, int end, FILE *restrict f), (p, n, end, f), f, -1)
AT_END(int, feof, (FILE *f), (f), f, 1)

/* The names of checked calls. */
char *__fgets_chk(char *s, size_t room, int n, FILE *f);
char *__fgets_chk(char *s, size_t room, int n, FILE *f) { return ended(f) ? NULL : real(__fgets_chk)(s, room, n, f); }
size_t __fread_chk(void *p, size_t room, size_t size, size_t n, FILE *f);
size_t __fread_chk(void *p, size_t room, size_t size, size_t n, FILE *f) { return ended(f) ? 0 : real(__fread_chk)(p, room, size, n, f); }
ssize_t __read_chk(int file, void *to, size_t bytes, size_t room);
ssize_t __read_chk(int file, void *to, size_t bytes, size_t room) { return at_end(file) ? 0 : real(__read_chk)(file, to, bytes, room); }

typedef int scan(FILE *, const char *, va_list);

/* SCANS defines a family of scanf. Headers choose a family by the standard of C that the program is compiled for. */
#define SCANS(family, prefix) \
	int family##_vfscanf(FILE *f, const char *format, va_list list) __asm__(prefix "vfscanf"); \
	int family##_vscanf(const char *format, va_list list) __asm__(prefix "vscanf"); \
	int family##_fscanf(FILE *f, const char *format, ...) __asm__(prefix "fscanf"); \
	int family##_scanf(const char *format, ...) __asm__(prefix "scanf"); \
	int family##_vfscanf(FILE *f, const char *format, va_list list) { \
		static scan *real_; \
		if (!real_ && !(real_ = (scan *)dlsym(RTLD_NEXT, prefix "vfscanf"))) \
			real_ = (scan *)dlsym(RTLD_NEXT, "vfscanf"); \
		return ended(f) ? EOF : real_(f, format, list); \
	} \
	int family##_vscanf(const char *format, va_list list) { return family##_vfscanf(stdin, format, list); } \
	int family##_fscanf(FILE *f, const char *format, ...) { \
		va_list list; \
		va_start(list, format); \
		int n = family##_vfscanf(f, format, list); \
		va_end(list); \
		return n; \
	} \
	int family##_scanf(const char *format, ...) { \
		va_list list; \
		va_start(list, format); \
		int n = family##_vfscanf(stdin, format, list); \
		va_end(list); \
		return n; \
	}

SCANS(plain, "")
SCANS(since99, "__isoc99_")
SCANS(since23, "__isoc23_")
