/* A rank's own environment, and the names and numbers of its process and host. */
#define _GNU_SOURCE
#include "libc/environment.h"
#include "libc/launchers.h"
#include "libc/process.h"
#include "rank/programs.h"
#include "rank/ranks.h"
#include "rank/real.h"
#include "rank/running.h"
#include "rank/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>

/* --- environment --------------------------------------------------------------------------- */

/* A rank that changes its environment has one of its own. A value is the rank's own as soon as
 * it asks for it, since programs take values apart in place. Programs that use the variable environ have it
 * among their variables (see environ.c), and ranks that start threads or processes have an environment for these. */

static char **variable(char **list, const char *name, size_t length) {
	for (; list && *list; list++)
		if (**list == *name && strncmp(*list, name, length) == 0 && (*list)[length] == '=')
			return list;
	return NULL;
}

/* own_entry returns a rank's copy of an entry. */
static char *own_entry(struct gigarank_process *p, const char *entry, size_t length) {
	for (struct gigarank_value *v = p->values; v; v = v->next)
		if (strncmp(v->entry, entry, length + 1) == 0)
			return v->entry;
	size_t size = strlen(entry) + 1;
	struct gigarank_value *v = malloc(sizeof *v + size);
	if (!v)
		gigarank_fatal("gigarank: no memory for the environment of a rank\n");
	v->next = p->values, p->values = v;
	return memcpy(v->entry, entry, size);
}

/* told_entry returns a rank's entry of a variable that launchers set. */
static char *told_entry(struct gigarank_rank *r, int i) {
	char entry[GIGARANK_LAUNCHER_ROOM];
	gigarank_launcher_entry(r, i, entry, sizeof entry);
	return own_entry(gigarank_process(r), entry, strcspn(entry, "="));
}

/* copy makes a list the rank's own, with room for further entries. */
static void copy(struct gigarank_process *p, char **list, size_t further) {
	size_t n = 0;
	while (list && list[n])
		n++;
	char **own = calloc(n + further + 16, sizeof *own);
	if (!own)
		gigarank_fatal("gigarank: no memory for the environment of a rank\n");
	if (n)
		memcpy(own, list, n * sizeof *own);
	free(p->environment);
	p->environment = own, p->environment_room = n + further + 16;
}

/* named returns the address of the running program's variable environ, NULL if it has no such variable. */
static char ***named(void) { return gigarank_current->program->environment; }

char **gigarank_environment(struct gigarank_rank *r) {
	struct gigarank_process *p = gigarank_process(r);
	if (!p->environment) {
		copy(p, gigarank_current->environment, GIGARANK_LAUNCHER_VARIABLES);
		size_t n = 0;
		while (p->environment[n])
			n++;
		for (int i = 0; i < GIGARANK_LAUNCHER_VARIABLES; i++)
			p->environment[n++] = told_entry(r, i);
	} else if (named() && *named() != p->environment) /* the program has another list there */
		copy(p, *named(), 0);
	if (named())
		*named() = p->environment;
	return p->environment;
}

char **gigarank_begin_environment(struct gigarank_rank *r) { return named() ? gigarank_environment(r) : gigarank_current->environment; }

/* enter puts an entry in the place of an entry with the same name, or at the end. */
static int enter(struct gigarank_rank *r, char *entry, size_t length, int overwrite) {
	char **list = gigarank_environment(r), **old = variable(list, entry, length);
	struct gigarank_process *p = r->process;
	if (old) {
		if (overwrite)
			*old = entry;
		return 0;
	}
	size_t n = 0;
	while (list[n])
		n++;
	if (n + 2 > p->environment_room)
		copy(p, list, p->environment_room);
	p->environment[n] = entry, p->environment[n + 1] = NULL;
	if (named())
		*named() = p->environment;
	return 0;
}

static int wrong_name(const char *name) {
	if (name && *name && !strchr(name, '='))
		return 0;
	errno = EINVAL;
	return -1;
}

/* outside is getenv where no rank runs: in a thread, or in an operation. The variables that launchers have set for the
 * simulator are not for them. */
static char *outside(const char *name, size_t length) {
	struct gigarank_process *p = gigarank_parent.engine ? gigarank_parent.engine->ranks[gigarank_parent.lp].process : NULL;
	if (gigarank_forked || !gigarank_hosted)
		return real(getenv)(name);
	if (p && p->environment) {
		char **found = variable(p->environment, name, length);
		return found ? *found + length + 1 : NULL;
	}
	return gigarank_of_launcher(name, length) < 0 ? real(getenv)(name) : NULL;
}

char *getenv(const char *name) {
	struct gigarank_rank *r = gigarank_running();
	size_t length = strlen(name);
	if (!r)
		return outside(name, length);
	char **own = named() ? *named() : r->process ? r->process->environment : NULL;
	if (!own && !named()) {
		int i = gigarank_of_launcher(name, length);
		if (i >= 0)
			return told_entry(r, i) + length + 1;
		own = gigarank_current->environment;
	}
	char **found = variable(own, name, length), **shared = found ? variable(gigarank_current->environment, name, length) : NULL;
	if (!found)
		return NULL;
	char *entry = *found;
	if (shared && *shared == entry)
		entry = own_entry(gigarank_process(r), entry, length);
	return entry + length + 1;
}

char *secure_getenv(const char *name) { return getenv(name); }

int setenv(const char *name, const char *value, int overwrite) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(setenv)(name, value, overwrite);
	if (wrong_name(name))
		return -1;
	char *entry = NULL;
	if (asprintf(&entry, "%s=%s", name, value) < 0)
		return -1;
	return enter(r, entry, strlen(name), overwrite);
}

int unsetenv(const char *name) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(unsetenv)(name);
	if (wrong_name(name))
		return -1;
	char **at = variable(gigarank_environment(r), name, strlen(name));
	for (; at && *at; at++)
		at[0] = at[1];
	return 0;
}

int putenv(char *entry) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(putenv)(entry);
	const char *end = strchr(entry, '=');
	return end ? enter(r, entry, (size_t)(end - entry), 1) : unsetenv(entry);
}

int clearenv(void) {
	struct gigarank_rank *r = gigarank_running();
	if (!r)
		return real(clearenv)();
	gigarank_environment(r)[0] = NULL;
	return 0;
}

/* --- identity -------------------------------------------------------------------------------- */

/* Each rank has a process number of its own, the same in every run. */
pid_t getpid(void) {
	struct gigarank_engine *e = gigarank_current;
	struct gigarank_rank *r = gigarank_running();
	return r ? 100 + e->first + (pid_t)(r - e->ranks) : real(getpid)();
}

int gethostname(char *name, size_t room) {
	if (!gigarank_running())
		return real(gethostname)(name, room);
	struct gigarank_call c = {.procedure = GIGARANK_NODE};
	gigarank_trap(&c);
	if ((size_t)snprintf(name, room, "node%d", c.found) < room)
		return 0;
	errno = ENAMETOOLONG;
	return -1;
}

/* The name of a checked call. */
int __gethostname_chk(char *name, size_t room, size_t all);
int __gethostname_chk(char *name, size_t room, size_t all) { return gigarank_running() ? gethostname(name, room) : real(__gethostname_chk)(name, room, all); }

int uname(struct utsname *host) {
	int failed = real(uname)(host);
	return failed || !gigarank_running() ? failed : gethostname(host->nodename, sizeof host->nodename);
}

enum { PROC = 64 }; /* bytes of a path below /proc/self */

/* in_proc returns a path with /proc/self in the place of /proc and the number of the rank, which
 * the system does not know. */
static const char *in_proc(const char *path, char room[PROC]) {
	if (!path || strncmp(path, "/proc/", 6) != 0 || !gigarank_running())
		return path;
	char own[16];
	int length = snprintf(own, sizeof own, "%d/", (int)getpid());
	if (strncmp(path + 6, own, (size_t)length) != 0)
		return path;
	return snprintf(room, PROC, "/proc/self/%s", path + 6 + length) < PROC ? room : path;
}

/* map_of_memory returns a file that lists the mappings of the process. Tools find the file and line of code
 * by it. Programs that are loaded from memory have the names of their files,
 * and libraries that are loaded so are left out. */
static int map_of_memory(void) {
	static const char in_memory[] = "/memfd:", deleted[] = " (deleted)\n";
	FILE *from = real(fopen)("/proc/self/maps", "re");
	int file = from ? memfd_create("maps", MFD_CLOEXEC) : -1;
	FILE *to = file >= 0 ? fdopen(dup(file), "w") : NULL;
	const char *program = gigarank_current->program->file, *name = strrchr(program, '/') + 1;
	size_t length = strlen(name), room = 0;
	char *line = NULL;
	while (to && real(getline)(&line, &room, from) > 0) {
		char *at = strstr(line, in_memory);
		if (!at)
			fputs(line, to);
		else if (strncmp(at + sizeof in_memory - 1, name, length) == 0 && strcmp(at + sizeof in_memory - 1 + length, deleted) == 0)
			fprintf(to, "%.*s%s\n", (int)(at - line), line, program);
	}
	free(line);
	if (from)
		real(fclose)(from);
	if (to && real(fclose)(to) == 0 && lseek(file, 0, SEEK_SET) == 0)
		return file;
	if (file >= 0)
		real(close)(file);
	return -1;
}

static int is_map(const char *path) { return path && strcmp(path, "/proc/self/maps") == 0 && gigarank_running(); }

#define FOPEN(name) \
	FILE *name(const char *restrict path, const char *restrict mode) { \
		path = in_proc(path, (char[PROC]){0}); \
		if (!is_map(path)) \
			return real(name)(path, mode); \
		int file = map_of_memory(); \
		return file < 0 ? NULL : fdopen(file, mode); \
	}
FOPEN(fopen)
FOPEN(fopen64)

/* The mode counts where a file is made. */
#define OPEN(name) \
	int name(const char *path, int flags, ...) { \
		va_list list; \
		va_start(list, flags); \
		mode_t mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0; \
		va_end(list); \
		path = in_proc(path, (char[PROC]){0}); \
		return is_map(path) ? map_of_memory() : real(name)(path, flags, mode); \
	}
OPEN(open)
OPEN(open64)

/* The program that a rank runs is not the program that its process has begun with. */
ssize_t readlink(const char *restrict path, char *restrict to, size_t room) {
	path = in_proc(path, (char[PROC]){0});
	if (!path || strcmp(path, "/proc/self/exe") != 0 || !gigarank_running())
		return real(readlink)(path, to, room);
	const char *file = gigarank_current->program->file;
	size_t length = strlen(file);
	length = length < room ? length : room;
	memcpy(to, file, length);
	return (ssize_t)length;
}

ssize_t __readlink_chk(const char *restrict path, char *restrict to, size_t room, size_t all);
ssize_t __readlink_chk(const char *restrict path, char *restrict to, size_t room, size_t all) { return room > all ? real(__readlink_chk)(path, to, room, all) : readlink(path, to, room); }
