/* Attributes of communicators and datatypes, and error handlers. */
#ifndef GIGARANK_ATTRIBUTES_H
#define GIGARANK_ATTRIBUTES_H

#include "mpi/objects.h"

/* An attribute of a communicator or datatype. */
struct gigarank_attribute {
	struct gigarank_attribute *next; /* set earlier */
	struct gigarank_keyval *key;
	void *value;
};

#pragma GCC visibility push(hidden)

/* gigarank_forget_rank gives back what a rank has of its own, and its communicators. */
void gigarank_forget_rank(struct gigarank_rank *r);

/* gigarank_forget_comm gives back what a rank has noted of a communicator. */
void gigarank_forget_comm(struct gigarank_comm *c);

/* gigarank_leave_handler ends the use of its error handler by a communicator. */
void gigarank_leave_handler(struct gigarank_comm *c);

/* gigarank_forget_types gives back the attributes of predefined types. */
void gigarank_forget_types(struct gigarank_own *own);

/* gigarank_keep_handler returns the object of an error handler with one more use, NULL for a predefined one or
 * none. gigarank_call_handler calls its function with a handle and a code. */
void *gigarank_keep_handler(MPI_Errhandler handler);
void gigarank_call_handler(void *kept, void *about, int code);

/* gigarank_inherit_handler gives a communicator the error handler of another one, by its index.
 * gigarank_check_handler refuses a handle that is no error handler. */
void gigarank_inherit_handler(int32_t index, struct gigarank_comm *made);
int gigarank_check_handler(const char *function, MPI_Errhandler handler);

/* gigarank_add_hints gives a communicator hints, beside those of other keys. gigarank_leave_hints gives back those
 * of a communicator that is freed. */
int gigarank_add_hints(const char *function, struct gigarank_comm *c, MPI_Info hints);
void gigarank_leave_hints(struct gigarank_comm *c);

/* gigarank_leave_file_handler ends the use of what a rank has of the error handler of MPI_FILE_NULL. */
void gigarank_leave_file_handler(struct gigarank_file_handler *h);


/* gigarank_copy_attributes calls the copy functions of a communicator that was duplicated by a
 * function, which errors name. If one fails, the duplicate is freed. */
int gigarank_copy_attributes(const char *function, MPI_Comm comm, MPI_Comm *made);

/* gigarank_drop_attributes calls the delete functions of what is freed, the latest attribute
 * first, up to one that fails. */
int gigarank_drop_attributes(const char *function, MPI_Comm comm);
int gigarank_drop_type_attributes(const char *function, struct gigarank_datatype *t);
int gigarank_copy_type_attributes(MPI_Datatype type, struct gigarank_datatype *from, struct gigarank_datatype *to);

/* gigarank_free_attributes gives attributes back without a call. */
void gigarank_free_attributes(struct gigarank_attribute *list);

/* gigarank_handle_error calls the error handler of a communicator, by index. */
void gigarank_handle_error(int32_t comm, int code);

#pragma GCC visibility pop

#endif
