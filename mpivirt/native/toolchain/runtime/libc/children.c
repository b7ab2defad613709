/* Processes that a rank starts by the C library, which would give them the environment of the simulator. */
#define _GNU_SOURCE
#include "libc/environment.h"
#include "rank/real.h"
#include "rank/running.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHELL "/bin/sh"

/* start starts a shell with a command in the environment of the running rank. It returns the error. */
static int start(pid_t *child, const posix_spawn_file_actions_t *files, const posix_spawnattr_t *attributes, const char *command) {
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"--", (char *)command, NULL};
	return posix_spawn(child, SHELL, files, attributes, argv, gigarank_environment(gigarank_running()));
}

static int wait_for(pid_t child) {
	int status;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

/* A shell that cannot be started ends with 127 (POSIX, system). Signals are the simulator's, whose threads
 * have them. */
int system(const char *command) {
	if (!gigarank_running())
		return real(system)(command);
	if (!command)
		return access(SHELL, X_OK) == 0;
	pid_t child;
	int error = start(&child, NULL, NULL, command);
	return error ? 127 << 8 : wait_for(child);
}

/* A stream to or from a process. Its end here is closed in all processes that are started later: they would keep it
 * open. */
struct pipe {
	struct pipe *next;
	FILE *file;
	pid_t child;
};

static struct pipe *pipes;
static pthread_mutex_t pipes_lock = PTHREAD_MUTEX_INITIALIZER;

FILE *popen(const char *command, const char *mode) {
	if (!gigarank_running())
		return real(popen)(command, mode);
	int ends[2], reads = strchr(mode, 'r') != NULL, error;
	posix_spawn_file_actions_t files;
	struct pipe *p = NULL;
	errno = EINVAL;
	if (reads == (strchr(mode, 'w') != NULL) || pipe2(ends, O_CLOEXEC) != 0)
		return NULL;
	int own = ends[!reads], theirs = ends[reads];
	if ((p = calloc(1, sizeof *p)) && (p->file = fdopen(own, reads ? "r" : "w"))) {
		posix_spawn_file_actions_init(&files);
		posix_spawn_file_actions_adddup2(&files, theirs, reads);
		error = start(&p->child, &files, NULL, command);
		posix_spawn_file_actions_destroy(&files);
	} else
		error = ENOMEM, real(close)(own);
	real(close)(theirs);
	if (error) {
		if (p && p->file)
			real(fclose)(p->file);
		free(p);
		errno = error;
		return NULL;
	}
	pthread_mutex_lock(&pipes_lock);
	p->next = pipes, pipes = p;
	pthread_mutex_unlock(&pipes_lock);
	return p->file;
}

int pclose(FILE *file) {
	pthread_mutex_lock(&pipes_lock);
	struct pipe **link = &pipes, *p;
	while (*link && (*link)->file != file)
		link = &(*link)->next;
	if ((p = *link))
		*link = p->next;
	pthread_mutex_unlock(&pipes_lock);
	if (!p)
		return real(pclose)(file);
	pid_t child = p->child;
	free(p);
	real(fclose)(file);
	return wait_for(child);
}
