/* The bindings of Fortran: functions that the generated bindings share, and bindings that differ from C. */
#include "fortran/fortran.h"
#include "libc/process.h"
#include "mpi/arguments.h"
#include "mpi/comm_records.h"
#include "mpi/datatypes.h"
#include "mpi/errors.h"
#include "mpi/objects.h"
#include "mpi/operations.h"
#include "rank/running.h"

#include <string.h>

/* --- handles ------------------------------------------------------------------------ */

void *gigarank_handle_of(MPI_Fint number) {
	if (gigarank_told.type && number == gigarank_told.number)
		return gigarank_told.handle;
	struct gigarank_fortran *f = gigarank_running() ? gigarank_running()->fortran : NULL;
	uint32_t place = (uint32_t)number - GIGARANK_PREDEFINED;
	return f && place < (uint32_t)f->count ? f->handles[place] : (void *)(uintptr_t)(uint32_t)number;
}

MPI_Fint gigarank_number_of(void *handle) {
	struct gigarank_fortran *f = (uintptr_t)handle < GIGARANK_PREDEFINED ? NULL : gigarank_fortran();
	if (!f)
		return (MPI_Fint)(uintptr_t)handle;
	int32_t place = f->count;
	for (int32_t i = f->count - 1; i >= 0; i--) {
		if (f->handles[i] == handle)
			return i + GIGARANK_PREDEFINED;
		if (!f->handles[i])
			place = i;
	}
	if (place == f->room) {
		f->room = 2 * f->room + 8;
		f->handles = gigarank_enlarged(f->handles, (size_t)f->room * sizeof *f->handles);
	}
	f->count += place == f->count;
	f->handles[place] = handle;
	return place + GIGARANK_PREDEFINED;
}

/* gigarank_release_number ends the use of a number, whose handle has been freed. */
void gigarank_release_number(MPI_Fint number) {
	struct gigarank_fortran *f = gigarank_fortran();
	uint32_t place = (uint32_t)number - GIGARANK_PREDEFINED;
	if (!f || place >= (uint32_t)f->count)
		return;
	f->handles[place] = NULL;
	while (f->count > 0 && !f->handles[f->count - 1])
		f->count--;
}

/* The number of a request lacks its generation: a handle of a request that is over may name a
 * later request. */
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
	if (n > few)
		h->all = gigarank_enlarged(NULL, (size_t)n * sizeof *h->all);
	if (n > 0)
		memset(h->all, 0, (size_t)n * sizeof *h->all);
}

int gigarank_neighbors(MPI_Comm comm, _Bool destinations) {
	struct gigarank_call c = {0};
	struct gigarank_comm *noted = find(GIGARANK_NONE, comm, &c) == MPI_SUCCESS ? gigarank_note(&c) : NULL;
	return !noted ? 0 : destinations ? noted->topology.outdegree : noted->topology.indegree;
}

int gigarank_members(MPI_Comm comm) {
	int inter = 0, n = 0;
	if (PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS)
		(inter ? PMPI_Comm_remote_size : PMPI_Comm_size)(comm, &n);
	return n;
}

/* --- constants and texts -------------------------------------------------------------- */

/* place_of returns the place of an address in the common block of the program, a large place if
 * the address does not lie there. */
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
	case offsetof(struct gigarank_fortran_constants, buffer_automatic):
		return MPI_BUFFER_AUTOMATIC;
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

/* gigarank_take_name stores the name of an object, without the blanks after it. Blanks before it are part of the name. */
void gigarank_take_name(char *to, const char *from, size_t length) {
	while (length > 0 && from[length - 1] == ' ')
		length--;
	memcpy(to, from, length);
	to[length] = 0;
}

/* gigarank_take_text stores a text without the blanks before and after it. */
void gigarank_take_text(char *to, const char *from, size_t length) {
	while (length > 0 && *from == ' ')
		from++, length--;
	gigarank_take_name(to, from, length);
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

/* A call of any function makes the compiler keep a buffer in memory. */
void pmpi_f_sync_reg_(void *buffer) { (void)buffer; }
GIGARANK_FORTRAN_NAMES(f_sync_reg)

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

void pmpi_info_create_env_(MPI_Fint *info, MPI_Fint *ierror) {
	MPI_Info made = MPI_INFO_NULL;
	store(ierror, PMPI_Info_create_env(0, NULL, &made));
	*info = gigarank_info_number(made);
}
GIGARANK_FORTRAN_NAMES(info_create_env)

/* In C the length counts the null at the end. */
void pmpi_info_get_string_(const MPI_Fint *info, const char *key, MPI_Fint *length, char *value, MPI_Fint *flag, MPI_Fint *ierror, size_t key_length, size_t value_length) {
	char name[key_length + 1], text[MPI_MAX_INFO_VAL];
	int room = *length < MPI_MAX_INFO_VAL ? *length + (*length > 0) : MPI_MAX_INFO_VAL, asked = *length;
	gigarank_take_text(name, key, key_length);
	int error = PMPI_Info_get_string(gigarank_info_of(*info), name, &room, text, flag);
	if (error == MPI_SUCCESS && *flag) {
		*length = room - 1;
		if (asked > 0)
			gigarank_store_text(value, value_length, text);
	}
	store(ierror, error);
}
GIGARANK_FORTRAN_NAMES(info_get_string)

/* Likewise. */
void pmpi_session_get_nth_pset_(const MPI_Fint *session, const MPI_Fint *info, const MPI_Fint *n, MPI_Fint *length, char *name, MPI_Fint *ierror, size_t name_length) {
	char text[MPI_MAX_PSET_NAME_LEN];
	int room = *length < MPI_MAX_PSET_NAME_LEN ? *length + (*length > 0) : MPI_MAX_PSET_NAME_LEN, asked = *length;
	int error = PMPI_Session_get_nth_pset(gigarank_session_of(*session), gigarank_info_of(*info), *n, &room, text);
	if (error == MPI_SUCCESS) {
		*length = room - 1;
		if (asked > 0)
			gigarank_store_text(name, name_length, text);
	}
	store(ierror, error);
}
GIGARANK_FORTRAN_NAMES(session_get_nth_pset)

/* --- operations and error handlers --------------------------------------------------------- */

void pmpi_op_create_(MPI_User_function *function, const MPI_Fint *commutes, MPI_Fint *operation, MPI_Fint *ierror) {
	MPI_Op made = MPI_OP_NULL;
	int error = PMPI_Op_create(function, *commutes, &made);
	if (error == MPI_SUCCESS)
		((struct gigarank_operation *)made)->fortran = 1;
	*operation = gigarank_op_number(made);
	store(ierror, error);
}
GIGARANK_FORTRAN_NAMES(op_create)

void gigarank_call_operation(MPI_User_function *function, void *in, void *inout, int count, MPI_Fint number) {
	((void (*)(void *, void *, MPI_Fint *, MPI_Fint *))function)(in, inout, &count, &number);
}

void pmpi_comm_create_errhandler_(MPI_Comm_errhandler_function *function, MPI_Fint *handler, MPI_Fint *ierror) {
	MPI_Errhandler made = MPI_ERRHANDLER_NULL;
	store(ierror, gigarank_create_errhandler(function, 1, &made));
	*handler = gigarank_errhandler_number(made);
}
GIGARANK_FORTRAN_NAMES(comm_create_errhandler)

void pmpi_session_create_errhandler_(MPI_Session_errhandler_function *function, MPI_Fint *handler, MPI_Fint *ierror) {
	MPI_Errhandler made = MPI_ERRHANDLER_NULL;
	store(ierror, gigarank_create_session_errhandler(function, 1, &made));
	*handler = gigarank_errhandler_number(made);
}
GIGARANK_FORTRAN_NAMES(session_create_errhandler)

void pmpi_file_create_errhandler_(MPI_Comm_errhandler_function *function, MPI_Fint *handler, MPI_Fint *ierror) {
	pmpi_comm_create_errhandler_(function, handler, ierror);
}
GIGARANK_FORTRAN_NAMES(file_create_errhandler)

/* Several uses of an error handler have one number, which ends with the last use. */
void pmpi_errhandler_free_(MPI_Fint *handler, MPI_Fint *ierror) {
	MPI_Errhandler freed = gigarank_errhandler_of(*handler), before = freed;
	int error = PMPI_Errhandler_free(&freed);
	if (error == MPI_SUCCESS) {
		if (!gigarank_object(GIGARANK_ERRHANDLER, before))
			gigarank_release_number(*handler);
		*handler = gigarank_errhandler_number(freed);
	}
	store(ierror, error);
}
GIGARANK_FORTRAN_NAMES(errhandler_free)

void gigarank_call_errhandler(MPI_Comm_errhandler_function *function, void *about, int code) {
	MPI_Fint number = gigarank_number_of(about);
	((void (*)(MPI_Fint *, MPI_Fint *))function)(&number, &code);
}

/* --- functions that MPI 3.0 has removed ----------------------------------------------------- */

/* Addresses and the like are INTEGERs, whose differences are right where they fit. */

void pmpi_address_(void *location, MPI_Fint *address, MPI_Fint *ierror) {
	MPI_Aint full = 0;
	int error = PMPI_Get_address(gigarank_buffer_of(location), &full);
	*address = (MPI_Fint)full;
	store(ierror, error);
}
GIGARANK_FORTRAN_NAMES(address)

static void store_type(MPI_Fint *made, MPI_Datatype type, int error, MPI_Fint *ierror) {
	*made = gigarank_datatype_number(type);
	store(ierror, error);
}

/* widened returns displacements for C, which are to be freed. */
static MPI_Aint *widened(const MPI_Fint *n, const MPI_Fint displacements[]) {
	MPI_Aint *wide = gigarank_enlarged(NULL, *n > 0 ? (size_t)*n * sizeof *wide : 1);
	for (MPI_Fint i = 0; i < *n; i++)
		wide[i] = displacements[i];
	return wide;
}

void pmpi_type_struct_(const MPI_Fint *n, MPI_Fint lengths[], const MPI_Fint displacements[], const MPI_Fint types[], MPI_Fint *made, MPI_Fint *ierror) {
	MPI_Datatype new = MPI_DATATYPE_NULL;
	MPI_Aint *places = widened(n, displacements);
	struct gigarank_handles h;
	gigarank_open_handles(*n, &h);
	gigarank_take_datatypes(*n, types, &h);
	int error = PMPI_Type_create_struct(*n, lengths, places, (void *)h.all, &new);
	gigarank_give_up(&h);
	free(places);
	store_type(made, new, error, ierror);
}
GIGARANK_FORTRAN_NAMES(type_struct)

void pmpi_type_hindexed_(const MPI_Fint *n, MPI_Fint lengths[], const MPI_Fint displacements[], const MPI_Fint *type, MPI_Fint *made, MPI_Fint *ierror) {
	MPI_Datatype new = MPI_DATATYPE_NULL;
	MPI_Aint *places = widened(n, displacements);
	int error = PMPI_Type_create_hindexed(*n, lengths, places, gigarank_datatype_of(*type), &new);
	free(places);
	store_type(made, new, error, ierror);
}
GIGARANK_FORTRAN_NAMES(type_hindexed)

void pmpi_type_hvector_(const MPI_Fint *n, const MPI_Fint *length, const MPI_Fint *stride, const MPI_Fint *type, MPI_Fint *made, MPI_Fint *ierror) {
	MPI_Datatype new = MPI_DATATYPE_NULL;
	int error = PMPI_Type_create_hvector(*n, *length, *stride, gigarank_datatype_of(*type), &new);
	store_type(made, new, error, ierror);
}
GIGARANK_FORTRAN_NAMES(type_hvector)

/* bounds_of stores the bounds of a type, and their distance. */
static void bounds_of(const MPI_Fint *type, MPI_Fint *low, MPI_Fint *high, MPI_Fint *extent, MPI_Fint *ierror) {
	MPI_Aint from = 0, bytes = 0;
	int error = PMPI_Type_get_extent(gigarank_datatype_of(*type), &from, &bytes);
	if (low)
		*low = (MPI_Fint)from;
	if (high)
		*high = (MPI_Fint)(from + bytes);
	if (extent)
		*extent = (MPI_Fint)bytes;
	store(ierror, error);
}

void pmpi_type_lb_(const MPI_Fint *type, MPI_Fint *low, MPI_Fint *ierror) { bounds_of(type, low, NULL, NULL, ierror); }
GIGARANK_FORTRAN_NAMES(type_lb)

void pmpi_type_ub_(const MPI_Fint *type, MPI_Fint *high, MPI_Fint *ierror) { bounds_of(type, NULL, high, NULL, ierror); }
GIGARANK_FORTRAN_NAMES(type_ub)

void pmpi_type_extent_(const MPI_Fint *type, MPI_Fint *extent, MPI_Fint *ierror) { bounds_of(type, NULL, NULL, extent, ierror); }
GIGARANK_FORTRAN_NAMES(type_extent)

void pmpi_errhandler_create_(MPI_Comm_errhandler_function *function, MPI_Fint *handler, MPI_Fint *ierror) {
	pmpi_comm_create_errhandler_(function, handler, ierror);
}
GIGARANK_FORTRAN_NAMES(errhandler_create)

void pmpi_errhandler_set_(const MPI_Fint *comm, const MPI_Fint *handler, MPI_Fint *ierror) {
	store(ierror, PMPI_Comm_set_errhandler(gigarank_comm_of(*comm), gigarank_errhandler_of(*handler)));
}
GIGARANK_FORTRAN_NAMES(errhandler_set)

void pmpi_errhandler_get_(const MPI_Fint *comm, MPI_Fint *handler, MPI_Fint *ierror) {
	MPI_Errhandler got = MPI_ERRHANDLER_NULL;
	int error = PMPI_Comm_get_errhandler(gigarank_comm_of(*comm), &got);
	*handler = gigarank_errhandler_number(got);
	store(ierror, error);
}
GIGARANK_FORTRAN_NAMES(errhandler_get)

/* --- generalised requests ---------------------------------------------------------------- */

typedef void grequest_query(MPI_Aint *extra, MPI_Status *status, MPI_Fint *ierror);
typedef void grequest_free(MPI_Aint *extra, MPI_Fint *ierror);
typedef void grequest_cancel(MPI_Aint *extra, const MPI_Fint *complete, MPI_Fint *ierror);

/* The data of the functions in C for a generalised request in Fortran. It ends with the request. The
 * extra state is the program's own variable, which its functions may change. */
struct grequest {
	grequest_query *query;
	grequest_free *free;
	grequest_cancel *cancel;
	MPI_Aint *extra;
};

static int query_in_fortran(void *extra, MPI_Status *status) {
	struct grequest *g = extra;
	MPI_Fint error = MPI_SUCCESS;
	g->query(g->extra, status, &error);
	return error;
}

static int free_in_fortran(void *extra) {
	struct grequest *g = extra;
	MPI_Fint error = MPI_SUCCESS;
	g->free(g->extra, &error);
	free(g);
	return error;
}

static int cancel_in_fortran(void *extra, int complete) {
	struct grequest *g = extra;
	MPI_Fint error = MPI_SUCCESS;
	g->cancel(g->extra, &complete, &error);
	return error;
}

void pmpi_grequest_start_(grequest_query *query, grequest_free *release, grequest_cancel *cancel, MPI_Aint *extra, MPI_Fint *request, MPI_Fint *ierror) {
	MPI_Request made = MPI_REQUEST_NULL;
	struct grequest *g = gigarank_enlarged(NULL, sizeof *g);
	*g = (struct grequest){query, release, cancel, extra};
	int error = PMPI_Grequest_start(query_in_fortran, free_in_fortran, cancel_in_fortran, g, &made);
	if (error)
		free(g);
	*request = gigarank_request_number(made);
	store(ierror, error);
}
GIGARANK_FORTRAN_NAMES(grequest_start)

/* --- conversions for C ------------------------------------------------------------------ */

/* The number of a handle in the standard ABI is its number in Fortran. */
#define CONVERSION(type, lower, to, from) \
	MPI_Fint P##to(type handle) { return gigarank_##lower##_number(handle); } \
	MPI_Fint to(type) __attribute__((weak, alias("P" #to))); \
	type P##from(MPI_Fint number) { return gigarank_##lower##_of(number); } \
	type from(MPI_Fint) __attribute__((weak, alias("P" #from)));

CONVERSION(MPI_Comm, comm, MPI_Comm_c2f, MPI_Comm_f2c)
CONVERSION(MPI_Comm, comm, MPI_Comm_toint, MPI_Comm_fromint)
CONVERSION(MPI_Errhandler, errhandler, MPI_Errhandler_c2f, MPI_Errhandler_f2c)
CONVERSION(MPI_Errhandler, errhandler, MPI_Errhandler_toint, MPI_Errhandler_fromint)
CONVERSION(MPI_File, file, MPI_File_c2f, MPI_File_f2c)
CONVERSION(MPI_File, file, MPI_File_toint, MPI_File_fromint)
CONVERSION(MPI_Group, group, MPI_Group_c2f, MPI_Group_f2c)
CONVERSION(MPI_Group, group, MPI_Group_toint, MPI_Group_fromint)
CONVERSION(MPI_Info, info, MPI_Info_c2f, MPI_Info_f2c)
CONVERSION(MPI_Info, info, MPI_Info_toint, MPI_Info_fromint)
CONVERSION(MPI_Message, message, MPI_Message_c2f, MPI_Message_f2c)
CONVERSION(MPI_Message, message, MPI_Message_toint, MPI_Message_fromint)
CONVERSION(MPI_Op, op, MPI_Op_c2f, MPI_Op_f2c)
CONVERSION(MPI_Op, op, MPI_Op_toint, MPI_Op_fromint)
CONVERSION(MPI_Request, request, MPI_Request_c2f, MPI_Request_f2c)
CONVERSION(MPI_Request, request, MPI_Request_toint, MPI_Request_fromint)
CONVERSION(MPI_Session, session, MPI_Session_c2f, MPI_Session_f2c)
CONVERSION(MPI_Session, session, MPI_Session_toint, MPI_Session_fromint)
CONVERSION(MPI_Datatype, datatype, MPI_Type_c2f, MPI_Type_f2c)
CONVERSION(MPI_Datatype, datatype, MPI_Type_toint, MPI_Type_fromint)
CONVERSION(MPI_Win, win, MPI_Win_c2f, MPI_Win_f2c)
CONVERSION(MPI_Win, win, MPI_Win_toint, MPI_Win_fromint)

/* Statuses have the same fields in all three forms. */
_Static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint) && sizeof(MPI_F08_status) == sizeof(MPI_Status), "statuses of one size");

#define STATUS(name, from, to) \
	MPI(name, const from *status, to *same) { \
		memcpy(same, status, sizeof(MPI_Status)); \
		return MPI_SUCCESS; \
	}
STATUS(MPI_Status_c2f, MPI_Status, MPI_Fint)
STATUS(MPI_Status_f2c, MPI_Fint, MPI_Status)
STATUS(MPI_Status_c2f08, MPI_Status, MPI_F08_status)
STATUS(MPI_Status_f082c, MPI_F08_status, MPI_Status)
STATUS(MPI_Status_f2f08, MPI_Fint, MPI_F08_status)
STATUS(MPI_Status_f082f, MPI_F08_status, MPI_Fint)

/* --- attributes -------------------------------------------------------------------------- */

/* The predefined functions are recognised by their addresses and never called. */
#define PREDEFINED(name) void name##_(void) { abort(); }
PREDEFINED(mpi_null_copy_fn)
PREDEFINED(mpi_dup_fn)
PREDEFINED(mpi_null_delete_fn)
PREDEFINED(mpi_comm_null_copy_fn)
PREDEFINED(mpi_comm_dup_fn)
PREDEFINED(mpi_comm_null_delete_fn)
PREDEFINED(mpi_type_null_copy_fn)
PREDEFINED(mpi_type_dup_fn)
PREDEFINED(mpi_type_null_delete_fn)
PREDEFINED(mpi_win_null_copy_fn)
PREDEFINED(mpi_win_dup_fn)
PREDEFINED(mpi_win_null_delete_fn)
PREDEFINED(mpi_conversion_fn_null)

typedef void copy_attribute(const MPI_Fint *object, const MPI_Fint *key, const MPI_Aint *extra, const MPI_Aint *in, MPI_Aint *out, MPI_Fint *flag, MPI_Fint *ierror);
typedef void delete_attribute(const MPI_Fint *object, const MPI_Fint *key, const MPI_Aint *value, const MPI_Aint *extra, MPI_Fint *ierror);

/* The data of the functions in C for a key in Fortran. Functions of MPI 1 have default INTEGERs, which
 * are the first bytes of an address-sized integer. */
struct key {
	copy_attribute *copy;
	delete_attribute *remove;
	MPI_Aint extra;
	int narrow;
};

static int copy(struct key *k, MPI_Fint object, int key, void *value, void *made, int *flag) {
	MPI_Aint in = (MPI_Aint)value, out = 0;
	MPI_Fint error = MPI_SUCCESS;
	k->copy(&object, &key, &k->extra, &in, &out, flag, &error);
	out = k->narrow ? (int32_t)out : out;
	memcpy(made, &out, sizeof out);
	return error;
}

static int remove_(struct key *k, MPI_Fint object, int key, void *value) {
	MPI_Aint in = (MPI_Aint)value;
	MPI_Fint error = MPI_SUCCESS;
	k->remove(&object, &key, &in, &k->extra, &error);
	return error;
}

static int copy_of_comm(MPI_Comm comm, int key, void *extra, void *value, void *made, int *flag) {
	return copy(extra, gigarank_comm_number(comm), key, value, made, flag);
}
static int copy_of_type(MPI_Datatype type, int key, void *extra, void *value, void *made, int *flag) {
	return copy(extra, gigarank_datatype_number(type), key, value, made, flag);
}
static int remove_of_comm(MPI_Comm comm, int key, void *value, void *extra) { return remove_(extra, gigarank_comm_number(comm), key, value); }
static int remove_of_type(MPI_Datatype type, int key, void *value, void *extra) { return remove_(extra, gigarank_datatype_number(type), key, value); }

static int is(const void *function, void (*one)(void), void (*other)(void), void (*third)(void)) {
	return function == (void *)one || function == (void *)other || function == (void *)third;
}

/* key_of returns the data of the functions of a new key, which is kept as long as the process. */
static struct key *key_of(copy_attribute *copies, delete_attribute *removes, MPI_Aint extra, int narrow) {
	struct key *k = gigarank_enlarged(NULL, sizeof *k);
	*k = (struct key){copies, removes, extra, narrow};
	return k;
}

#define COPIES(f) is(f, mpi_null_copy_fn_, mpi_comm_null_copy_fn_, mpi_type_null_copy_fn_)
#define DUPLICATES(f) is(f, mpi_dup_fn_, mpi_comm_dup_fn_, mpi_type_dup_fn_)
#define KEEPS(f) is(f, mpi_null_delete_fn_, mpi_comm_null_delete_fn_, mpi_type_null_delete_fn_)

static int comm_key(copy_attribute *copies, delete_attribute *removes, MPI_Fint *key, MPI_Aint extra, int narrow) {
	return PMPI_Comm_create_keyval(COPIES(copies) ? MPI_COMM_NULL_COPY_FN : DUPLICATES(copies) ? MPI_COMM_DUP_FN : copy_of_comm,
		KEEPS(removes) ? MPI_COMM_NULL_DELETE_FN : remove_of_comm, key, key_of(copies, removes, extra, narrow));
}

void pmpi_comm_create_keyval_(copy_attribute *copies, delete_attribute *removes, MPI_Fint *key, const MPI_Aint *extra, MPI_Fint *ierror) {
	store(ierror, comm_key(copies, removes, key, *extra, 0));
}
GIGARANK_FORTRAN_NAMES(comm_create_keyval)

void pmpi_keyval_create_(copy_attribute *copies, delete_attribute *removes, MPI_Fint *key, const MPI_Fint *extra, MPI_Fint *ierror) {
	store(ierror, comm_key(copies, removes, key, *extra, 1));
}
GIGARANK_FORTRAN_NAMES(keyval_create)

void pmpi_type_create_keyval_(copy_attribute *copies, delete_attribute *removes, MPI_Fint *key, const MPI_Aint *extra, MPI_Fint *ierror) {
	store(ierror, PMPI_Type_create_keyval(COPIES(copies) ? MPI_TYPE_NULL_COPY_FN : DUPLICATES(copies) ? MPI_TYPE_DUP_FN : copy_of_type,
		KEEPS(removes) ? MPI_TYPE_NULL_DELETE_FN : remove_of_type, key, key_of(copies, removes, *extra, 0)));
}
GIGARANK_FORTRAN_NAMES(type_create_keyval)

void pmpi_comm_set_attr_(const MPI_Fint *comm, const MPI_Fint *key, const MPI_Aint *value, MPI_Fint *ierror) {
	store(ierror, PMPI_Comm_set_attr(gigarank_comm_of(*comm), *key, (void *)*value));
}
GIGARANK_FORTRAN_NAMES(comm_set_attr)

void pmpi_attr_put_(const MPI_Fint *comm, const MPI_Fint *key, const MPI_Fint *value, MPI_Fint *ierror) {
	store(ierror, PMPI_Comm_set_attr(gigarank_comm_of(*comm), *key, (void *)(MPI_Aint)*value));
}
GIGARANK_FORTRAN_NAMES(attr_put)

void pmpi_type_set_attr_(const MPI_Fint *type, const MPI_Fint *key, const MPI_Aint *value, MPI_Fint *ierror) {
	store(ierror, PMPI_Type_set_attr(gigarank_datatype_of(*type), *key, (void *)*value));
}
GIGARANK_FORTRAN_NAMES(type_set_attr)

void pmpi_type_get_attr_(const MPI_Fint *type, const MPI_Fint *key, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *ierror) {
	void *found = NULL;
	*flag = 0;
	store(ierror, PMPI_Type_get_attr(gigarank_datatype_of(*type), *key, &found, flag));
	if (*flag)
		*value = (MPI_Aint)found;
}
GIGARANK_FORTRAN_NAMES(type_get_attr)

/* Predefined attributes are integers, to which C has pointers. */
void pmpi_comm_get_attr_(const MPI_Fint *comm, const MPI_Fint *key, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *ierror) {
	void *found = NULL;
	*flag = 0;
	store(ierror, PMPI_Comm_get_attr(gigarank_comm_of(*comm), *key, &found, flag));
	if (*flag)
		*value = *key >= MPI_TAG_UB && *key <= MPI_UNIVERSE_SIZE ? *(int *)found : (MPI_Aint)found;
}
GIGARANK_FORTRAN_NAMES(comm_get_attr)

void pmpi_attr_get_(const MPI_Fint *comm, const MPI_Fint *key, MPI_Fint *value, MPI_Fint *flag, MPI_Fint *ierror) {
	MPI_Aint found = 0;
	pmpi_comm_get_attr_(comm, key, &found, flag, ierror);
	if (*flag)
		*value = (MPI_Fint)found;
}
GIGARANK_FORTRAN_NAMES(attr_get)
