/* The functions that lower folders call in higher folders. */
#include "fortran/fortran.h"
#include "libc/environment.h"
#include "libc/files.h"
#include "libc/launchers.h"
#include "libc/process.h"
#include "libc/signals.h"
#include "mpi/error_handlers.h"
#include "mpi/objects.h"
#include "mpi/start.h"
#include "rank/hooks.h"

const struct gigarank_hooks gigarank_hooks = {
	.without_launcher = gigarank_without_launcher,
	.begin_environment = gigarank_begin_environment,
	.adopt = gigarank_adopt,
	.handler = gigarank_handler,
	.forget_process = gigarank_forget_process,
	.close_directories = gigarank_close_directories,
	.close_fortran = gigarank_close_fortran,

	.handle_error = gigarank_handle_error,
	.forget_rank = gigarank_forget_rank,
	.close_objects = gigarank_close_objects,

	.number_of = gigarank_number_of,
	.call_errhandler = gigarank_call_errhandler,
	.call_operation = gigarank_call_operation,
};
