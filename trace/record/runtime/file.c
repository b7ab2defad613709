/* The file of a task, in the format of package trace: a header, notes, and blocks of operations. */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BUFFER = BLOCK_BYTES + (FIELDS + 2) * 10 + 3 * 10 * MOST_LISTED };

static struct {
	int file;
	int64_t at;                 /* bytes of sound records */
	unsigned char *buffer, *to; /* the block, and its end */
	int64_t first, count;       /* of the operations in the block */
	int64_t last[SCALARS];      /* values to which operations of the block refer */
	uint32_t lists[FIELDS - SCALARS]; /* places of the latest lists, plus 1 */
	char text[128 << 10];       /* of a header or note */
} out = {.file = -1};

/* Problems and remarks of the task, as the note has them. */
static char problems[16][256];
static int problem_count;

void *room(size_t bytes) {
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* note_problem keeps a problem for the note, and says it. */
static void note_problem(const char *format, va_list arguments) {
	char *p = problems[problem_count < 16 ? problem_count++ : 15];
	vsnprintf(p, sizeof problems[0], format, arguments);
	fprintf(stderr, "gigatrace: task %d: %s\n", task.rank, p);
}

void tell(const char *format, ...) {
	va_list arguments;
	va_start(arguments, format);
	note_problem(format, arguments);
	va_end(arguments);
}

void stop(const char *format, ...) {
	task.stopped = 1, task.on = 0;
	va_list arguments;
	va_start(arguments, format);
	note_problem(format, arguments);
	va_end(arguments);
}

/* setting returns the value of a setting of the variable GIGATRACE, as in dir=d,from=10; NULL for none. */
const char *setting(const char *name, size_t *length) {
	const char *s = getenv("GIGATRACE");
	size_t n = strlen(name);
	while (s && *s) {
		size_t all = strcspn(s, ",");
		if (all > n && strncmp(s, name, n) == 0 && s[n] == '=') {
			*length = all - n - 1;
			return s + n + 1;
		}
		s += all + (s[all] == ',');
	}
	return NULL;
}

/* --- checksums ---------------------------------------------------------------------- */

static uint32_t crc_table[256];

static void make_crc_table(void) {
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ 0x82f63b78 : c >> 1;
		crc_table[i] = c;
	}
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc_by_processor(uint32_t c, const unsigned char *p, size_t n) {
	uint64_t wide = c;
	for (; n >= 8; n -= 8, p += 8) {
		uint64_t v;
		memcpy(&v, p, 8);
		wide = _mm_crc32_u64(wide, v);
	}
	c = (uint32_t)wide;
	for (; n; n--)
		c = _mm_crc32_u8(c, *p++);
	return c;
}
#endif

/* crc continues a CRC-32C, which begins and ends with all bits inverted. */
static uint32_t crc(uint32_t c, const void *data, size_t n) {
	const unsigned char *p = data;
#if defined(__x86_64__)
	if (__builtin_cpu_supports("sse4.2"))
		return crc_by_processor(c, p, n);
#endif
	for (; n; n--)
		c = crc_table[(c ^ *p++) & 255] ^ c >> 8;
	return c;
}

/* --- records ------------------------------------------------------------------------ */

static inline unsigned char *put(unsigned char *p, uint64_t v) {
	for (; v >= 128; v >>= 7)
		*p++ = (unsigned char)(v | 128);
	*p++ = (unsigned char)v;
	return p;
}

static inline uint64_t zigzag(int64_t v) { return (uint64_t)v << 1 ^ (uint64_t)(v >> 63); }
static inline unsigned char *put_signed(unsigned char *p, int64_t v) { return put(p, zigzag(v)); }

/* write_all writes pieces, and reports whether it could. */
static int write_all(struct iovec *v, int n) {
	while (n) {
		ssize_t done = writev(out.file, v, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return 0;
		for (; n && (size_t)done >= v->iov_len; v++, n--)
			done -= (ssize_t)v->iov_len;
		if (n)
			v->iov_base = (char *)v->iov_base + done, v->iov_len -= (size_t)done;
	}
	return 1;
}

/* write_record writes a record. If it cannot, what was written of it is cut off, and the recording stops. */
static void write_record(char kind, const void *head, size_t head_length, const void *rest, size_t rest_length) {
	unsigned char begin[16] = {0xa5, 'g', 'R', (unsigned char)kind}, end[4];
	size_t n = (size_t)(put(begin + 4, head_length + rest_length) - begin);
	uint32_t sum = ~crc(crc(crc(~0u, begin, n), head, head_length), rest, rest_length);
	for (int i = 0; i < 4; i++)
		end[i] = (unsigned char)(sum >> 8 * i);
	struct iovec v[] = {{begin, n}, {(void *)(uintptr_t)head, head_length}, {(void *)(uintptr_t)rest, rest_length}, {end, 4}};
	if (write_all(v, 4)) {
		out.at += (int64_t)(n + head_length + rest_length + 4);
		return;
	}
	int error = errno;
	if (ftruncate(out.file, out.at) == 0)
		(void)lseek(out.file, out.at, SEEK_SET);
	if (!task.stopped)
		stop("the recording stops after %lld operations: %s", (long long)out.first, strerror(error));
}

/* write_text writes a record of the text. */
static void write_text(char kind, int length) {
	if (length > 0 && length < (int)sizeof out.text)
		write_record(kind, NULL, 0, out.text, (size_t)length);
}

/* --- texts -------------------------------------------------------------------------- */

/* A text that grows, as far as it has room. */
struct text { char *to; int n, room; };

static void add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *format, ...) {
	va_list arguments;
	va_start(arguments, format);
	int n = vsnprintf(t->to + t->n, (size_t)(t->room - t->n), format, arguments);
	va_end(arguments);
	t->n = t->n + n < t->room ? t->n + n : t->room - 1;
}

/* add_string adds a string of JSON. Bytes that are no printable ASCII become \u00XX. */
static void add_string(struct text *t, const char *s, size_t length) {
	add(t, "\"");
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)s[i];
		if (c == '"' || c == '\\')
			add(t, "\\%c", c);
		else if (c < 32 || c > 126)
			add(t, "\\u%04x", c);
		else
			add(t, "%c", c);
	}
	add(t, "\"");
}

static void write_header(void) {
	char arguments[32 << 10], path[4096], version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	struct text t = {out.text, 0, sizeof out.text};
	int length = 0, file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? 0 : read(file, arguments, sizeof arguments - 1);
	if (file >= 0)
		close(file);
	n = n < 0 ? 0 : n;
	arguments[n] = 0;
	ssize_t of_path = readlink("/proc/self/exe", path, sizeof path);
	add(&t, "{\"version\":%d,\"origin\":\"real\",\"tasks\":%d,\"program\":", VERSION, task.size);
	add_string(&t, path, of_path < 0 ? 0 : (size_t)of_path);
	add(&t, ",\"arguments\":[");
	for (size_t at = strlen(arguments) + 1, first = at; at < (size_t)n; at += strlen(arguments + at) + 1) {
		add(&t, at == first ? "" : ",");
		add_string(&t, arguments + at, strlen(arguments + at));
	}
	add(&t, "]");
	size_t digits;
	const char *digest = setting("sha256", &digits);
	if (digest) {
		add(&t, ",\"sha256\":");
		add_string(&t, digest, digits);
	}
	next.get_library_version(version, &length);
	add(&t, ",\"library\":");
	add_string(&t, version, strcspn(version, "\n,"));
	add(&t, ",\"units\":{\"time\":\"ps\",\"size\":\"B\"},\"recorder\":\"libgigatrace " RECORDER "\"}");
	write_text('H', t.n);
}

static int64_t ended_at, started_at, cpu_started, cpu_ended, wall_started;

/* start_time begins the run time of the task. */
void start_time(void) { cpu_started = cpu_clock(), started_at = (int64_t)ticks(); }

/* write_note writes the note of the beginning of the task, or of its end. */
void write_note(int begins) {
	char host[256] = "";
	gethostname(host, sizeof host - 1);
	struct text t = {out.text, 0, sizeof out.text};
	add(&t, "{\"task\":%d,\"host\":", task.rank);
	add_string(&t, host, strlen(host));
	if (begins) {
		struct timespec now;
		clock_gettime(CLOCK_REALTIME, &now);
		wall_started = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
		add(&t, ",\"started_ns\":%lld,\"begins\":true}", (long long)wall_started);
		write_text('T', t.n);
		return;
	}
	static const char *const modes[] = {"trace", "count", "light"};
	add(&t, ",\"started_ns\":%lld,\"mode\":\"%s\",\"took_ns\":%lld,\"cpu_ns\":%lld,\"operations\":%lld,\"functions\":{", (long long)wall_started, modes[task.mode],
		(long long)nanoseconds((uint64_t)(ended_at - started_at)), (long long)(cpu_ended - cpu_started), (long long)task.operations);
	const char *between = "";
	for (struct function **f = __start_gigatrace; f < __stop_gigatrace; f++)
		if ((*f)->calls) {
			add(&t, "%s\"%s\":{\"calls\":%lld,\"ns\":%lld", between, (*f)->name, (long long)(*f)->calls, (long long)nanoseconds((uint64_t)(*f)->ticks));
			if ((*f)->bytes)
				add(&t, ",\"bytes\":%lld", (long long)(*f)->bytes);
			if ((*f)->unrecorded)
				add(&t, ",\"unrecorded\":%lld", (long long)(*f)->unrecorded);
			if ((*f)->failed)
				add(&t, ",\"failed\":%lld", (long long)(*f)->failed);
			add(&t, "}");
			between = ",";
		}
	add(&t, "},\"counters\":{");
	t.n += write_counters(t.to + t.n, t.room - t.n);
	add(&t, "},\"remarks\":[");
	t.n += write_remarks(t.to + t.n, t.room - t.n);
	add(&t, "],\"problems\":[");
	for (int i = 0; i < problem_count; i++) {
		add(&t, i ? "," : "");
		add_string(&t, problems[i], strlen(problems[i]));
	}
	add(&t, "]}");
	write_text('T', t.n);
}

/* open_file opens the file of the task, and reports whether it could. */
int open_file(void) {
	char name[4096];
	size_t length;
	const char *dir = setting("dir", &length);
	if (!dir)
		dir = "gigatrace", length = strlen(dir);
	make_crc_table();
	int n = snprintf(name, sizeof name, "%.*s", (int)length, dir);
	if (mkdir(name, 0777) && errno != EEXIST) {
		tell("%s: %s: nothing is recorded", name, strerror(errno));
		return 0;
	}
	snprintf(name + n, sizeof name - (size_t)n, "/task-%07d.grt", task.rank);
	out.file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	out.buffer = out.to = room(BUFFER);
	if (out.file < 0 || !out.buffer) {
		tell("%s: %s: nothing is recorded", name, strerror(errno));
		return 0;
	}
	struct iovec beginning = {(void *)(uintptr_t) "\x89grt\r\n\x1a\n", 8};
	if (!write_all(&beginning, 1)) {
		tell("%s: %s: nothing is recorded", name, strerror(errno));
		return 0;
	}
	out.at = 8;
	write_header();
	write_note(1);
	return !task.stopped;
}

/* flush_file writes the block. */
void flush_file(void) {
	unsigned char head[64], *p = head;
	size_t size = (size_t)(out.to - out.buffer);
	if (!out.count || task.stopped)
		return;
	p = put(put(put(p, (uint64_t)task.rank), (uint64_t)out.first), (uint64_t)out.count);
	*p++ = 0;
	p = put(p, size);
	write_record('B', head, (size_t)(p - head), out.buffer, size);
	out.first += out.count;
	task.wrote = 1;
	forget_block();
}

/* forget_block empties the block. */
void forget_block(void) {
	out.count = 0, out.to = out.buffer;
	memset(out.last, 0, sizeof out.last);
	memset(out.lists, 0, sizeof out.lists);
}

/* end_file ends the file. */
void end_file(void) {
	flush_file();
	ended_at = (int64_t)ticks(), cpu_ended = cpu_clock();
	write_note(0);
	if (close(out.file) && !task.stopped)
		tell("the file may be incomplete: %s", strerror(errno));
	out.file = -1;
}

/* --- operations --------------------------------------------------------------------- */

static inline int rare(int f) { return f == FIELD_Form || f == FIELD_Message || f == FIELD_Times || f >= FIELD_Took; }

static inline int64_t predicted(const struct operation *o, int f) {
	switch (f) {
	case FIELD_Wall:
		return o->v[FIELD_CPU];
	case FIELD_GotSource:
		return o->v[FIELD_Source];
	case FIELD_GotTag:
		return o->v[FIELD_SourceTag];
	}
	return rare(f) ? 0 : out.last[f];
}

/* put_time puts nanoseconds. */
static inline unsigned char *put_time(unsigned char *p, int64_t ns) { return put(p, (uint64_t)ns << 1); }

static unsigned char *put_list(unsigned char *p, const struct list *l) {
	p = put(p, (uint64_t)l->n);
	for (int64_t i = 0, before = 0; i < l->n; before = l->at[i++])
		p = put_signed(p, l->at[i] - before);
	return p;
}

/* put_name puts the name of a mark, a byte an element. */
static unsigned char *put_name(unsigned char *p, const struct list *l) {
	p = put(p, (uint64_t)l->n);
	for (int64_t i = 0; i < l->n; i++)
		*p++ = (unsigned char)l->at[i];
	return p;
}

/* repeated reports whether a list is the latest of its field in the block. It may write behind the block. */
static int repeated(const struct list *l, int f) {
	uint32_t place = out.lists[f - SCALARS];
	if (l->n == 0)
		return place == 0;
	if (l->n > REPEATED || place == 0)
		return 0;
	unsigned char *end = f == FIELD_Name ? put_name(out.to, l) : put_list(out.to, l);
	size_t n = (size_t)(end - out.to);
	const unsigned char *before = out.buffer + place - 1;
	return before + n <= out.to && memcmp(before, out.to, n) == 0;
}

/* append_fields appends an operation of a class. Where the class is a constant, so are its fields. */
static inline __attribute__((always_inline)) void append_fields(const struct operation *o, int class) {
	const int n = layouts[class].n;
	uint64_t mask = 0;
#pragma GCC unroll 16
	for (int i = 0; i < n; i++) {
		int f = layouts[class].field[i];
		if (f < SCALARS ? o->v[f] != predicted(o, f) : !repeated(&o->list[f - SCALARS], f))
			mask |= 1ull << i;
	}
	unsigned char *p = out.to;
	*p++ = (unsigned char)o->function;
	p = put(p, mask);
#pragma GCC unroll 16
	for (int i = 0; i < n; i++) {
		int f = layouts[class].field[i], is_named = mask >> i & 1;
		if (f < SCALARS) {
			if (is_named && (f == FIELD_CPU || f == FIELD_Wall || f == FIELD_Took))
				p = put_time(p, o->v[f]);
			else if (is_named)
				p = put_signed(p, o->v[f] - predicted(o, f));
			if (f < FIELD_Took)
				out.last[f] = o->v[f];
		} else if (is_named) {
			const struct list *l = &o->list[f - SCALARS];
			out.lists[f - SCALARS] = l->n ? (uint32_t)(p - out.buffer) + 1 : 0;
			p = f == FIELD_Name ? put_name(p, l) : put_list(p, l);
		}
	}
	out.to = p;
}

/* append_operation appends an operation to the block, and writes the block if it is full. */
void append_operation(const struct operation *o) {
	switch (class_of[o->function]) {
	case CLASS_SEND:
		append_fields(o, CLASS_SEND);
		break;
	case CLASS_RECEIVE:
		append_fields(o, CLASS_RECEIVE);
		break;
	case CLASS_WAIT:
		append_fields(o, CLASS_WAIT);
		break;
	case CLASS_COLLECTIVE:
		append_fields(o, CLASS_COLLECTIVE);
		break;
	default:
		append_fields(o, class_of[o->function]);
	}
	out.count++;
	task.operations++;
	if (out.to - out.buffer < BLOCK_BYTES)
		return;
	if (out.to - out.buffer > MOST_BYTES)
		stop("an operation takes more than %d bytes: it has too many counts", MOST_BYTES);
	flush_file();
}

void append_burst(int64_t cpu, int64_t wall) {
	unsigned char *p = out.to;
	*p++ = FUNCTION_burst;
	*p++ = (unsigned char)((cpu != out.last[FIELD_CPU]) | (wall != cpu) << 1);
	if (cpu != out.last[FIELD_CPU])
		p = put_time(p, cpu);
	if (wall != cpu)
		p = put_time(p, wall);
	out.last[FIELD_CPU] = cpu, out.last[FIELD_Wall] = wall;
	out.to = p;
	out.count++;
	task.operations++;
}
