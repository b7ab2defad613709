/* The standard output of ranks. */
#define _GNU_SOURCE
#include "libc/output.h"
#include "libc/files.h"
#include "libc/process.h"
#include "rank/running.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

static void put(struct gigarank_engine *e, const char *text, size_t n) {
	if (e->text_length + n > e->text_room)
		e->text = gigarank_enlarged(e->text, e->text_room = 2 * (e->text_length + n) + 4096);
	memcpy(e->text + e->text_length, text, n);
	e->text_length += n;
}

/* put_label puts the number of a rank at the begin of a line. */
static void put_label(struct gigarank_engine *e, struct gigarank_rank *r) {
	char label[16];
	if (e->label)
		put(e, label, (size_t)snprintf(label, sizeof label, "[%d] ", e->first + (int)(r - e->ranks)));
}

/* put_begun puts the begun line of a rank into the engine's output. */
static void put_begun(struct gigarank_engine *e, struct gigarank_rank *r) {
	if (r->line_length)
		put(e, r->line, (size_t)r->line_length);
	r->line_length = 0;
}

/* print takes bytes that a rank writes to standard output. Whole lines go to the simulator, the
 * rest waits for the end of its line. */
static ssize_t print(void *cookie, const char *text, size_t n) {
	struct gigarank_engine *e = gigarank_current;
	(void)cookie;
	if (!gigarank_running())
		return write(STDOUT_FILENO, text, n);
	struct gigarank_rank *r = e->running;
	if (r->process && gigarank_has_closed(r, STDOUT_FILENO)) {
		errno = EBADF;
		return 0;
	}
	if (r->process && gigarank_output(r))
		return (ssize_t)fwrite(text, 1, n, gigarank_output(r));
	const char *end = memrchr(text, '\n', n);
	size_t whole = end ? (size_t)(end - text) + 1 : 0, rest = n - whole;
	if (whole && !e->label) {
		put_begun(e, r);
		put(e, text, whole);
	}
	for (size_t at = 0, next; e->label && at < whole; at = next) {
		next = (size_t)((const char *)memchr(text + at, '\n', whole - at) - text) + 1;
		put_label(e, r);
		put_begun(e, r);
		put(e, text + at, next - at);
	}
	if (rest) {
		if (malloc_usable_size(r->line) < (size_t)r->line_length + rest)
			r->line = gigarank_enlarged(r->line, 2 * ((size_t)r->line_length + rest));
		memcpy(r->line + r->line_length, text + whole, rest);
		r->line_length += (int32_t)rest;
	}
	return (ssize_t)n;
}

ssize_t gigarank_print(const char *text, size_t n) { return print(NULL, text, n); }

/* gigarank_flush puts out the last line of a rank that has ended. */
void gigarank_flush(struct gigarank_engine *e, int32_t lp) {
	struct gigarank_rank *r = &e->ranks[lp];
	if (r->line_length) {
		put_label(e, r);
		put_begun(e, r);
		put(e, "\n", 1);
	}
	free(r->line);
	r->line = NULL;
	r->line_length = 0;
	free(r->saved);
	r->saved = NULL;
	gigarank_forget_process(r);
}

__attribute__((constructor)) static void take_output(void) {
	FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){.write = print});
	if (f) {
		setvbuf(f, NULL, _IONBF, 0);
		stdout = f;
	}
}
