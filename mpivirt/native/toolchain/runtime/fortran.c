/* The bindings of Fortran: what those that are generated share, and those that differ from C. */
#include "fortran.h"

#include <string.h>

/* --- handles ------------------------------------------------------------------------ */

/* The handles of a rank that Fortran knows by other numbers, by number. */
struct gigarank_numbers {
	int32_t count, room;
	void *handles[];
};

static struct gigarank_numbers *numbers(void) { return gigarank_running() ? gigarank_running()->numbers : NULL; }

void *gigarank_handle_of(MPI_Fint number) {
	struct gigarank_numbers *t = numbers();
	uint32_t place = (uint32_t)number - GIGARANK_PREDEFINED;
	return t && place < (uint32_t)t->count ? t->handles[place] : (void *)(uintptr_t)(uint32_t)number;
}

MPI_Fint gigarank_number_of(void *handle) {
	struct gigarank_rank *r = gigarank_running();
	struct gigarank_numbers *t = numbers();
	int32_t count = t ? t->count : 0, place = count;
	if ((uintptr_t)handle < GIGARANK_PREDEFINED || !r)
		return (MPI_Fint)(uintptr_t)handle;
	for (int32_t i = count - 1; i >= 0; i--) {
		if (t->handles[i] == handle)
			return i + GIGARANK_PREDEFINED;
		if (!t->handles[i])
			place = i;
	}
	if (!t || place == t->room) {
		int32_t room = 2 * count + 8;
		if (!(t = realloc(t, sizeof *t + (size_t)room * sizeof *t->handles)))
			abort();
		r->numbers = t;
		t->room = room;
	}
	t->count = count + (place == count);
	t->handles[place] = handle;
	return place + GIGARANK_PREDEFINED;
}

/* gigarank_forget ends the use of a number, whose handle has been freed. */
void gigarank_forget(MPI_Fint number) {
	struct gigarank_numbers *t = numbers();
	uint32_t place = (uint32_t)number - GIGARANK_PREDEFINED;
	if (!t || place >= (uint32_t)t->count)
		return;
	t->handles[place] = NULL;
	while (t->count > 0 && !t->handles[t->count - 1])
		t->count--;
}

/* The number of a request lacks its generation: a handle of a request that is over may name a
 * later one. */
MPI_Request gigarank_request_of(MPI_Fint number) {
	struct gigarank_engine *e = gigarank_current;
	uint32_t slot = (uint32_t)number - GIGARANK_PREDEFINED;
	uintptr_t generation = e && slot < (uint32_t)e->request_count ? (uint32_t)e->requests[slot].generation : 0;
	return (MPI_Request)(generation << 32 | (uint32_t)number);
}

MPI_Fint gigarank_request_number(MPI_Request request) { return (MPI_Fint)(uint32_t)(uintptr_t)request; }

void gigarank_open_handles(MPI_Fint n, struct gigarank_handles *h) {
	MPI_Fint few = sizeof h->few / sizeof *h->few;
	h->all = h->few;
	if (n > few && !(h->all = malloc((size_t)n * sizeof *h->all)))
		abort();
	if (n > 0)
		memset(h->all, 0, (size_t)n * sizeof *h->all);
}

int gigarank_members(MPI_Comm comm) {
	int inter = 0, n = 0;
	if (PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS)
		(inter ? PMPI_Comm_remote_size : PMPI_Comm_size)(comm, &n);
	return n;
}

/* --- constants and texts -------------------------------------------------------------- */

/* place_of returns the place of an address in the common block of the program, a large one if
 * it does not lie there. */
static size_t place_of(const void *address) {
	const char *constants = gigarank_current ? gigarank_current->program->fortran_constants : NULL;
	return constants ? (size_t)((const char *)address - constants) : sizeof(struct gigarank_fortran_constants);
}

void *gigarank_buffer_of(void *address) {
	switch (place_of(address)) {
	case offsetof(struct gigarank_fortran_constants, bottom):
		return MPI_BOTTOM;
	case offsetof(struct gigarank_fortran_constants, in_place):
		return MPI_IN_PLACE;
	case offsetof(struct gigarank_fortran_constants, unweighted):
		return (void *)10;
	case offsetof(struct gigarank_fortran_constants, weights_empty):
		return (void *)11;
	}
	return address;
}

MPI_Status *gigarank_status_of(void *status) {
	size_t place = place_of(status);
	if (place == offsetof(struct gigarank_fortran_constants, status_ignore) || place == offsetof(struct gigarank_fortran_constants, statuses_ignore))
		return MPI_STATUS_IGNORE;
	return status;
}

/* gigarank_take_text stores a text without the blanks before and after it. */
void gigarank_take_text(char *to, const char *from, size_t length) {
	while (length > 0 && from[length - 1] == ' ')
		length--;
	while (length > 0 && *from == ' ')
		from++, length--;
	memcpy(to, from, length);
	to[length] = 0;
}

/* gigarank_store_text stores a text, cut off or padded with blanks. */
void gigarank_store_text(char *to, size_t length, const char *from) {
	size_t n = strlen(from);
	memset(to, ' ', length);
	memcpy(to, from, n < length ? n : length);
}

/* --- functions that differ from C ------------------------------------------------------ */

static void store(MPI_Fint *ierror, int error) {
	if (ierror)
		*ierror = error;
}

void pmpi_init_(MPI_Fint *ierror) { store(ierror, PMPI_Init(NULL, NULL)); }
GIGARANK_FORTRAN_NAMES(init)

void pmpi_init_thread_(const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror) {
	store(ierror, PMPI_Init_thread(NULL, NULL, *required, provided));
}
GIGARANK_FORTRAN_NAMES(init_thread)

void pmpi_pcontrol_(const MPI_Fint *level) { PMPI_Pcontrol(*level); }
GIGARANK_FORTRAN_NAMES(pcontrol)

double pmpi_wtime_(void) { return PMPI_Wtime(); }
GIGARANK_FORTRAN_NAMES(wtime)

double pmpi_wtick_(void) { return PMPI_Wtick(); }
GIGARANK_FORTRAN_NAMES(wtick)

void pmpi_buffer_detach_(void *buffer, MPI_Fint *size, MPI_Fint *ierror) {
	void *attached; /* mpif.h and module mpi do not return it */
	(void)buffer;
	store(ierror, PMPI_Buffer_detach(&attached, size));
}
GIGARANK_FORTRAN_NAME("mpi_buffer_detach_", "pmpi_buffer_detach_")

/* In mpi_f08 the buffer is a TYPE(C_PTR). */
void pmpi_buffer_detach_f08_(void **buffer, MPI_Fint *size, MPI_Fint *ierror) { store(ierror, PMPI_Buffer_detach(buffer, size)); }
GIGARANK_FORTRAN_NAME("mpi_buffer_detach_f08_", "pmpi_buffer_detach_f08_")

void pmpi_alloc_mem_(const MPI_Aint *size, const MPI_Fint *info, MPI_Aint *base, MPI_Fint *ierror) {
	store(ierror, PMPI_Alloc_mem(*size, gigarank_info_of(*info), base));
}
GIGARANK_FORTRAN_NAMES(alloc_mem)

/* Predefined attributes are integers, to which C has pointers. */
void pmpi_comm_get_attr_(const MPI_Fint *comm, const MPI_Fint *key, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *ierror) {
	void *found = NULL;
	store(ierror, PMPI_Comm_get_attr(gigarank_comm_of(*comm), *key, &found, flag));
	if (*flag)
		*value = *key >= MPI_TAG_UB && *key <= MPI_LASTUSEDCODE ? *(int *)found : (MPI_Aint)found;
}
GIGARANK_FORTRAN_NAMES(comm_get_attr)
