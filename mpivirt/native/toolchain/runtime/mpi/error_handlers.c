/* Error handlers: the handlers of communicators, and their calls. */
#include "mpi/error_handlers.h"
#include "mpi/comm_records.h"
#include "mpi/objects.h"
#include "rank/hooks.h"
#include "rank/ranks.h"
#include "rank/running.h"

/* raise_error ends the rank, with the latest error of a call or, if the code is not 0, with that code. */
static void raise_error(int code, const char *detail) {
	struct gigarank_call c = {.procedure = GIGARANK_RAISE, .key = code, .detail = detail};
	gigarank_suspend(&c);
}

void gigarank_call_comm_handler(const struct gigarank_comm *about, MPI_Comm comm, int code, const char *detail) {
	MPI_Errhandler handler = about && about->handler ? about->handler : MPI_ERRORS_ARE_FATAL;
	if (handler == MPI_ERRORS_RETURN)
		return;
	struct gigarank_errhandler *h = (uintptr_t)handler < GIGARANK_PREDEFINED ? NULL : (struct gigarank_errhandler *)handler;
	if (h && h->fortran)
		gigarank_hooks.call_errhandler(h->function, (void *)comm, code);
	else if (h)
		h->function(&comm, &code, detail);
	else
		raise_error(detail ? code : 0, detail);
}

void gigarank_handle_error(int32_t index, int code) {
	if (!gigarank_running()->errors_return)
		return; /* the simulator has ended the rank */
	struct gigarank_comm *about = gigarank_comm_record(index);
	gigarank_call_comm_handler(about, index == 1 ? MPI_COMM_WORLD : index == 2 ? MPI_COMM_SELF : (MPI_Comm)about, code, NULL);
}

void gigarank_set_handler(struct gigarank_comm *c, MPI_Errhandler handler) {
	if ((uintptr_t)handler >= GIGARANK_PREDEFINED)
		gigarank_retain(handler);
	if ((uintptr_t)c->handler >= GIGARANK_PREDEFINED)
		gigarank_release_object(c->handler);
	c->handler = handler;
}

void gigarank_leave_handler(struct gigarank_comm *c) { gigarank_set_handler(c, NULL); }

void gigarank_inherit_handler(int32_t index, struct gigarank_comm *made) {
	struct gigarank_comm *of = gigarank_running()->errors_return ? gigarank_comm_record(index) : NULL;
	if (of && of->handler)
		gigarank_set_handler(made, of->handler);
}

void *gigarank_keep_handler(MPI_Errhandler handler) {
	void *kept = (uintptr_t)handler < GIGARANK_PREDEFINED ? NULL : gigarank_object(GIGARANK_ERRHANDLER, handler);
	return kept ? gigarank_retain(kept) : NULL;
}

void gigarank_call_handler(void *kept, void *about, int code) {
	struct gigarank_errhandler *h = kept;
	if (h->fortran)
		gigarank_hooks.call_errhandler(h->function, *(void **)about, code);
	else
		h->function((MPI_Comm *)about, &code, NULL);
}
