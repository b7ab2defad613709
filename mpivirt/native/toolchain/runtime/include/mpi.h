/* MPI for C programs whose ranks gigarank simulates. Handles and constants are those of the
 * standard ABI of MPI 5.0 (chapter "Application Binary Interface"). Functions that are supported
 * are declared here, unsupported functions in mpi_unsupported.h. */
#ifndef GIGARANK_MPI_H
#define GIGARANK_MPI_H

#include <stdint.h>

/* A constant of a type that is a pointer, and its null pointer, without warnings of -Wold-style-cast and
 * -Wzero-as-null-pointer-constant. */
#ifdef __cplusplus
extern "C" {
#define GIGARANK_CONSTANT(type, value) (reinterpret_cast<type>(value))
#if __cplusplus >= 201103L
#define GIGARANK_NONE_OF(type) (static_cast<type>(nullptr))
#else
#define GIGARANK_NONE_OF(type) (static_cast<type>(0))
#endif
#else
#define GIGARANK_CONSTANT(type, value) ((type)(value))
#define GIGARANK_NONE_OF(type) ((type)0)
#endif

#define MPI_VERSION 3
#define MPI_SUBVERSION 1
#define MPI_ABI_VERSION 1
#define MPI_ABI_SUBVERSION 0

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef MPI_Offset MPI_Count;
typedef int MPI_Fint;

typedef struct {
	int MPI_SOURCE;
	int MPI_TAG;
	int MPI_ERROR;
	int MPI_internal[5];
} MPI_Status;

/* That of module mpi_f08. */
typedef struct {
	MPI_Fint MPI_SOURCE;
	MPI_Fint MPI_TAG;
	MPI_Fint MPI_ERROR;
	MPI_Fint MPI_internal[5];
} MPI_F08_status;

typedef struct MPI_ABI_Comm *MPI_Comm;
#define MPI_COMM_NULL GIGARANK_CONSTANT(MPI_Comm, 0x100)
#define MPI_COMM_WORLD GIGARANK_CONSTANT(MPI_Comm, 0x101)
#define MPI_COMM_SELF GIGARANK_CONSTANT(MPI_Comm, 0x102)

typedef struct MPI_ABI_Group *MPI_Group;
#define MPI_GROUP_NULL GIGARANK_CONSTANT(MPI_Group, 0x108)
#define MPI_GROUP_EMPTY GIGARANK_CONSTANT(MPI_Group, 0x109)

typedef struct MPI_ABI_Win *MPI_Win;
#define MPI_WIN_NULL GIGARANK_CONSTANT(MPI_Win, 0x110)

typedef struct MPI_ABI_File *MPI_File;
#define MPI_FILE_NULL GIGARANK_CONSTANT(MPI_File, 0x118)

typedef struct MPI_ABI_Message *MPI_Message;
#define MPI_MESSAGE_NULL GIGARANK_CONSTANT(MPI_Message, 0x128)
#define MPI_MESSAGE_NO_PROC GIGARANK_CONSTANT(MPI_Message, 0x129)

typedef struct MPI_ABI_Session *MPI_Session;
#define MPI_SESSION_NULL GIGARANK_CONSTANT(MPI_Session, 0x120)
typedef struct MPI_ABI_Info *MPI_Info;
#define MPI_INFO_NULL GIGARANK_CONSTANT(MPI_Info, 0x130)
#define MPI_INFO_ENV GIGARANK_CONSTANT(MPI_Info, 0x131)

typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
#define MPI_ERRHANDLER_NULL GIGARANK_CONSTANT(MPI_Errhandler, 0x140)
#define MPI_ERRORS_ARE_FATAL GIGARANK_CONSTANT(MPI_Errhandler, 0x141)
#define MPI_ERRORS_ABORT GIGARANK_CONSTANT(MPI_Errhandler, 0x142)
#define MPI_ERRORS_RETURN GIGARANK_CONSTANT(MPI_Errhandler, 0x143)

typedef struct MPI_ABI_Request *MPI_Request;
#define MPI_REQUEST_NULL GIGARANK_CONSTANT(MPI_Request, 0x180)

typedef struct MPI_ABI_Op *MPI_Op;
#define MPI_OP_NULL GIGARANK_CONSTANT(MPI_Op, 0x20)
#define MPI_SUM GIGARANK_CONSTANT(MPI_Op, 0x21)
#define MPI_MIN GIGARANK_CONSTANT(MPI_Op, 0x22)
#define MPI_MAX GIGARANK_CONSTANT(MPI_Op, 0x23)
#define MPI_PROD GIGARANK_CONSTANT(MPI_Op, 0x24)
#define MPI_BAND GIGARANK_CONSTANT(MPI_Op, 0x28)
#define MPI_BOR GIGARANK_CONSTANT(MPI_Op, 0x29)
#define MPI_BXOR GIGARANK_CONSTANT(MPI_Op, 0x2a)
#define MPI_LAND GIGARANK_CONSTANT(MPI_Op, 0x30)
#define MPI_LOR GIGARANK_CONSTANT(MPI_Op, 0x31)
#define MPI_LXOR GIGARANK_CONSTANT(MPI_Op, 0x32)
#define MPI_MINLOC GIGARANK_CONSTANT(MPI_Op, 0x38)
#define MPI_MAXLOC GIGARANK_CONSTANT(MPI_Op, 0x39)
#define MPI_REPLACE GIGARANK_CONSTANT(MPI_Op, 0x3c)
#define MPI_NO_OP GIGARANK_CONSTANT(MPI_Op, 0x3d)

typedef struct MPI_ABI_Datatype *MPI_Datatype;
#define MPI_DATATYPE_NULL GIGARANK_CONSTANT(MPI_Datatype, 0x200)
#define MPI_AINT GIGARANK_CONSTANT(MPI_Datatype, 0x201)
#define MPI_COUNT GIGARANK_CONSTANT(MPI_Datatype, 0x202)
#define MPI_OFFSET GIGARANK_CONSTANT(MPI_Datatype, 0x203)
#define MPI_PACKED GIGARANK_CONSTANT(MPI_Datatype, 0x207)
#define MPI_SHORT GIGARANK_CONSTANT(MPI_Datatype, 0x208)
#define MPI_INT GIGARANK_CONSTANT(MPI_Datatype, 0x209)
#define MPI_LONG GIGARANK_CONSTANT(MPI_Datatype, 0x20a)
#define MPI_LONG_LONG GIGARANK_CONSTANT(MPI_Datatype, 0x20b)
#define MPI_LONG_LONG_INT MPI_LONG_LONG
#define MPI_UNSIGNED_SHORT GIGARANK_CONSTANT(MPI_Datatype, 0x20c)
#define MPI_UNSIGNED GIGARANK_CONSTANT(MPI_Datatype, 0x20d)
#define MPI_UNSIGNED_LONG GIGARANK_CONSTANT(MPI_Datatype, 0x20e)
#define MPI_UNSIGNED_LONG_LONG GIGARANK_CONSTANT(MPI_Datatype, 0x20f)
#define MPI_FLOAT GIGARANK_CONSTANT(MPI_Datatype, 0x210)
#define MPI_C_FLOAT_COMPLEX GIGARANK_CONSTANT(MPI_Datatype, 0x212)
#define MPI_C_COMPLEX MPI_C_FLOAT_COMPLEX
#define MPI_CXX_FLOAT_COMPLEX GIGARANK_CONSTANT(MPI_Datatype, 0x213)
#define MPI_DOUBLE GIGARANK_CONSTANT(MPI_Datatype, 0x214)
#define MPI_C_DOUBLE_COMPLEX GIGARANK_CONSTANT(MPI_Datatype, 0x216)
#define MPI_CXX_DOUBLE_COMPLEX GIGARANK_CONSTANT(MPI_Datatype, 0x217)
#define MPI_LOGICAL GIGARANK_CONSTANT(MPI_Datatype, 0x218)
#define MPI_INTEGER GIGARANK_CONSTANT(MPI_Datatype, 0x219)
#define MPI_REAL GIGARANK_CONSTANT(MPI_Datatype, 0x21a)
#define MPI_COMPLEX GIGARANK_CONSTANT(MPI_Datatype, 0x21b)
#define MPI_DOUBLE_PRECISION GIGARANK_CONSTANT(MPI_Datatype, 0x21c)
#define MPI_DOUBLE_COMPLEX GIGARANK_CONSTANT(MPI_Datatype, 0x21d)
#define MPI_CHARACTER GIGARANK_CONSTANT(MPI_Datatype, 0x21e)
#define MPI_LONG_DOUBLE GIGARANK_CONSTANT(MPI_Datatype, 0x220)
#define MPI_C_LONG_DOUBLE_COMPLEX GIGARANK_CONSTANT(MPI_Datatype, 0x224)
#define MPI_CXX_LONG_DOUBLE_COMPLEX GIGARANK_CONSTANT(MPI_Datatype, 0x225)
#define MPI_FLOAT_INT GIGARANK_CONSTANT(MPI_Datatype, 0x228)
#define MPI_DOUBLE_INT GIGARANK_CONSTANT(MPI_Datatype, 0x229)
#define MPI_LONG_INT GIGARANK_CONSTANT(MPI_Datatype, 0x22a)
#define MPI_2INT GIGARANK_CONSTANT(MPI_Datatype, 0x22b)
#define MPI_SHORT_INT GIGARANK_CONSTANT(MPI_Datatype, 0x22c)
#define MPI_LONG_DOUBLE_INT GIGARANK_CONSTANT(MPI_Datatype, 0x22d)
#define MPI_2REAL GIGARANK_CONSTANT(MPI_Datatype, 0x230)
#define MPI_2DOUBLE_PRECISION GIGARANK_CONSTANT(MPI_Datatype, 0x231)
#define MPI_2INTEGER GIGARANK_CONSTANT(MPI_Datatype, 0x232)
#define MPI_C_BOOL GIGARANK_CONSTANT(MPI_Datatype, 0x238)
#define MPI_CXX_BOOL GIGARANK_CONSTANT(MPI_Datatype, 0x239)
#define MPI_WCHAR GIGARANK_CONSTANT(MPI_Datatype, 0x23c)
#define MPI_INT8_T GIGARANK_CONSTANT(MPI_Datatype, 0x240)
#define MPI_UINT8_T GIGARANK_CONSTANT(MPI_Datatype, 0x241)
#define MPI_CHAR GIGARANK_CONSTANT(MPI_Datatype, 0x243)
#define MPI_SIGNED_CHAR GIGARANK_CONSTANT(MPI_Datatype, 0x244)
#define MPI_UNSIGNED_CHAR GIGARANK_CONSTANT(MPI_Datatype, 0x245)
#define MPI_BYTE GIGARANK_CONSTANT(MPI_Datatype, 0x247)
#define MPI_INT16_T GIGARANK_CONSTANT(MPI_Datatype, 0x248)
#define MPI_UINT16_T GIGARANK_CONSTANT(MPI_Datatype, 0x249)
#define MPI_INT32_T GIGARANK_CONSTANT(MPI_Datatype, 0x250)
#define MPI_UINT32_T GIGARANK_CONSTANT(MPI_Datatype, 0x251)
#define MPI_INT64_T GIGARANK_CONSTANT(MPI_Datatype, 0x258)
#define MPI_UINT64_T GIGARANK_CONSTANT(MPI_Datatype, 0x259)
#define MPI_LOGICAL1 GIGARANK_CONSTANT(MPI_Datatype, 0x2c0)
#define MPI_INTEGER1 GIGARANK_CONSTANT(MPI_Datatype, 0x2c1)
#define MPI_LOGICAL2 GIGARANK_CONSTANT(MPI_Datatype, 0x2c8)
#define MPI_INTEGER2 GIGARANK_CONSTANT(MPI_Datatype, 0x2c9)
#define MPI_LOGICAL4 GIGARANK_CONSTANT(MPI_Datatype, 0x2d0)
#define MPI_INTEGER4 GIGARANK_CONSTANT(MPI_Datatype, 0x2d1)
#define MPI_REAL2 GIGARANK_CONSTANT(MPI_Datatype, 0x2ca)
#define MPI_COMPLEX4 GIGARANK_CONSTANT(MPI_Datatype, 0x2d3)
#define MPI_LOGICAL16 GIGARANK_CONSTANT(MPI_Datatype, 0x2e0)
#define MPI_REAL4 GIGARANK_CONSTANT(MPI_Datatype, 0x2d2)
#define MPI_LOGICAL8 GIGARANK_CONSTANT(MPI_Datatype, 0x2d8)
#define MPI_INTEGER8 GIGARANK_CONSTANT(MPI_Datatype, 0x2d9)
#define MPI_REAL8 GIGARANK_CONSTANT(MPI_Datatype, 0x2da)
#define MPI_COMPLEX8 GIGARANK_CONSTANT(MPI_Datatype, 0x2db)
#define MPI_INTEGER16 GIGARANK_CONSTANT(MPI_Datatype, 0x2e1)
#define MPI_REAL16 GIGARANK_CONSTANT(MPI_Datatype, 0x2e2)
#define MPI_COMPLEX16 GIGARANK_CONSTANT(MPI_Datatype, 0x2e3)
#define MPI_COMPLEX32 GIGARANK_CONSTANT(MPI_Datatype, 0x2eb)
/* Of MPI-1: marks of bounds. */
#define MPI_LB GIGARANK_CONSTANT(MPI_Datatype, 0x2ee)
#define MPI_UB GIGARANK_CONSTANT(MPI_Datatype, 0x2ef)

/* Error classes. */
enum {
	MPI_SUCCESS = 0,
	MPI_ERR_BUFFER = 1,
	MPI_ERR_COUNT = 2,
	MPI_ERR_TYPE = 3,
	MPI_ERR_TAG = 4,
	MPI_ERR_COMM = 5,
	MPI_ERR_RANK = 6,
	MPI_ERR_REQUEST = 7,
	MPI_ERR_ROOT = 8,
	MPI_ERR_GROUP = 9,
	MPI_ERR_OP = 10,
	MPI_ERR_TOPOLOGY = 11,
	MPI_ERR_DIMS = 12,
	MPI_ERR_ARG = 13,
	MPI_ERR_UNKNOWN = 14,
	MPI_ERR_TRUNCATE = 15,
	MPI_ERR_OTHER = 16,
	MPI_ERR_INTERN = 17,
	MPI_ERR_PENDING = 18,
	MPI_ERR_IN_STATUS = 19,
	MPI_ERR_ACCESS = 20, MPI_ERR_AMODE, MPI_ERR_ASSERT, MPI_ERR_BAD_FILE, MPI_ERR_BASE, MPI_ERR_CONVERSION, MPI_ERR_DISP, MPI_ERR_DUP_DATAREP,
	MPI_ERR_FILE_EXISTS, MPI_ERR_FILE_IN_USE, MPI_ERR_FILE, MPI_ERR_INFO_KEY, MPI_ERR_INFO_NOKEY, MPI_ERR_INFO_VALUE, MPI_ERR_INFO, MPI_ERR_IO,
	MPI_ERR_KEYVAL, MPI_ERR_LOCKTYPE, MPI_ERR_NAME, MPI_ERR_NO_MEM, MPI_ERR_NOT_SAME, MPI_ERR_NO_SPACE, MPI_ERR_NO_SUCH_FILE, MPI_ERR_PORT,
	MPI_ERR_QUOTA, MPI_ERR_READ_ONLY, MPI_ERR_RMA_ATTACH, MPI_ERR_RMA_CONFLICT, MPI_ERR_RMA_RANGE, MPI_ERR_RMA_SHARED, MPI_ERR_RMA_SYNC,
	MPI_ERR_SERVICE, MPI_ERR_SIZE, MPI_ERR_SPAWN, MPI_ERR_UNSUPPORTED_DATAREP, MPI_ERR_UNSUPPORTED_OPERATION, MPI_ERR_WIN, MPI_ERR_RMA_FLAVOR,
	MPI_ERR_PROC_ABORTED, MPI_ERR_VALUE_TOO_LARGE, MPI_ERR_SESSION, MPI_ERR_ERRHANDLER, MPI_ERR_ABI,
	MPI_ERR_LASTCODE = 0x3fff
};

enum {
	MPI_ANY_SOURCE = -1,
	MPI_ANY_TAG = -2,
	MPI_PROC_NULL = -3,
	MPI_ROOT = -4,
	MPI_UNDEFINED = -32766
};

enum {
	MPI_THREAD_SINGLE = 0,
	MPI_THREAD_FUNNELED = 1024,
	MPI_THREAD_SERIALIZED = 2048,
	MPI_THREAD_MULTIPLE = 4096
};

enum { MPI_COMM_TYPE_SHARED = 221, MPI_COMM_TYPE_HW_UNGUIDED, MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED };
enum { MPI_IDENT = 201, MPI_CONGRUENT = 202, MPI_SIMILAR = 203, MPI_UNEQUAL = 204 };

/* How datatypes are made. */
enum {
	MPI_ORDER_C = 12, MPI_ORDER_FORTRAN = 15,
	MPI_DISTRIBUTE_NONE = 16, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG,
	MPI_COMBINER_NAMED = 101, MPI_COMBINER_DUP, MPI_COMBINER_CONTIGUOUS, MPI_COMBINER_VECTOR, MPI_COMBINER_HVECTOR, MPI_COMBINER_INDEXED,
	MPI_COMBINER_HINDEXED, MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_HINDEXED_BLOCK, MPI_COMBINER_STRUCT, MPI_COMBINER_SUBARRAY,
	MPI_COMBINER_DARRAY, MPI_COMBINER_F90_REAL, MPI_COMBINER_F90_COMPLEX, MPI_COMBINER_F90_INTEGER, MPI_COMBINER_RESIZED, MPI_COMBINER_VALUE_INDEX,
	MPI_TYPECLASS_INTEGER = 192, MPI_TYPECLASS_REAL, MPI_TYPECLASS_COMPLEX
};

enum { MPI_CART = 211, MPI_GRAPH = 212, MPI_DIST_GRAPH = 213 };
#define MPI_UNWEIGHTED GIGARANK_CONSTANT(int *, 10)
#define MPI_WEIGHTS_EMPTY GIGARANK_CONSTANT(int *, 11)

/* Predefined attributes. */
enum {
	MPI_KEYVAL_INVALID = 0,
	MPI_TAG_UB = 501, MPI_IO, MPI_HOST, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_LASTUSEDCODE, MPI_UNIVERSE_SIZE
};

/* Of windows, files and processes that a program starts, which native ranks do not have. */
enum {
	MPI_LOCK_EXCLUSIVE = 301, MPI_LOCK_SHARED, MPI_WIN_FLAVOR_CREATE = 311, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_DYNAMIC, MPI_WIN_FLAVOR_SHARED,
	MPI_WIN_UNIFIED = 321, MPI_WIN_SEPARATE, MPI_SEEK_CUR = 401, MPI_SEEK_END, MPI_SEEK_SET,
	MPI_WIN_BASE = 601, MPI_WIN_DISP_UNIT, MPI_WIN_SIZE, MPI_WIN_CREATE_FLAVOR, MPI_WIN_MODEL
};
enum {
	MPI_MODE_APPEND = 1, MPI_MODE_CREATE = 2, MPI_MODE_DELETE_ON_CLOSE = 4, MPI_MODE_EXCL = 8, MPI_MODE_RDONLY = 16, MPI_MODE_RDWR = 32,
	MPI_MODE_SEQUENTIAL = 64, MPI_MODE_UNIQUE_OPEN = 128, MPI_MODE_WRONLY = 256,
	MPI_MODE_NOCHECK = 1024, MPI_MODE_NOPRECEDE = 2048, MPI_MODE_NOPUT = 4096, MPI_MODE_NOSTORE = 8192, MPI_MODE_NOSUCCEED = 16384
};
#define MPI_DISPLACEMENT_CURRENT (INT64_C(-1))
#define MPI_ARGV_NULL GIGARANK_NONE_OF(char **)
#define MPI_ARGVS_NULL GIGARANK_NONE_OF(char ***)
#define MPI_ERRCODES_IGNORE GIGARANK_NONE_OF(int *)

#define MPI_BOTTOM GIGARANK_NONE_OF(void *)
#define MPI_IN_PLACE GIGARANK_CONSTANT(void *, 1)
#define MPI_BUFFER_AUTOMATIC GIGARANK_CONSTANT(void *, 2)
#define MPI_STATUS_IGNORE GIGARANK_NONE_OF(MPI_Status *)
#define MPI_STATUSES_IGNORE GIGARANK_NONE_OF(MPI_Status *)

#define MPI_F_STATUS_SIZE 8
#define MPI_F_SOURCE 0
#define MPI_F_TAG 1
#define MPI_F_ERROR 2

#define MPI_MAX_PROCESSOR_NAME 256
#define MPI_MAX_ERROR_STRING 512
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MAX_OBJECT_NAME 128
#define MPI_MAX_INFO_KEY 256
#define MPI_MAX_INFO_VAL 1024
#define MPI_MAX_DATAREP_STRING 128
#define MPI_MAX_PORT_NAME 1024
#define MPI_MAX_STRINGTAG_LEN 1024
#define MPI_MAX_PSET_NAME_LEN 1024
#define MPI_BSEND_OVERHEAD 512

typedef int MPI_Grequest_query_function(void *extra, MPI_Status *status);
typedef int MPI_Grequest_free_function(void *extra);
typedef int MPI_Grequest_cancel_function(void *extra, int complete);
typedef void MPI_User_function(void *in, void *inout, int *count, MPI_Datatype *type);
typedef void MPI_User_function_c(void *in, void *inout, MPI_Count *count, MPI_Datatype *type);

typedef int MPI_Comm_copy_attr_function(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag);
typedef int MPI_Comm_delete_attr_function(MPI_Comm comm, int key, void *value, void *extra);
typedef int MPI_Type_copy_attr_function(MPI_Datatype type, int key, void *extra, void *value, void *copy, int *flag);
typedef int MPI_Type_delete_attr_function(MPI_Datatype type, int key, void *value, void *extra);
typedef MPI_Comm_copy_attr_function MPI_Copy_function;
typedef MPI_Comm_delete_attr_function MPI_Delete_function;
typedef int MPI_Win_copy_attr_function(MPI_Win win, int key, void *extra, void *value, void *copy, int *flag);
typedef int MPI_Win_delete_attr_function(MPI_Win win, int key, void *value, void *extra);
typedef void MPI_Win_errhandler_function(MPI_Win *win, int *code, ...);
typedef void MPI_File_errhandler_function(MPI_File *file, int *code, ...);
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
typedef int MPI_Datarep_extent_function(MPI_Datatype type, MPI_Aint *extent, void *extra);
typedef int MPI_Datarep_conversion_function(void *buffer, MPI_Datatype type, int count, void *in_file, MPI_Offset position, void *extra);
typedef int MPI_Datarep_conversion_function_c(void *buffer, MPI_Datatype type, MPI_Count count, void *in_file, MPI_Offset position, void *extra);
#define MPI_WIN_NULL_COPY_FN GIGARANK_NONE_OF(MPI_Win_copy_attr_function *)
#define MPI_WIN_DUP_FN GIGARANK_CONSTANT(MPI_Win_copy_attr_function *, 1)
#define MPI_WIN_NULL_DELETE_FN GIGARANK_NONE_OF(MPI_Win_delete_attr_function *)
#define MPI_CONVERSION_FN_NULL GIGARANK_NONE_OF(MPI_Datarep_conversion_function *)
#define MPI_CONVERSION_FN_NULL_C GIGARANK_NONE_OF(MPI_Datarep_conversion_function_c *)
typedef void MPI_Comm_errhandler_function(MPI_Comm *comm, int *code, ...);
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_Comm_errhandler_function MPI_Handler_function;
#define MPI_COMM_NULL_COPY_FN GIGARANK_NONE_OF(MPI_Comm_copy_attr_function *)
#define MPI_COMM_DUP_FN GIGARANK_CONSTANT(MPI_Comm_copy_attr_function *, 1)
#define MPI_COMM_NULL_DELETE_FN GIGARANK_NONE_OF(MPI_Comm_delete_attr_function *)
#define MPI_TYPE_NULL_COPY_FN GIGARANK_NONE_OF(MPI_Type_copy_attr_function *)
#define MPI_TYPE_DUP_FN GIGARANK_CONSTANT(MPI_Type_copy_attr_function *, 1)
#define MPI_TYPE_NULL_DELETE_FN GIGARANK_NONE_OF(MPI_Type_delete_attr_function *)
#define MPI_NULL_COPY_FN MPI_COMM_NULL_COPY_FN
#define MPI_DUP_FN MPI_COMM_DUP_FN
#define MPI_NULL_DELETE_FN MPI_COMM_NULL_DELETE_FN

/* Each function has a second name, for libraries that put one of their own in its place. */
#define GIGARANK_MPI(type, name, arguments) \
	type name arguments; \
	type P##name arguments;


/* Environment. */
GIGARANK_MPI(int, MPI_Init, (int *argc, char ***argv))
GIGARANK_MPI(int, MPI_Init_thread, (int *argc, char ***argv, int required, int *provided))
GIGARANK_MPI(int, MPI_Initialized, (int *flag))
GIGARANK_MPI(int, MPI_Finalize, (void))
GIGARANK_MPI(int, MPI_Finalized, (int *flag))
GIGARANK_MPI(int, MPI_Query_thread, (int *provided))
GIGARANK_MPI(int, MPI_Is_thread_main, (int *flag))
GIGARANK_MPI(int, MPI_Abort, (MPI_Comm comm, int errorcode))
GIGARANK_MPI(int, MPI_Get_version, (int *version, int *subversion))
GIGARANK_MPI(int, MPI_Get_library_version, (char *version, int *resultlen))
GIGARANK_MPI(int, MPI_Get_processor_name, (char *name, int *resultlen))
GIGARANK_MPI(double, MPI_Wtime, (void))
GIGARANK_MPI(double, MPI_Wtick, (void))
GIGARANK_MPI(int, MPI_Pcontrol, (const int level, ...))
GIGARANK_MPI(int, MPI_Alloc_mem, (MPI_Aint size, MPI_Info info, void *baseptr))
GIGARANK_MPI(int, MPI_Free_mem, (void *base))
GIGARANK_MPI(int, MPI_Get_address, (const void *location, MPI_Aint *address))

/* Errors. */
GIGARANK_MPI(int, MPI_Error_class, (int errorcode, int *errorclass))
GIGARANK_MPI(int, MPI_Error_string, (int errorcode, char *string, int *resultlen))
GIGARANK_MPI(int, MPI_Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler))
GIGARANK_MPI(int, MPI_Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler *errhandler))
GIGARANK_MPI(int, MPI_Errhandler_free, (MPI_Errhandler *errhandler))
GIGARANK_MPI(int, MPI_Comm_create_errhandler, (MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler))
GIGARANK_MPI(int, MPI_Comm_call_errhandler, (MPI_Comm comm, int errorcode))
GIGARANK_MPI(int, MPI_File_create_errhandler, (MPI_File_errhandler_function *file_errhandler_fn, MPI_Errhandler *errhandler))
GIGARANK_MPI(int, MPI_File_set_errhandler, (MPI_File file, MPI_Errhandler errhandler))
GIGARANK_MPI(int, MPI_File_get_errhandler, (MPI_File file, MPI_Errhandler *errhandler))
GIGARANK_MPI(int, MPI_File_call_errhandler, (MPI_File fh, int errorcode))
GIGARANK_MPI(int, MPI_Add_error_class, (int *errorclass))
GIGARANK_MPI(int, MPI_Add_error_code, (int errorclass, int *errorcode))
GIGARANK_MPI(int, MPI_Add_error_string, (int errorcode, const char *string))
GIGARANK_MPI(int, MPI_Remove_error_class, (int errorclass))
GIGARANK_MPI(int, MPI_Remove_error_code, (int errorcode))
GIGARANK_MPI(int, MPI_Remove_error_string, (int errorcode))

/* Communicators. */
GIGARANK_MPI(int, MPI_Comm_rank, (MPI_Comm comm, int *rank))
GIGARANK_MPI(int, MPI_Comm_size, (MPI_Comm comm, int *size))
GIGARANK_MPI(int, MPI_Comm_dup, (MPI_Comm comm, MPI_Comm *newcomm))
GIGARANK_MPI(int, MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *newcomm))
GIGARANK_MPI(int, MPI_Comm_free, (MPI_Comm *comm))
GIGARANK_MPI(int, MPI_Comm_compare, (MPI_Comm comm1, MPI_Comm comm2, int *result))
GIGARANK_MPI(int, MPI_Comm_test_inter, (MPI_Comm comm, int *flag))
GIGARANK_MPI(int, MPI_Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm))
GIGARANK_MPI(int, MPI_Comm_idup, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Comm_idup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm))
GIGARANK_MPI(int, MPI_Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm))
GIGARANK_MPI(int, MPI_Comm_split_type, (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm))
GIGARANK_MPI(int, MPI_Comm_disconnect, (MPI_Comm *comm))
GIGARANK_MPI(int, MPI_Comm_group, (MPI_Comm comm, MPI_Group *group))
GIGARANK_MPI(int, MPI_Comm_remote_size, (MPI_Comm comm, int *size))
GIGARANK_MPI(int, MPI_Comm_remote_group, (MPI_Comm comm, MPI_Group *group))
GIGARANK_MPI(int, MPI_Comm_set_name, (MPI_Comm comm, const char *comm_name))
GIGARANK_MPI(int, MPI_Comm_get_name, (MPI_Comm comm, char *comm_name, int *resultlen))
GIGARANK_MPI(int, MPI_Comm_get_parent, (MPI_Comm *parent))
GIGARANK_MPI(int, MPI_Intercomm_create, (MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag, MPI_Comm *newintercomm))
GIGARANK_MPI(int, MPI_Intercomm_merge, (MPI_Comm intercomm, int high, MPI_Comm *newintracomm))

/* Groups. */
GIGARANK_MPI(int, MPI_Group_size, (MPI_Group group, int *size))
GIGARANK_MPI(int, MPI_Group_rank, (MPI_Group group, int *rank))
GIGARANK_MPI(int, MPI_Group_compare, (MPI_Group group1, MPI_Group group2, int *result))
GIGARANK_MPI(int, MPI_Group_translate_ranks, (MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]))
GIGARANK_MPI(int, MPI_Group_union, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup))
GIGARANK_MPI(int, MPI_Group_intersection, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup))
GIGARANK_MPI(int, MPI_Group_difference, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup))
GIGARANK_MPI(int, MPI_Group_incl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup))
GIGARANK_MPI(int, MPI_Group_excl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup))
GIGARANK_MPI(int, MPI_Group_range_incl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup))
GIGARANK_MPI(int, MPI_Group_range_excl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup))
GIGARANK_MPI(int, MPI_Group_free, (MPI_Group *group))
GIGARANK_MPI(int, MPI_Comm_get_attr, (MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag))

/* Topologies. */
GIGARANK_MPI(int, MPI_Topo_test, (MPI_Comm comm, int *status))
GIGARANK_MPI(int, MPI_Dims_create, (int nnodes, int ndims, int dims[]))
GIGARANK_MPI(int, MPI_Cart_create, (MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm *comm_cart))
GIGARANK_MPI(int, MPI_Cart_sub, (MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm))
GIGARANK_MPI(int, MPI_Cartdim_get, (MPI_Comm comm, int *ndims))
GIGARANK_MPI(int, MPI_Cart_get, (MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]))
GIGARANK_MPI(int, MPI_Cart_rank, (MPI_Comm comm, const int coords[], int *rank))
GIGARANK_MPI(int, MPI_Cart_coords, (MPI_Comm comm, int rank, int maxdims, int coords[]))
GIGARANK_MPI(int, MPI_Cart_shift, (MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest))
GIGARANK_MPI(int, MPI_Cart_map, (MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank))
GIGARANK_MPI(int, MPI_Graph_create, (MPI_Comm comm_old, int nnodes, const int index[], const int edges[], int reorder, MPI_Comm *comm_graph))
GIGARANK_MPI(int, MPI_Graphdims_get, (MPI_Comm comm, int *nnodes, int *nedges))
GIGARANK_MPI(int, MPI_Graph_get, (MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[]))
GIGARANK_MPI(int, MPI_Graph_neighbors_count, (MPI_Comm comm, int rank, int *nneighbors))
GIGARANK_MPI(int, MPI_Graph_neighbors, (MPI_Comm comm, int rank, int maxneighbors, int neighbors[]))
GIGARANK_MPI(int, MPI_Graph_map, (MPI_Comm comm, int nnodes, const int index[], const int edges[], int *newrank))
GIGARANK_MPI(int, MPI_Dist_graph_create_adjacent, (MPI_Comm comm_old, int indegree, const int sources[], const int *sourceweights, int outdegree, const int destinations[], const int *destweights, MPI_Info info, int reorder, MPI_Comm *comm_dist_graph))
GIGARANK_MPI(int, MPI_Dist_graph_create, (MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int destinations[], const int *weights, MPI_Info info, int reorder, MPI_Comm *comm_dist_graph))
GIGARANK_MPI(int, MPI_Dist_graph_neighbors_count, (MPI_Comm comm, int *indegree, int *outdegree, int *weighted))
GIGARANK_MPI(int, MPI_Dist_graph_neighbors, (MPI_Comm comm, int maxindegree, int sources[], int *sourceweights, int maxoutdegree, int destinations[], int *destweights))

/* Messages. */
GIGARANK_MPI(int, MPI_Send, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Ssend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Bsend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Rsend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Recv, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status))
GIGARANK_MPI(int, MPI_Isend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Issend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Ibsend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Irsend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Irecv, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Sendrecv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status))
GIGARANK_MPI(int, MPI_Isendrecv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Isendrecv_replace, (void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Sendrecv_replace, (void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status))
GIGARANK_MPI(int, MPI_Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status))
GIGARANK_MPI(int, MPI_Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status))
GIGARANK_MPI(int, MPI_Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status))
GIGARANK_MPI(int, MPI_Improbe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status))
GIGARANK_MPI(int, MPI_Mrecv, (void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status))
GIGARANK_MPI(int, MPI_Imrecv, (void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request))
GIGARANK_MPI(int, MPI_Get_count, (const MPI_Status *status, MPI_Datatype datatype, int *count))
GIGARANK_MPI(int, MPI_Get_elements, (const MPI_Status *status, MPI_Datatype datatype, int *count))
GIGARANK_MPI(int, MPI_Buffer_attach, (void *buffer, int size))
GIGARANK_MPI(int, MPI_Buffer_detach, (void *buffer_addr, int *size))
GIGARANK_MPI(int, MPI_Send_init, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Ssend_init, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Bsend_init, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Rsend_init, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Recv_init, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Start, (MPI_Request *request))
GIGARANK_MPI(int, MPI_Startall, (int count, MPI_Request array_of_requests[]))
GIGARANK_MPI(int, MPI_Psend_init, (const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Precv_init, (void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Pready, (int partition, MPI_Request request))
GIGARANK_MPI(int, MPI_Pready_range, (int partition_low, int partition_high, MPI_Request request))
GIGARANK_MPI(int, MPI_Pready_list, (int length, const int array_of_partitions[], MPI_Request request))
GIGARANK_MPI(int, MPI_Parrived, (MPI_Request request, int partition, int *flag))
GIGARANK_MPI(int, MPI_Request_free, (MPI_Request *request))
GIGARANK_MPI(int, MPI_Cancel, (MPI_Request *request))
GIGARANK_MPI(int, MPI_Grequest_start, (MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn, MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request))
GIGARANK_MPI(int, MPI_Grequest_complete, (MPI_Request request))
GIGARANK_MPI(int, MPI_Status_set_cancelled, (MPI_Status *status, int flag))
GIGARANK_MPI(int, MPI_Test_cancelled, (const MPI_Status *status, int *flag))
GIGARANK_MPI(int, MPI_Status_get_source, (const MPI_Status *status, int *source))
GIGARANK_MPI(int, MPI_Status_set_source, (MPI_Status *status, int source))
GIGARANK_MPI(int, MPI_Status_get_tag, (const MPI_Status *status, int *tag))
GIGARANK_MPI(int, MPI_Status_set_tag, (MPI_Status *status, int tag))
GIGARANK_MPI(int, MPI_Status_get_error, (const MPI_Status *status, int *err))
GIGARANK_MPI(int, MPI_Status_set_error, (MPI_Status *status, int err))
GIGARANK_MPI(int, MPI_Request_get_status, (MPI_Request request, int *flag, MPI_Status *status))
GIGARANK_MPI(int, MPI_Request_get_status_all, (int count, const MPI_Request array_of_requests[], int *flag, MPI_Status array_of_statuses[]))
GIGARANK_MPI(int, MPI_Request_get_status_any, (int count, const MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status))
GIGARANK_MPI(int, MPI_Request_get_status_some, (int incount, const MPI_Request array_of_requests[], int *outcount, int array_of_indices[], MPI_Status array_of_statuses[]))

/* Waits. */
GIGARANK_MPI(int, MPI_Wait, (MPI_Request *request, MPI_Status *status))
GIGARANK_MPI(int, MPI_Waitall, (int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]))
GIGARANK_MPI(int, MPI_Waitany, (int count, MPI_Request array_of_requests[], int *index, MPI_Status *status))
GIGARANK_MPI(int, MPI_Waitsome, (int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[], MPI_Status array_of_statuses[]))
GIGARANK_MPI(int, MPI_Test, (MPI_Request *request, int *flag, MPI_Status *status))
GIGARANK_MPI(int, MPI_Testall, (int count, MPI_Request array_of_requests[], int *flag, MPI_Status array_of_statuses[]))
GIGARANK_MPI(int, MPI_Testany, (int count, MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status))
GIGARANK_MPI(int, MPI_Testsome, (int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[], MPI_Status array_of_statuses[]))

/* Collectives. */
GIGARANK_MPI(int, MPI_Barrier, (MPI_Comm comm))
GIGARANK_MPI(int, MPI_Bcast, (void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Reduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Allreduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Gather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Gatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Scatter, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Scatterv, (const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Allgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Alltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Alltoallv, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Reduce_scatter, (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Reduce_scatter_block, (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Scan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Exscan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Ibarrier, (MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Ibcast, (void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Ireduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Iallreduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Igather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Igatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Iscatter, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Iscatterv, (const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Iallgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Iallgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Ialltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Ialltoallv, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Ireduce_scatter, (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Ireduce_scatter_block, (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Iscan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Iexscan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request))

/* Neighbourhood collectives. */
GIGARANK_MPI(int, MPI_Neighbor_allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Ineighbor_allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Neighbor_allgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Ineighbor_allgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Neighbor_alltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Ineighbor_alltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Neighbor_alltoallv, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Ineighbor_alltoallv, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
GIGARANK_MPI(int, MPI_Neighbor_alltoallw, (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm))
GIGARANK_MPI(int, MPI_Ineighbor_alltoallw, (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request))

/* Persistent collectives. */
GIGARANK_MPI(int, MPI_Reduce_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Reduce_scatter_init, (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Scatterv_init, (const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Alltoallw_init, (const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Neighbor_alltoallw_init, (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Barrier_init, (MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Bcast_init, (void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Allreduce_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Scan_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Exscan_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Reduce_scatter_block_init, (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Gather_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Scatter_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Allgather_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Alltoall_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Neighbor_allgather_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Neighbor_alltoall_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Gatherv_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Allgatherv_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Neighbor_allgatherv_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Alltoallv_init, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_MPI(int, MPI_Neighbor_alltoallv_init, (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))

/* Operations and types. */
GIGARANK_MPI(int, MPI_Op_create, (MPI_User_function *user_fn, int commute, MPI_Op *op))
GIGARANK_MPI(int, MPI_Op_free, (MPI_Op *op))
GIGARANK_MPI(int, MPI_Op_commutative, (MPI_Op op, int *commute))
GIGARANK_MPI(int, MPI_Reduce_local, (const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype, MPI_Op op))
GIGARANK_MPI(int, MPI_Type_size, (MPI_Datatype datatype, int *size))
GIGARANK_MPI(int, MPI_Type_get_extent, (MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent))

/* Datatypes. */
GIGARANK_MPI(int, MPI_Type_contiguous, (int count, MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_MPI(int, MPI_Type_vector, (int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_MPI(int, MPI_Type_create_hvector, (int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_MPI(int, MPI_Type_indexed, (int count, const int array_of_blocklengths[], const int array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_MPI(int, MPI_Type_create_hindexed, (int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_MPI(int, MPI_Type_create_indexed_block, (int count, int blocklength, const int array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_MPI(int, MPI_Type_create_hindexed_block, (int count, int blocklength, const MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_MPI(int, MPI_Type_create_struct, (int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype))
GIGARANK_MPI(int, MPI_Type_create_resized, (MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype))
GIGARANK_MPI(int, MPI_Type_create_subarray, (int ndims, const int array_of_sizes[], const int array_of_subsizes[], const int array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_MPI(int, MPI_Type_create_darray, (int size, int rank, int ndims, const int array_of_gsizes[], const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_MPI(int, MPI_Type_dup, (MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_MPI(int, MPI_Type_commit, (MPI_Datatype *datatype))
GIGARANK_MPI(int, MPI_Type_free, (MPI_Datatype *datatype))
GIGARANK_MPI(int, MPI_Type_size_x, (MPI_Datatype datatype, MPI_Count *size))
GIGARANK_MPI(int, MPI_Type_size_c, (MPI_Datatype datatype, MPI_Count *size))
GIGARANK_MPI(int, MPI_Type_get_extent_x, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent))
GIGARANK_MPI(int, MPI_Type_get_extent_c, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent))
GIGARANK_MPI(int, MPI_Type_get_true_extent, (MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent))
GIGARANK_MPI(int, MPI_Type_get_true_extent_x, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent))
GIGARANK_MPI(int, MPI_Type_get_true_extent_c, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent))
GIGARANK_MPI(int, MPI_Type_get_envelope, (MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes, int *combiner))
GIGARANK_MPI(int, MPI_Type_get_contents, (MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[]))
GIGARANK_MPI(int, MPI_Type_get_name, (MPI_Datatype datatype, char *type_name, int *resultlen))
GIGARANK_MPI(int, MPI_Type_set_name, (MPI_Datatype datatype, const char *type_name))
GIGARANK_MPI(int, MPI_Type_match_size, (int typeclass, int size, MPI_Datatype *datatype))
GIGARANK_MPI(int, MPI_Type_get_value_index, (MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair_type))
GIGARANK_MPI(int, MPI_Type_create_f90_real, (int p, int r, MPI_Datatype *newtype))
GIGARANK_MPI(int, MPI_Type_create_f90_complex, (int p, int r, MPI_Datatype *newtype))
GIGARANK_MPI(int, MPI_Type_create_f90_integer, (int r, MPI_Datatype *newtype))
GIGARANK_MPI(int, MPI_Get_count_c, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count))
GIGARANK_MPI(int, MPI_Get_elements_x, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count))
GIGARANK_MPI(int, MPI_Get_elements_c, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count))
GIGARANK_MPI(int, MPI_Status_set_elements, (MPI_Status *status, MPI_Datatype datatype, int count))
GIGARANK_MPI(int, MPI_Status_set_elements_x, (MPI_Status *status, MPI_Datatype datatype, MPI_Count count))
GIGARANK_MPI(int, MPI_Status_set_elements_c, (MPI_Status *status, MPI_Datatype datatype, MPI_Count count))
GIGARANK_MPI(int, MPI_Pack_size, (int incount, MPI_Datatype datatype, MPI_Comm comm, int *size))
GIGARANK_MPI(int, MPI_Pack, (const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int *position, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Unpack, (const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype datatype, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Pack_size_c, (MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size))
GIGARANK_MPI(int, MPI_Pack_c, (const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize, MPI_Count *position, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Unpack_c, (const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm))
GIGARANK_MPI(int, MPI_Pack_external_size, (const char *datarep, int incount, MPI_Datatype datatype, MPI_Aint *size))
GIGARANK_MPI(int, MPI_Pack_external, (const char *datarep, const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, MPI_Aint outsize, MPI_Aint *position))
GIGARANK_MPI(int, MPI_Unpack_external, (const char *datarep, const void *inbuf, MPI_Aint insize, MPI_Aint *position, void *outbuf, int outcount, MPI_Datatype datatype))
GIGARANK_MPI(int, MPI_Pack_external_size_c, (const char *datarep, MPI_Count incount, MPI_Datatype datatype, MPI_Count *size))
GIGARANK_MPI(int, MPI_Pack_external_c, (const char *datarep, const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize, MPI_Count *position))
GIGARANK_MPI(int, MPI_Unpack_external_c, (const char *datarep, const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount, MPI_Datatype datatype))
GIGARANK_MPI(MPI_Aint, MPI_Aint_add, (MPI_Aint base, MPI_Aint disp))
GIGARANK_MPI(MPI_Aint, MPI_Aint_diff, (MPI_Aint addr1, MPI_Aint addr2))
GIGARANK_MPI(int, MPI_Alltoallw, (const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm))
GIGARANK_MPI(int, MPI_Ialltoallw, (const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request))

/* Attributes. */
GIGARANK_MPI(int, MPI_Comm_create_keyval, (MPI_Comm_copy_attr_function *comm_copy_attr_fn, MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval, void *extra_state))
GIGARANK_MPI(int, MPI_Comm_free_keyval, (int *comm_keyval))
GIGARANK_MPI(int, MPI_Comm_set_attr, (MPI_Comm comm, int comm_keyval, void *attribute_val))
GIGARANK_MPI(int, MPI_Comm_delete_attr, (MPI_Comm comm, int comm_keyval))
GIGARANK_MPI(int, MPI_Keyval_create, (MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval, void *extra_state))
GIGARANK_MPI(int, MPI_Keyval_free, (int *keyval))
GIGARANK_MPI(int, MPI_Attr_put, (MPI_Comm comm, int keyval, void *attribute_val))
GIGARANK_MPI(int, MPI_Attr_get, (MPI_Comm comm, int keyval, void *attribute_val, int *flag))
GIGARANK_MPI(int, MPI_Attr_delete, (MPI_Comm comm, int keyval))
GIGARANK_MPI(int, MPI_Type_create_keyval, (MPI_Type_copy_attr_function *type_copy_attr_fn, MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval, void *extra_state))
GIGARANK_MPI(int, MPI_Type_free_keyval, (int *type_keyval))
GIGARANK_MPI(int, MPI_Type_set_attr, (MPI_Datatype datatype, int type_keyval, void *attribute_val))
GIGARANK_MPI(int, MPI_Type_get_attr, (MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag))
GIGARANK_MPI(int, MPI_Type_delete_attr, (MPI_Datatype datatype, int type_keyval))

/* Handles and statuses in Fortran. */
GIGARANK_MPI(MPI_Fint, MPI_Comm_c2f, (MPI_Comm comm))
GIGARANK_MPI(MPI_Comm, MPI_Comm_f2c, (MPI_Fint comm))
GIGARANK_MPI(MPI_Fint, MPI_Errhandler_c2f, (MPI_Errhandler errhandler))
GIGARANK_MPI(MPI_Errhandler, MPI_Errhandler_f2c, (MPI_Fint errhandler))
GIGARANK_MPI(MPI_Fint, MPI_File_c2f, (MPI_File file))
GIGARANK_MPI(MPI_File, MPI_File_f2c, (MPI_Fint file))
GIGARANK_MPI(MPI_Fint, MPI_Group_c2f, (MPI_Group group))
GIGARANK_MPI(MPI_Group, MPI_Group_f2c, (MPI_Fint group))
GIGARANK_MPI(MPI_Fint, MPI_Info_c2f, (MPI_Info info))
GIGARANK_MPI(MPI_Info, MPI_Info_f2c, (MPI_Fint info))
GIGARANK_MPI(MPI_Fint, MPI_Message_c2f, (MPI_Message message))
GIGARANK_MPI(MPI_Message, MPI_Message_f2c, (MPI_Fint message))
GIGARANK_MPI(MPI_Fint, MPI_Op_c2f, (MPI_Op op))
GIGARANK_MPI(MPI_Op, MPI_Op_f2c, (MPI_Fint op))
GIGARANK_MPI(MPI_Fint, MPI_Request_c2f, (MPI_Request request))
GIGARANK_MPI(MPI_Request, MPI_Request_f2c, (MPI_Fint request))
GIGARANK_MPI(MPI_Fint, MPI_Type_c2f, (MPI_Datatype datatype))
GIGARANK_MPI(MPI_Datatype, MPI_Type_f2c, (MPI_Fint datatype))
GIGARANK_MPI(MPI_Fint, MPI_Win_c2f, (MPI_Win win))
GIGARANK_MPI(MPI_Win, MPI_Win_f2c, (MPI_Fint win))
GIGARANK_MPI(int, MPI_Status_c2f, (const MPI_Status *c_status, MPI_Fint *f_status))
GIGARANK_MPI(int, MPI_Status_f2c, (const MPI_Fint *f_status, MPI_Status *c_status))

/* Info objects. */
GIGARANK_MPI(int, MPI_Info_create, (MPI_Info *info))
GIGARANK_MPI(int, MPI_Info_create_env, (int argc, char *argv[], MPI_Info *info))
GIGARANK_MPI(int, MPI_Info_free, (MPI_Info *info))
GIGARANK_MPI(int, MPI_Info_set, (MPI_Info info, const char *key, const char *value))
GIGARANK_MPI(int, MPI_Info_delete, (MPI_Info info, const char *key))
GIGARANK_MPI(int, MPI_Info_get, (MPI_Info info, const char *key, int valuelen, char *value, int *flag))
GIGARANK_MPI(int, MPI_Info_get_string, (MPI_Info info, const char *key, int *buflen, char *value, int *flag))
GIGARANK_MPI(int, MPI_Info_get_valuelen, (MPI_Info info, const char *key, int *valuelen, int *flag))
GIGARANK_MPI(int, MPI_Info_get_nkeys, (MPI_Info info, int *nkeys))
GIGARANK_MPI(int, MPI_Info_get_nthkey, (MPI_Info info, int n, char *key))
GIGARANK_MPI(int, MPI_Info_dup, (MPI_Info info, MPI_Info *newinfo))
GIGARANK_MPI(int, MPI_Comm_set_info, (MPI_Comm comm, MPI_Info info))
GIGARANK_MPI(int, MPI_Comm_get_info, (MPI_Comm comm, MPI_Info *info_used))

/* Functions that the bindings of Fortran do not have, the first with large counts. */
#define GIGARANK_C(type, name, arguments) \
	type name arguments; \
	type P##name arguments;
GIGARANK_C(int, MPI_Send_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
GIGARANK_C(int, MPI_Ssend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
GIGARANK_C(int, MPI_Bsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
GIGARANK_C(int, MPI_Rsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm))
GIGARANK_C(int, MPI_Recv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status))
GIGARANK_C(int, MPI_Isend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Issend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Ibsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Irsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Irecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Send_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Ssend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Bsend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Rsend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Recv_init_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Psend_init_c, (const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Precv_init_c, (void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Sendrecv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status))
GIGARANK_C(int, MPI_Isendrecv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Isendrecv_replace_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Sendrecv_replace_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status))
GIGARANK_C(int, MPI_Mrecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status))
GIGARANK_C(int, MPI_Imrecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request))
GIGARANK_C(int, MPI_Buffer_attach_c, (void *buffer, MPI_Count size))
GIGARANK_C(int, MPI_Buffer_detach_c, (void *buffer_addr, MPI_Count *size))
GIGARANK_C(int, MPI_Op_create_c, (MPI_User_function_c *user_fn, int commute, MPI_Op *op))
GIGARANK_C(int, MPI_Reduce_local_c, (const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op))
GIGARANK_C(int, MPI_Bcast_c, (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm))
GIGARANK_C(int, MPI_Ibcast_c, (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Bcast_init_c, (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Reduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm))
GIGARANK_C(int, MPI_Ireduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Reduce_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Allreduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm))
GIGARANK_C(int, MPI_Iallreduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Allreduce_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Scan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm))
GIGARANK_C(int, MPI_Iscan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Scan_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Exscan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm))
GIGARANK_C(int, MPI_Iexscan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Exscan_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Gather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm))
GIGARANK_C(int, MPI_Igather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Gather_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Allgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm))
GIGARANK_C(int, MPI_Iallgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Allgather_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Scatter_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm))
GIGARANK_C(int, MPI_Iscatter_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Scatter_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Gatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm))
GIGARANK_C(int, MPI_Igatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Gatherv_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Allgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm))
GIGARANK_C(int, MPI_Iallgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Allgatherv_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Scatterv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm))
GIGARANK_C(int, MPI_Iscatterv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Scatterv_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Alltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm))
GIGARANK_C(int, MPI_Ialltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Alltoall_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Alltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm))
GIGARANK_C(int, MPI_Ialltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Alltoallv_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Alltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm))
GIGARANK_C(int, MPI_Ialltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Alltoallw_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Reduce_scatter_c, (const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm))
GIGARANK_C(int, MPI_Ireduce_scatter_c, (const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Reduce_scatter_init_c, (const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Reduce_scatter_block_c, (const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm))
GIGARANK_C(int, MPI_Ireduce_scatter_block_c, (const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Reduce_scatter_block_init_c, (const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Neighbor_allgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm))
GIGARANK_C(int, MPI_Ineighbor_allgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Neighbor_allgather_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Neighbor_allgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm))
GIGARANK_C(int, MPI_Ineighbor_allgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Neighbor_allgatherv_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Neighbor_alltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm))
GIGARANK_C(int, MPI_Ineighbor_alltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Neighbor_alltoall_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Neighbor_alltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm))
GIGARANK_C(int, MPI_Ineighbor_alltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Neighbor_alltoallv_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
GIGARANK_C(int, MPI_Neighbor_alltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm))
GIGARANK_C(int, MPI_Ineighbor_alltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request))
GIGARANK_C(int, MPI_Neighbor_alltoallw_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request))

GIGARANK_C(int, MPI_Type_contiguous_c, (MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_C(int, MPI_Type_vector_c, (MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_C(int, MPI_Type_create_hvector_c, (MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_C(int, MPI_Type_indexed_c, (MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_C(int, MPI_Type_create_hindexed_c, (MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_C(int, MPI_Type_create_indexed_block_c, (MPI_Count count, MPI_Count blocklength, const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_C(int, MPI_Type_create_hindexed_block_c, (MPI_Count count, MPI_Count blocklength, const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_C(int, MPI_Type_create_struct_c, (MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype))
GIGARANK_C(int, MPI_Type_create_resized_c, (MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype *newtype))
GIGARANK_C(int, MPI_Type_create_subarray_c, (int ndims, const MPI_Count array_of_sizes[], const MPI_Count array_of_subsizes[], const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_C(int, MPI_Type_create_darray_c, (int size, int rank, int ndims, const MPI_Count array_of_gsizes[], const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_C(int, MPI_Type_get_envelope_c, (MPI_Datatype datatype, MPI_Count *num_integers, MPI_Count *num_addresses, MPI_Count *num_large_counts, MPI_Count *num_datatypes, int *combiner))
GIGARANK_C(int, MPI_Type_get_contents_c, (MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[]))

/* Handles as numbers, and statuses of mpi_f08. */
GIGARANK_C(int, MPI_Comm_toint, (MPI_Comm comm))
GIGARANK_C(MPI_Comm, MPI_Comm_fromint, (int comm))
GIGARANK_C(int, MPI_Errhandler_toint, (MPI_Errhandler errhandler))
GIGARANK_C(MPI_Errhandler, MPI_Errhandler_fromint, (int errhandler))
GIGARANK_C(int, MPI_File_toint, (MPI_File file))
GIGARANK_C(MPI_File, MPI_File_fromint, (int file))
GIGARANK_C(int, MPI_Group_toint, (MPI_Group group))
GIGARANK_C(MPI_Group, MPI_Group_fromint, (int group))
GIGARANK_C(int, MPI_Info_toint, (MPI_Info info))
GIGARANK_C(MPI_Info, MPI_Info_fromint, (int info))
GIGARANK_C(int, MPI_Message_toint, (MPI_Message message))
GIGARANK_C(MPI_Message, MPI_Message_fromint, (int message))
GIGARANK_C(int, MPI_Op_toint, (MPI_Op op))
GIGARANK_C(MPI_Op, MPI_Op_fromint, (int op))
GIGARANK_C(int, MPI_Request_toint, (MPI_Request request))
GIGARANK_C(MPI_Request, MPI_Request_fromint, (int request))
GIGARANK_C(int, MPI_Type_toint, (MPI_Datatype datatype))
GIGARANK_C(MPI_Datatype, MPI_Type_fromint, (int datatype))
GIGARANK_C(int, MPI_Win_toint, (MPI_Win win))
GIGARANK_C(MPI_Win, MPI_Win_fromint, (int win))
GIGARANK_C(int, MPI_Status_c2f08, (const MPI_Status *c_status, MPI_F08_status *f08_status))
GIGARANK_C(int, MPI_Status_f082c, (const MPI_F08_status *f08_status, MPI_Status *c_status))
GIGARANK_C(int, MPI_Status_f2f08, (const MPI_Fint *f_status, MPI_F08_status *f08_status))
GIGARANK_C(int, MPI_Status_f082f, (const MPI_F08_status *f08_status, MPI_Fint *f_status))

/* Functions of MPI-1 that MPI 3.0 has removed. */
#define GIGARANK_REMOVED(type, name, arguments) \
	type name arguments; \
	type P##name arguments;
GIGARANK_REMOVED(int, MPI_Address, (void *location, MPI_Aint *address))
GIGARANK_REMOVED(int, MPI_Errhandler_create, (MPI_Handler_function *handler_fn, MPI_Errhandler *errhandler))
GIGARANK_REMOVED(int, MPI_Errhandler_set, (MPI_Comm comm, MPI_Errhandler errhandler))
GIGARANK_REMOVED(int, MPI_Errhandler_get, (MPI_Comm comm, MPI_Errhandler *errhandler))
GIGARANK_REMOVED(int, MPI_Type_struct, (int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], MPI_Datatype array_of_types[], MPI_Datatype *newtype))
GIGARANK_REMOVED(int, MPI_Type_hvector, (int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_REMOVED(int, MPI_Type_hindexed, (int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype))
GIGARANK_REMOVED(int, MPI_Type_extent, (MPI_Datatype datatype, MPI_Aint *extent))
GIGARANK_REMOVED(int, MPI_Type_lb, (MPI_Datatype datatype, MPI_Aint *displacement))
GIGARANK_REMOVED(int, MPI_Type_ub, (MPI_Datatype datatype, MPI_Aint *displacement))

/* Sessions. */
typedef void MPI_Session_errhandler_function(MPI_Session *session, int *code, ...);
#define GIGARANK_SESSIONS(type, name, arguments) \
	type name arguments; \
	type P##name arguments;
GIGARANK_SESSIONS(int, MPI_Session_init, (MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session))
GIGARANK_SESSIONS(MPI_Fint, MPI_Session_c2f, (MPI_Session session))
GIGARANK_SESSIONS(MPI_Session, MPI_Session_f2c, (MPI_Fint session))
GIGARANK_SESSIONS(int, MPI_Session_toint, (MPI_Session session))
GIGARANK_SESSIONS(MPI_Session, MPI_Session_fromint, (int session))
GIGARANK_SESSIONS(int, MPI_Session_finalize, (MPI_Session *session))
GIGARANK_SESSIONS(int, MPI_Session_get_info, (MPI_Session session, MPI_Info *info_used))
GIGARANK_SESSIONS(int, MPI_Session_get_num_psets, (MPI_Session session, MPI_Info info, int *npset_names))
GIGARANK_SESSIONS(int, MPI_Session_get_nth_pset, (MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name))
GIGARANK_SESSIONS(int, MPI_Session_get_pset_info, (MPI_Session session, const char *pset_name, MPI_Info *info))
GIGARANK_SESSIONS(int, MPI_Session_create_errhandler, (MPI_Session_errhandler_function *session_errhandler_fn, MPI_Errhandler *errhandler))
GIGARANK_SESSIONS(int, MPI_Session_set_errhandler, (MPI_Session session, MPI_Errhandler errhandler))
GIGARANK_SESSIONS(int, MPI_Session_get_errhandler, (MPI_Session session, MPI_Errhandler *errhandler))
GIGARANK_SESSIONS(int, MPI_Session_call_errhandler, (MPI_Session session, int errorcode))
GIGARANK_SESSIONS(int, MPI_Group_from_session_pset, (MPI_Session session, const char *pset_name, MPI_Group *newgroup))
GIGARANK_SESSIONS(int, MPI_Comm_create_from_group, (MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newcomm))
GIGARANK_SESSIONS(int, MPI_Intercomm_create_from_groups, (MPI_Group local_group, int local_leader, MPI_Group remote_group, int remote_leader, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newintercomm))

/* Functions that are not supported. */
#include "mpi_tools.h"
#define GIGARANK_UNSUPPORTED(type, name, arguments) \
	type name arguments; \
	type P##name arguments;
#define GIGARANK_UNSUPPORTED_ON(type, name, arguments) \
	type name arguments; \
	type P##name arguments;
#include "mpi_unsupported.h"

#ifdef __cplusplus
}
#endif

#endif
