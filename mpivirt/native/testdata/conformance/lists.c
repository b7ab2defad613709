/* Waits for any of long lists, which change from call to call. With the argument log, the program
 * prints what each call finds and when; with a further one, it hands in the active requests only. */
#include "check.h"

enum { LENGTH = 400, TAGS = 150, MOST = 200, TAIL = 900, LAST = 901, UNUSED = 902 };

static MPI_Request list[LENGTH], out[8 * LENGTH], persistent;
static int what[LENGTH], outs; /* tag of a receive; other operations have -1 */
static int got[TAGS], found[TAGS];
static int length, next, partner, quiet, brief;
static unsigned state;

static int number(int below) {
	state = state * 1664525u + 1013904223u;
	return (int)((state >> 8) % (unsigned)below);
}

static int is_active(int place) {
	return list[place] != MPI_REQUEST_NULL && list[place] != persistent;
}

static int actives(void) {
	int n = 0;
	for (int i = 0; i < length; i++)
		n += is_active(i);
	return n;
}

static void start(int place) {
	static const int zero = 0;
	static int nothing;
	if (is_active(place) || actives() >= MOST)
		return;
	what[place] = -1;
	switch (number(8)) {
	case 0: MPI_Isend(&zero, 1, MPI_INT, partner, TAIL, MPI_COMM_WORLD, &list[place]); break;
	case 1: MPI_Isend(&zero, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &list[place]); break;
	case 2: MPI_Irecv(&nothing, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &list[place]); break;
	default:
		if (next < TAGS) {
			what[place] = next;
			MPI_Irecv(&got[next], 1, MPI_INT, number(3) ? partner : MPI_ANY_SOURCE, next, MPI_COMM_WORLD, &list[place]);
			next++;
		}
	}
}

static void complete(int tag, const MPI_Status *status) {
	if (tag < 0)
		return;
	EXPECT(got[tag] == 1000 * partner + tag);
	EXPECT(!status || (status->MPI_TAG == tag && status->MPI_SOURCE == partner));
	found[tag]++;
}

/* any calls one of the four functions, and stores the places that it has found. */
static int any(int how, int places[]) {
	static MPI_Request some[LENGTH], *handed;
	static MPI_Status statuses[LENGTH];
	int from[LENGTH], n = 0, flag = 1;
	for (int i = 0; i < length; i++)
		if (is_active(i))
			some[n] = list[i], from[n++] = i;
	if (!brief)
		n = length;
	handed = brief ? some : list;
	int all = n;
	n = 1;
	switch (how) {
	case 0: MPI_Waitany(all, handed, places, statuses); break;
	case 1: MPI_Testany(all, handed, places, &flag, statuses); break;
	case 2: MPI_Waitsome(all, handed, &n, places, statuses); break;
	case 3: MPI_Testsome(all, handed, &n, places, statuses); break;
	}
	if (!flag || n == MPI_UNDEFINED || (n == 1 && places[0] == MPI_UNDEFINED))
		n = 0;
	for (int i = 0; i < n; i++) {
		EXPECT(handed[places[i]] == MPI_REQUEST_NULL);
		if (brief)
			places[i] = from[places[i]];
		list[places[i]] = MPI_REQUEST_NULL;
		complete(what[places[i]], &statuses[i]);
	}
	return n;
}

static void change(int how, const int places[], int n) {
	int at = number(length), last = length - 1;
	switch (how) {
	case 0:
		for (int i = 0; i < n; i++)
			start(places[i]);
		break;
	case 1: start(at); break;
	case 2: /* it is waited for at the end */
		if (is_active(at) && what[at] < 0)
			out[outs++] = list[at], list[at] = MPI_REQUEST_NULL;
		break;
	case 3:
		if (is_active(at)) {
			MPI_Wait(&list[at], MPI_STATUS_IGNORE);
			complete(what[at], NULL);
		}
		break;
	case 4: /* as a program that keeps its active requests together */
		if (!is_active(at) && length > 256) {
			list[at] = list[last], what[at] = what[last];
			list[last] = MPI_REQUEST_NULL;
			length--;
		}
		break;
	case 5:
		if (length < LENGTH) {
			list[length++] = MPI_REQUEST_NULL;
			start(length - 1);
		}
		break;
	case 6: list[at] = is_active(at) ? list[at] : persistent; break;
	case 7: {
		static const int zero = 0;
		MPI_Isend(&zero, 1, MPI_INT, partner, TAIL, MPI_COMM_WORLD, &out[outs++]);
		break;
	}
	}
}

static void receive(int seed) {
	int first = number(MOST), kinds = 1 + number(8), calls = 1 + number(4), places[LENGTH];
	for (int i = 0; i < LENGTH; i++)
		list[i] = MPI_REQUEST_NULL;
	length = 256 + number(LENGTH - 256), next = outs = 0;
	memset(got, 0, sizeof got), memset(found, 0, sizeof found);
	for (int i = 0; i < first; i++)
		start(number(length));
	for (int k = 0; k < 4 * TAGS; k++) {
		int how = number(calls), n = any(how, places);
		if (!quiet) {
			printf("rank %d, list %d, call %d, %d: at %.12f", rank, seed, k, how, MPI_Wtime());
			for (int i = 0; i < n; i++)
				printf(" %d", places[i]);
			printf("\n");
		}
		if (seed == 3 && k == 2 * TAGS)
			for (int i = 0; i < length; i++) {
				int flag;
				if (is_active(i))
					MPI_Request_get_status(list[i], &flag, MPI_STATUS_IGNORE);
			}
		change(number(kinds), places, n);
	}
	for (int i = 0; i < length; i++)
		if (is_active(i)) {
			MPI_Wait(&list[i], MPI_STATUS_IGNORE);
			complete(what[i], NULL);
		}
	MPI_Waitall(outs, out, MPI_STATUSES_IGNORE);
	for (; next < TAGS; next++) {
		MPI_Recv(&got[next], 1, MPI_INT, partner, next, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		complete(next, NULL);
	}
	int once = 1;
	for (int i = 0; i < TAGS; i++)
		once &= found[i] == 1;
	CHECK(once);
}

static int values[TAGS];

static void deliver(int later, MPI_Request requests[]) {
	int order[TAGS], flag;
	for (int i = 0; i < TAGS; i++) {
		int at = number(i + 1);
		order[i] = order[at], order[at] = i;
	}
	for (int i = 0; i < TAGS; i++) {
		values[i] = 1000 * rank + order[i];
		for (int polls = later ? 0 : number(4); polls > 0; polls--)
			MPI_Iprobe(rank, UNUSED, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		if (later)
			MPI_Isend(&values[i], 1, MPI_INT, partner, order[i], MPI_COMM_WORLD, &requests[i]);
		else
			MPI_Send(&values[i], 1, MPI_INT, partner, order[i], MPI_COMM_WORLD);
	}
}

/* drain receives the messages at the end of which the partner has sent one with another tag. */
static void drain(void) {
	MPI_Status status;
	int value;
	do
		MPI_Recv(&value, 1, MPI_INT, partner, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
	while (status.MPI_TAG == TAIL);
}

int main(int argc, char **argv) {
	int none = 0;
	MPI_Request sends[TAGS], end;
	begin(&argc, &argv);
	quiet = argc < 2, brief = argc > 2;
	partner = (rank ^ 1) < size ? rank ^ 1 : rank;
	MPI_Recv_init(&none, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &persistent);
	for (int seed = 0; seed < 8; seed++) {
		state = (unsigned)(10 * seed + rank);
		if (partner == rank) {
			deliver(1, sends);
			receive(seed);
			MPI_Waitall(TAGS, sends, MPI_STATUSES_IGNORE);
			MPI_Isend(&none, 1, MPI_INT, rank, LAST, MPI_COMM_WORLD, &end);
			drain();
			MPI_Wait(&end, MPI_STATUS_IGNORE);
			continue;
		}
		for (int turn = 0; turn < 2; turn++)
			if (turn == (rank & 1)) {
				deliver(0, NULL);
				drain();
			} else {
				receive(seed);
				MPI_Send(&none, 1, MPI_INT, partner, LAST, MPI_COMM_WORLD);
			}
	}
	MPI_Request_free(&persistent);
	return finish("lists");
}
