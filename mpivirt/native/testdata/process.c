/* What a rank has of a process is its own: what other ranks do between two barriers changes none
 * of it. Each rank compares what it sees with what one process alone sees. */
#include <mpi.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <locale.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static int rank, size;
static volatile int checks, faults;

static void check(int holds, const char *what) {
	checks++;
	if (!holds) {
		faults++;
		printf("rank %d: %s\n", rank, what);
	}
}

#define CHECK(x) check((x) != 0, #x)
#define OTHERS() MPI_Barrier(MPI_COMM_WORLD)

static __thread int own_local = 5;
static __thread char own_text[40];
_Thread_local double own_sums[3] = {0.5, 1.5, 2.5};

static void thread_locals(void) {
	int *place = &own_local;
	check(own_local == 5 && own_text[0] == 0 && own_sums[2] == 2.5, "initial values of thread-local variables");
	own_local += rank;
	snprintf(own_text, sizeof own_text, "rank %d", rank);
	own_sums[0] = rank;
	OTHERS();
	MPI_Allreduce(&own_sums[0], &own_sums[1], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	char want[40];
	snprintf(want, sizeof want, "rank %d", rank);
	check(*place == 5 + rank && strcmp(own_text, want) == 0, "thread-local variables");
	check(own_sums[0] == rank && own_sums[1] == size * (size - 1) / 2.0, "thread-local buffers");
}

/* A generator of numbers gives each rank those that it gives a rank alone. */
#define ALONE(seed, next) do { \
		double alone[4]; \
		seed; \
		for (int i = 0; i < 4; i++) \
			alone[i] = (double)(next); \
		OTHERS(); \
		seed; \
		for (int i = 0; i < 4; i++) { \
			check(alone[i] == (double)(next), #next); \
			OTHERS(); \
		} \
	} while (0)

static void random_numbers(void) {
	static char state[2][64];
	unsigned short x[3] = {1, 2, (unsigned short)rank}, y[7] = {1, 2, 3, (unsigned short)rank, 5, 6, 7};
	check(rand() == 1804289383 && random() == 846930886, "the first random numbers");
	check(lrand48() == 0, "the first number of lrand48");
	OTHERS();
	ALONE(srand(100u + (unsigned)rank), rand());
	ALONE(srandom(200u + (unsigned)rank), random());
	ALONE(srand48(300 + rank), drand48());
	ALONE(srand48(rank), lrand48());
	ALONE(srand48(7 * rank), mrand48());
	ALONE(seed48(x), lrand48());
	ALONE(lcong48(y), drand48());
	char *first = initstate(5, state[0], 64);
	long a = random();
	initstate(6 + (unsigned)rank, state[1], 32);
	long b = random();
	OTHERS();
	check(setstate(state[0]) == state[1], "setstate returns the state before");
	long c = random();
	initstate(5, state[0], 64);
	check(a == random() && c == random(), "initstate, setstate");
	initstate(6 + (unsigned)rank, state[1], 32);
	CHECK(b == random());
	CHECK(setstate(first) == state[1]);
}

static void texts(void) {
	char list[64];
	snprintf(list, sizeof list, "a%d,b%d;c%d", rank, rank, rank);
	char *part = strtok(list, ",;");
	for (int i = 0; part; i++) {
		char want[8];
		snprintf(want, sizeof want, "%c%d", 'a' + i, rank);
		check(strcmp(part, want) == 0, "strtok");
		OTHERS();
		part = strtok(NULL, ",;");
	}
	time_t date = 86400 * (365 + rank);
	struct tm *tm = gmtime(&date);
	char *text = asctime(tm), *why = strerror(10000 + rank), want[64];
	OTHERS();
	check(tm->tm_year == 71 && tm->tm_mday == 1 + rank, "gmtime");
	snprintf(want, sizeof want, "Jan %2d 00:00:00 1971\n", 1 + rank);
	check(strcmp(text + 4, want) == 0, "asctime");
	snprintf(want, sizeof want, "Unknown error %d", 10000 + rank);
	check(strcmp(why, want) == 0, "strerror");
	char *address = inet_ntoa((struct in_addr){htonl((uint32_t)rank)});
	OTHERS();
	snprintf(want, sizeof want, "0.0.0.%d", rank);
	check(strcmp(address, want) == 0, "inet_ntoa");
	errno = 40 + rank;
	OTHERS();
	CHECK(errno == 40 + rank);
}

static void options(void) {
	static const struct option names[] = {{"size", required_argument, NULL, 's'}, {"quick", no_argument, NULL, 'q'}, {"level", optional_argument, NULL, 'l'}, {NULL, 0, NULL, 0}};
	char number[16], *argv[] = {"program", "file", "-abx", number, "--size=7", "--quick", "other", "--si", "8", "-l3", "--level", "-z", "--bad", "--", "-last", NULL};
	int argc = 15, found = 0;
	static const int want[] = {'a', 'b', 'x', 's', 'q', 's', 'l', 'l', '?', '?'};
	snprintf(number, sizeof number, "%d", rank);
	opterr = 0;
	CHECK(optind == 1);
	for (int c; (c = getopt_long(argc, argv, "abx:l::q", names, NULL)) != -1; found++) {
		check(found < 10 && c == want[found], "an option of getopt_long");
		if (c == 'x')
			check(optarg == number || strcmp(optarg, number) == 0, "the argument of an option");
		if (found == 3)
			CHECK(strcmp(optarg, "7") == 0);
		if (found == 5)
			CHECK(strcmp(optarg, "8") == 0);
		if (found == 6)
			CHECK(optarg && strcmp(optarg, "3") == 0);
		if (found == 7)
			CHECK(optarg == NULL);
		if (found == 8)
			CHECK(optopt == 'z');
		OTHERS();
	}
	CHECK(found == 10);
	CHECK(optind == 12);
	CHECK(strcmp(argv[12], "file") == 0 && strcmp(argv[13], "other") == 0 && strcmp(argv[14], "-last") == 0);
	char *plain[] = {"program", "-u", "value", "-v", "rest", NULL};
	optind = 0;
	CHECK(getopt(5, plain, "+u:v") == 'u' && strcmp(optarg, "value") == 0);
	OTHERS();
	CHECK(getopt(5, plain, "+u:v") == 'v');
	CHECK(getopt(5, plain, "+u:v") == -1 && optind == 4);
	char *missing[] = {"program", "-u", NULL};
	optind = 0;
	CHECK(getopt(2, missing, ":u:") == ':' && optopt == 'u');
}

static void settings(void) {
	char name[32], value[32];
	snprintf(name, sizeof name, "OF_RANK_%d", rank);
	snprintf(value, sizeof value, "is %d", rank);
	char *list = getenv("PATH");
	CHECK(list != NULL);
	list[0] = 'a' + rank; /* programs take values apart in place */
	OTHERS();
	CHECK(getenv("PATH") == list && list[0] == 'a' + rank);
	CHECK(setenv(name, value, 1) == 0 && setenv("SHARED_NAME", value, 1) == 0 && setenv("SHARED_NAME", "no", 0) == 0);
	OTHERS();
	snprintf(name, sizeof name, "OF_RANK_%d", (rank + 1) % size);
	check(size == 1 || getenv(name) == NULL, "the environment of another rank");
	CHECK(strcmp(getenv("SHARED_NAME"), value) == 0);
	CHECK(unsetenv("SHARED_NAME") == 0 && getenv("SHARED_NAME") == NULL && getenv("PATH") == list);
	char *home = getenv("HOME"); /* first asked for in an environment of its own */
	CHECK(home != NULL);
	home[0] = 'a' + rank;
	OTHERS();
	CHECK(getenv("HOME") == home && home[0] == 'a' + rank && getenv("PATH") == list && list[0] == 'a' + rank);
	CHECK(putenv("PUT=1") == 0 && strcmp(getenv("PUT"), "1") == 0);
	CHECK(setenv("a=b", "c", 1) == -1 && errno == EINVAL);

	CHECK(strcmp(setlocale(LC_ALL, NULL), "C") == 0);
	const char *mine = rank % 2 ? "C.UTF-8" : "C";
	CHECK(setlocale(LC_CTYPE, mine) != NULL);
	OTHERS();
	CHECK(strcmp(setlocale(LC_CTYPE, NULL), mine) == 0);
	CHECK(MB_CUR_MAX == (rank % 2 ? 6 : 1));
	CHECK(setlocale(LC_ALL, "none") == NULL);
	CHECK(setlocale(LC_ALL, "C") != NULL && MB_CUR_MAX == 1);

	char before[4096], path[32], there[4200];
	struct stat s;
	CHECK(getcwd(before, sizeof before) != NULL);
	snprintf(path, sizeof path, "%s", rank % 2 ? "/tmp" : "/");
	mode_t old = umask(rank % 2 ? 077 : 022);
	CHECK(chdir(path) == 0);
	OTHERS();
	CHECK(getcwd(there, sizeof there) != NULL && strcmp(there, path) == 0);
	CHECK(stat("tmp", &s) == (rank % 2 ? -1 : 0));
	CHECK(chdir("/nowhere") == -1 && errno == ENOENT);
	CHECK(umask(old) == (rank % 2 ? 077 : 022));
	CHECK(chdir(before) == 0);
	OTHERS();
	CHECK(getcwd(there, sizeof there) != NULL && strcmp(there, before) == 0);
}

/* What tells one process and one host from another. */
static void identity(const char *program) {
	char node[MPI_MAX_PROCESSOR_NAME], name[64], path[64], file[4200] = "", same[4200] = "";
	int n;
	struct utsname host;
	MPI_Get_processor_name(node, &n);
	CHECK(gethostname(name, (size_t)(n + 1)) == 0 && strcmp(name, node) == 0);
	CHECK(uname(&host) == 0 && strcmp(host.nodename, node) == 0 && strcmp(host.sysname, "Linux") == 0);
	CHECK(readlink("/proc/self/exe", file, sizeof file - 1) > 8 && file[0] == '/' && strcmp(strrchr(file, '/'), strrchr(program, '/')) == 0);
	snprintf(path, sizeof path, "/proc/%d/exe", (int)getpid());
	CHECK(readlink(path, same, sizeof same - 1) == (ssize_t)strlen(file) && strcmp(same, file) == 0);
	CHECK(readlink(path, same, 3) == 3 && memcmp(same, file, 3) == 0);
	CHECK(readlink("/proc/self/none", same, sizeof same) == -1 && errno == ENOENT);
	snprintf(path, sizeof path, "/proc/%d/status", (int)getpid());
	FILE *f = fopen(path, "r");
	CHECK(f != NULL && fgets(same, sizeof same, f) != NULL && strncmp(same, "Name:", 5) == 0);
	if (f)
		fclose(f);
	n = open(path, O_RDONLY);
	CHECK(n >= 0 && read(n, same, 5) == 5 && memcmp(same, "Name:", 5) == 0);
	close(n);
	snprintf(path, sizeof path, "/proc/%d/statuses", (int)getpid());
	CHECK(fopen(path, "r") == NULL && errno == ENOENT && open(path, O_RDONLY) == -1 && errno == ENOENT);
	snprintf(path, sizeof path, "/proc/%d/maps", (int)getpid()); /* has the program's code under its name */
	f = fopen(path, "r");
	for (n = 0; f && !n && fgets(same, sizeof same, f);) {
		unsigned long from, to;
		if (sscanf(same, "%lx-%lx", &from, &to) == 2 && from <= (unsigned long)identity && (unsigned long)identity < to)
			n = strlen(same) > strlen(file) && strncmp(same + strlen(same) - strlen(file) - 1, file, strlen(file)) == 0;
	}
	CHECK(n);
	if (f)
		fclose(f);
	double before = MPI_Wtime();
	CHECK(poll(NULL, 0, 250) == 0 && MPI_Wtime() - before > 0.2499);
}

static volatile int signals, latest;
static sigjmp_buf back;
static void count(int number) { signals++, latest = number; }
static void leap(int number) { siglongjmp(back, number); }

static void handlers(void) {
	struct sigaction a = {.sa_handler = count}, old;
	CHECK(signal(SIGUSR1, rank % 2 ? count : SIG_IGN) == SIG_DFL);
	CHECK(sigaction(SIGTERM, &a, &old) == 0 && old.sa_handler == SIG_DFL);
	OTHERS();
	CHECK(raise(SIGUSR1) == 0 && signals == rank % 2);
	CHECK(kill(getpid(), SIGTERM) == 0 && signals == 1 + rank % 2 && latest == SIGTERM);
	CHECK(signal(SIGTERM, SIG_DFL) == count);
	sigset_t one, was;
	sigemptyset(&one);
	sigaddset(&one, SIGUSR2);
	signal(SIGUSR2, count);
	latest = 0;
	CHECK(sigprocmask(SIG_BLOCK, &one, &was) == 0 && sigismember(&was, SIGUSR2) == 0);
	CHECK(raise(SIGUSR2) == 0 && latest == 0); /* it waits until it is not blocked any more */
	OTHERS();
	sigset_t waits;
	CHECK(sigpending(&waits) == 0 && sigismember(&waits, SIGUSR2) == 1 && latest == 0);
	CHECK(sigprocmask(SIG_SETMASK, &was, NULL) == 0 && latest == SIGUSR2);
	CHECK(sigpending(&waits) == 0 && sigismember(&waits, SIGUSR2) == 0);
	sigprocmask(SIG_BLOCK, &one, NULL);
	raise(SIGUSR2);
	signal(SIGUSR2, SIG_IGN); /* and is forgotten if it is ignored */
	latest = 0;
	CHECK(sigpending(&waits) == 0 && sigismember(&waits, SIGUSR2) == 0);
	CHECK(sigprocmask(SIG_UNBLOCK, &one, NULL) == 0 && latest == 0);
	signal(SIGSEGV, leap);
	volatile int *volatile nowhere = (int *)64;
	int caught = sigsetjmp(back, 1);
	if (caught == 0) {
		*nowhere = 1;
		check(0, "a fault is not found");
	}
	CHECK(caught == SIGSEGV);
	OTHERS();
	signal(SIGSEGV, SIG_DFL);
}

/* Only rank 0 has an input, of which it has read the first line. */
static void input(void) {
	char line[32] = "", rest[32] = "";
	int second = 0;
	if (rank == 0) {
		CHECK(fgets(line, sizeof line, stdin) != NULL && strcmp(line, "the first line\n") == 0);
		OTHERS();
		CHECK(scanf("%d", &second) == 1 && second == 42);
		CHECK(fgets(rest, sizeof rest, stdin) != NULL && !feof(stdin));
		return;
	}
	OTHERS();
	CHECK(fgets(line, sizeof line, stdin) == NULL && feof(stdin));
	CHECK(getchar() == EOF && scanf("%d", &second) == EOF && fread(line, 1, 4, stdin) == 0 && read(0, line, 1) == 0);
}

static int stage;
static void third(void) { printf("rank %d: end %d\n", rank, ++stage == 3); }
static void second(int code, void *what) { stage += code == 0 && what == &stage; }
static void first(void) {
	stage++;
	MPI_Finalize();
}
static void nested(void) { exit(0); }
__attribute__((constructor)) static void begin(void) { rank = -77; }
__attribute__((destructor)) static void end(void) { printf("rank %d: the destructor, %d\n", rank, stage); }

int main(int argc, char **argv) {
	int from_constructor = rank;
	static char buffer[BUFSIZ];
	setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	check(from_constructor == -77, "the constructor has run in each rank");
	thread_locals();
	random_numbers();
	texts();
	options();
	settings();
	identity(argv[0]);
	handlers();
	if (argc > 1)
		input();
	int sum[2] = {checks, faults}, all[2];
	MPI_Reduce(sum, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d checks on %d ranks, %d failed\n", all[0], size, all[1]);
	atexit(third);
	on_exit(second, &stage);
	atexit(first);
	atexit(nested);
	return 0;
}
