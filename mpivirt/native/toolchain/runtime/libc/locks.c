/* The lock of a file of coverage counts, which gcov and compilers read. */
#define _GNU_SOURCE
#include "rank/running.h"

#include <fcntl.h>
#include <stdarg.h>

/* __wrap_fcntl stands for fcntl in programs that measure coverage. At the end of a rank they lock a file and add the counts of the
 * rank to the counts there. A lock of the process does not keep out the ranks of its other engines. A lock of an open file
 * description does, and keeps out ranks of other processes too. */
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
