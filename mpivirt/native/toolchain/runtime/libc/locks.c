/* The lock of a file of counts, which gcov and compilers read. */
#define _GNU_SOURCE
#include "rank/running.h"

#include <fcntl.h>
#include <stdarg.h>

/* __wrap_fcntl is what programs that count have for fcntl. They add the counts of a rank to those in a file at the rank's
 * end, and lock it meanwhile. A lock of a process does not keep the ranks of its other engines out: one of an open file
 * description does, and also those of other processes. */
int __wrap_fcntl(int file, int command, ...) {
	va_list list;
	va_start(list, command);
	void *given = va_arg(list, void *);
	va_end(list);
	if (gigarank_running() && (command == F_SETLK || command == F_SETLKW)) {
		struct flock lock = *(struct flock *)given;
		lock.l_pid = 0;
		return fcntl(file, command == F_SETLK ? F_OFD_SETLK : F_OFD_SETLKW, &lock);
	}
	return fcntl(file, command, given);
}
