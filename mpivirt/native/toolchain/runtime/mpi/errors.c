/* Error classes and codes, and the functions that make, set and call error handlers. */
#include "mpi/errors.h"
#include "mpi/arguments.h"
#include "mpi/comm_records.h"
#include "mpi/error_handlers.h"
#include "mpi/objects.h"
#include "rank/ranks.h"
#include "rank/running.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- classes and codes ---------------------------------------------------------------- */

/* An error class or code that the program has added. */
struct gigarank_code {
	struct gigarank_code *next;
	int code, class_; /* equal for a class */
	char *text;
};

static const struct { int class_; const char *name, *text; } classes[] = {
#define CLASS(name, text) {name, #name, text}
	CLASS(MPI_SUCCESS, "no error"), CLASS(MPI_ERR_BUFFER, "invalid buffer"), CLASS(MPI_ERR_COUNT, "invalid count"), CLASS(MPI_ERR_TYPE, "invalid datatype"),
	CLASS(MPI_ERR_TAG, "invalid tag"), CLASS(MPI_ERR_COMM, "invalid communicator"), CLASS(MPI_ERR_RANK, "invalid rank"), CLASS(MPI_ERR_REQUEST, "invalid request"),
	CLASS(MPI_ERR_ROOT, "invalid root"), CLASS(MPI_ERR_GROUP, "invalid group"), CLASS(MPI_ERR_OP, "invalid operation"), CLASS(MPI_ERR_TOPOLOGY, "invalid topology"),
	CLASS(MPI_ERR_DIMS, "invalid dimensions"), CLASS(MPI_ERR_ARG, "invalid argument"), CLASS(MPI_ERR_UNKNOWN, "unknown error"), CLASS(MPI_ERR_TRUNCATE, "message truncated"),
	CLASS(MPI_ERR_OTHER, "known error not in this list"), CLASS(MPI_ERR_INTERN, "internal error"), CLASS(MPI_ERR_PENDING, "pending request"),
	CLASS(MPI_ERR_IN_STATUS, "error code in status"), CLASS(MPI_ERR_INFO_KEY, "invalid info key"), CLASS(MPI_ERR_INFO_NOKEY, "no such info key"),
	CLASS(MPI_ERR_INFO_VALUE, "invalid info value"), CLASS(MPI_ERR_INFO, "invalid info object"), CLASS(MPI_ERR_KEYVAL, "invalid attribute key"), CLASS(MPI_ERR_NAME, "invalid name"),
	CLASS(MPI_ERR_NO_MEM, "no memory"), CLASS(MPI_ERR_UNSUPPORTED_OPERATION, "unsupported operation"), CLASS(MPI_ERR_ERRHANDLER, "invalid error handler"),
	CLASS(MPI_ERR_ACCESS, "permission denied"), CLASS(MPI_ERR_AMODE, "invalid access mode of a file"), CLASS(MPI_ERR_ASSERT, "invalid assertion"),
	CLASS(MPI_ERR_BAD_FILE, "invalid file name"), CLASS(MPI_ERR_BASE, "invalid base address"), CLASS(MPI_ERR_CONVERSION, "error in a conversion of data"),
	CLASS(MPI_ERR_DISP, "invalid displacement"), CLASS(MPI_ERR_DUP_DATAREP, "the data representation is known already"),
	CLASS(MPI_ERR_FILE_EXISTS, "the file exists"), CLASS(MPI_ERR_FILE_IN_USE, "the file is in use"), CLASS(MPI_ERR_FILE, "invalid file handle"),
	CLASS(MPI_ERR_IO, "input or output error"), CLASS(MPI_ERR_LOCKTYPE, "invalid type of lock"), CLASS(MPI_ERR_NOT_SAME, "arguments of members differ"),
	CLASS(MPI_ERR_NO_SPACE, "no space left"), CLASS(MPI_ERR_NO_SUCH_FILE, "no such file"), CLASS(MPI_ERR_PORT, "invalid port"), CLASS(MPI_ERR_QUOTA, "quota exceeded"),
	CLASS(MPI_ERR_READ_ONLY, "read-only file or file system"), CLASS(MPI_ERR_RMA_ATTACH, "memory cannot be attached"),
	CLASS(MPI_ERR_RMA_CONFLICT, "conflicting accesses to a window"), CLASS(MPI_ERR_RMA_RANGE, "memory is not part of the window"),
	CLASS(MPI_ERR_RMA_SHARED, "memory cannot be shared"), CLASS(MPI_ERR_RMA_SYNC, "wrong synchronisation of a window"),
	CLASS(MPI_ERR_SERVICE, "invalid service name"), CLASS(MPI_ERR_SIZE, "invalid size"), CLASS(MPI_ERR_SPAWN, "processes could not be started"),
	CLASS(MPI_ERR_UNSUPPORTED_DATAREP, "unsupported data representation"), CLASS(MPI_ERR_WIN, "invalid window"),
	CLASS(MPI_ERR_RMA_FLAVOR, "wrong flavor of window"), CLASS(MPI_ERR_PROC_ABORTED, "a process has aborted"), CLASS(MPI_ERR_VALUE_TOO_LARGE, "value too large"),
	CLASS(MPI_ERR_SESSION, "invalid session"), CLASS(MPI_ERR_ABI, "error of the binary interface"),
};
enum { CLASSES = sizeof classes / sizeof *classes };

static struct gigarank_code *added(int code) {
	struct gigarank_rank *r = gigarank_running();
	for (struct gigarank_code *c = r && r->own ? r->own->codes : NULL; c; c = c->next)
		if (c->code == code)
			return c;
	return NULL;
}

/* check_code refuses a number that is no error code. */
static int check_code(const char *function, int code) {
	if ((code >= MPI_SUCCESS && code <= MPI_ERR_LASTCODE) || added(code))
		return MPI_SUCCESS;
	return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_ARG, "%d is no error code", code);
}

MPI(MPI_Error_class, int code, int *class_) {
	GIVEN(class_, "errorclass", MPI_ERR_ARG);
	CHECK(check_code(__func__, code));
	struct gigarank_code *c = added(code);
	*class_ = c ? c->class_ : code;
	return MPI_SUCCESS;
}

MPI(MPI_Error_string, int code, char *text, int *length) {
	GIVEN(text, "string", MPI_ERR_ARG);
	GIVEN(length, "resultlen", MPI_ERR_ARG);
	CHECK(check_code(__func__, code));
	struct gigarank_code *c = added(code);
	text[0] = 0;
	if (c)
		snprintf(text, MPI_MAX_ERROR_STRING, "%s", c->text ? c->text : "");
	else {
		int i = 0;
		while (i < CLASSES && classes[i].class_ != code)
			i++;
		if (i < CLASSES)
			snprintf(text, MPI_MAX_ERROR_STRING, "%s: %s", classes[i].name, classes[i].text);
		else
			snprintf(text, MPI_MAX_ERROR_STRING, "error class %d", code);
	}
	*length = (int)strlen(text);
	return MPI_SUCCESS;
}

/* add_code adds a class, if class_ is 0, or a code of a class. */
static int add_code(int class_, int *code) {
	struct gigarank_own *own = gigarank_own();
	struct gigarank_code *c = own ? calloc(1, sizeof *c) : NULL;
	if (!c)
		return refuse(GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for an error code");
	*code = c->code = ++own->last_code;
	c->class_ = class_ ? class_ : c->code;
	c->next = own->codes;
	own->codes = c;
	return MPI_SUCCESS;
}

MPI(MPI_Add_error_class, int *class_) {
	GIVEN(class_, "errorclass", MPI_ERR_ARG);
	CHECK(active(GIGARANK_NONE));
	return add_code(0, class_);
}

MPI(MPI_Add_error_code, int class_, int *code) {
	GIVEN(code, "errorcode", MPI_ERR_ARG);
	CHECK(active(GIGARANK_NONE));
	CHECK(check_code(__func__, class_));
	return add_code(class_, code);
}

MPI(MPI_Add_error_string, int code, const char *text) {
	GIVEN(text, "string", MPI_ERR_ARG);
	CHECK(active(GIGARANK_NONE));
	struct gigarank_code *c = added(code);
	if (!c)
		return refuse(GIGARANK_NONE, MPI_ERR_ARG, "%d is no error class or code that the program has added", code);
	if (strlen(text) >= MPI_MAX_ERROR_STRING)
		return refuse(GIGARANK_NONE, MPI_ERR_ARG, "a text of %zu characters: at most %d may be added", strlen(text), MPI_MAX_ERROR_STRING - 1);
	char *copy = strdup(text);
	if (!copy)
		return refuse(GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for a text");
	free(c->text);
	c->text = copy;
	return MPI_SUCCESS;
}

/* drop_code removes a class or code that was added. */
static int drop_code(const char *function, int code, int is_class) {
	CHECK(gigarank_active(function, GIGARANK_NONE));
	struct gigarank_code *c = added(code);
	if (!c || (c->class_ == c->code) != is_class)
		return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_ARG, "%d is none that the program has added", code);
	struct gigarank_code **link = &gigarank_running()->own->codes;
	for (struct gigarank_code *other = *link; is_class && other; other = other->next)
		if (other != c && other->class_ == code)
			return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_ARG, "class %d has codes: remove them first", code);
	while (*link != c)
		link = &(*link)->next;
	*link = c->next;
	free(c->text);
	free(c);
	return MPI_SUCCESS;
}

MPI(MPI_Remove_error_class, int class_) { return drop_code(__func__, class_, 1); }
MPI(MPI_Remove_error_code, int code) { return drop_code(__func__, code, 0); }

MPI(MPI_Remove_error_string, int code) {
	CHECK(active(GIGARANK_NONE));
	struct gigarank_code *c = added(code);
	if (!c)
		return refuse(GIGARANK_NONE, MPI_ERR_ARG, "%d is no error class or code that the program has added", code);
	free(c->text);
	c->text = NULL;
	return MPI_SUCCESS;
}

void gigarank_forget_codes(struct gigarank_code *list) {
	for (struct gigarank_code *next; list; list = next) {
		next = list->next;
		free(list->text);
		free(list);
	}
}

/* --- error handlers ---------------------------------------------------------------------- */

MPI(MPI_Comm_create_errhandler, MPI_Comm_errhandler_function *function, MPI_Errhandler *handler) {
	GIVEN(function, "comm_errhandler_fn", MPI_ERR_ARG);
	GIVEN(handler, "errhandler", MPI_ERR_ARG);
	return gigarank_create_errhandler(function, 0, handler);
}

int gigarank_create_errhandler(MPI_Comm_errhandler_function *function, int fortran, MPI_Errhandler *handler) {
	CHECK(gigarank_active("PMPI_Comm_create_errhandler", GIGARANK_NONE));
	struct gigarank_errhandler *h = gigarank_new(GIGARANK_ERRHANDLER, sizeof *h, NULL);
	if (!h)
		return gigarank_refuse("PMPI_Comm_create_errhandler", GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for an error handler");
	h->function = function, h->fortran = fortran;
	*handler = gigarank_handle(h);
	return MPI_SUCCESS;
}

MPI(MPI_Session_create_errhandler, MPI_Session_errhandler_function *function, MPI_Errhandler *handler) {
	GIVEN(function, "session_errhandler_fn", MPI_ERR_ARG);
	GIVEN(handler, "errhandler", MPI_ERR_ARG);
	return gigarank_create_session_errhandler(function, 0, handler);
}

int gigarank_create_session_errhandler(MPI_Session_errhandler_function *function, int fortran, MPI_Errhandler *handler) {
	CHECK(gigarank_runs("PMPI_Session_create_errhandler"));
	struct gigarank_errhandler *h = gigarank_new(GIGARANK_ERRHANDLER, sizeof *h, NULL);
	if (!h)
		return gigarank_refuse("PMPI_Session_create_errhandler", GIGARANK_NONE, MPI_ERR_NO_MEM, "no memory for an error handler");
	h->fortran = fortran;
	h->function = (MPI_Comm_errhandler_function *)(void (*)(void))function; /* which both take a handle by its address */
	*handler = gigarank_handle(h);
	return MPI_SUCCESS;
}

static int is_predefined(MPI_Errhandler handler) {
	return handler == MPI_ERRORS_RETURN || handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT;
}

int gigarank_check_handler(const char *function, MPI_Errhandler handler) {
	if (is_predefined(handler) || gigarank_object(GIGARANK_ERRHANDLER, handler))
		return MPI_SUCCESS;
	return gigarank_refuse(function, GIGARANK_NONE, MPI_ERR_ERRHANDLER, "the handle is no error handler, or it has been freed");
}

MPI(MPI_Comm_set_errhandler, MPI_Comm comm, MPI_Errhandler handler) {
	struct gigarank_call c = {0};
	struct gigarank_rank *r = gigarank_running();
	CHECK(find(GIGARANK_NONE, comm, &c));
	CHECK(gigarank_check_handler(__func__, handler));
	MPI_Errhandler kept = is_predefined(handler) ? handler : gigarank_object(GIGARANK_ERRHANDLER, handler);
	if (!r->errors_return && kept == MPI_ERRORS_ARE_FATAL)
		return MPI_SUCCESS;
	struct gigarank_comm *noted_comm = gigarank_note(&c);
	if (!noted_comm)
		return MPI_ERR_NO_MEM;
	gigarank_set_handler(noted_comm, kept);
	if (r->errors_return)
		return MPI_SUCCESS;
	r->errors_return = 1; /* from now on the rank hears of its errors */
	c.procedure = GIGARANK_ERRORS_RETURN, c.key = 1;
	return gigarank_trap(&c);
}

MPI(MPI_Comm_get_errhandler, MPI_Comm comm, MPI_Errhandler *handler) {
	GIVEN(handler, "errhandler", MPI_ERR_ARG);
	struct gigarank_call c = {0};
	CHECK(find(GIGARANK_NONE, comm, &c));
	struct gigarank_comm *about = gigarank_comm_record(c.comm);
	*handler = about && about->handler ? about->handler : MPI_ERRORS_ARE_FATAL;
	if (!is_predefined(*handler)) {
		struct gigarank_object *o = gigarank_retain(*handler);
		o->handles++;
		*handler = gigarank_handle(o);
	}
	return MPI_SUCCESS;
}

MPI(MPI_Errhandler_free, MPI_Errhandler *handler) {
	GIVEN(handler, "errhandler", MPI_ERR_ARG);
	CHECK(active(GIGARANK_NONE));
	if (!is_predefined(*handler)) {
		struct gigarank_object *h = gigarank_object(GIGARANK_ERRHANDLER, *handler);
		if (!h)
			return refuse(GIGARANK_NONE, MPI_ERR_ERRHANDLER, "the handle is no error handler, or it has been freed");
		gigarank_drop_handle(h);
	}
	*handler = MPI_ERRHANDLER_NULL;
	return MPI_SUCCESS;
}

MPI(MPI_Comm_call_errhandler, MPI_Comm comm, int code) {
	struct gigarank_call c = {0};
	CHECK(find(GIGARANK_NONE, comm, &c));
	gigarank_call_comm_handler(gigarank_comm_record(c.comm), comm, code, "called by MPI_Comm_call_errhandler");
	return MPI_SUCCESS;
}
