/* Attributes of communicators and datatypes. */
#include "check.h"

static int copies, deletes, refuses;
static long deleted[8];

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
	(void)comm, (void)key;
	copies++;
	if (*(int *)extra != 77)
		return MPI_ERR_OTHER;
	*flag = 1;
	*(void **)out = (void *)((long)in + 1);
	return MPI_SUCCESS;
}

static int drop(MPI_Comm comm, int key, void *value, void *extra) {
	(void)comm, (void)key, (void)extra;
	if (refuses)
		return MPI_ERR_OTHER;
	deleted[deletes++ % 8] = (long)value;
	return MPI_SUCCESS;
}

static int copy_of_type(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag) {
	(void)type, (void)key, (void)extra;
	copies++;
	*flag = (long)in != 5;
	*(void **)out = (void *)((long)in + 1);
	return MPI_SUCCESS;
}

static int drop_of_type(MPI_Datatype type, int key, void *value, void *extra) {
	(void)type, (void)key, (void)extra;
	deleted[deletes++ % 8] = (long)value;
	return MPI_SUCCESS;
}

/* value returns the attribute of a communicator, -1 for none. */
static long value(MPI_Comm comm, int key) {
	void *v;
	int flag;
	MPI_Comm_get_attr(comm, key, &v, &flag);
	return flag ? (long)v : -1;
}

static void communicators(void) {
	int a, b, c, extra = 77, freed;
	MPI_Comm comm, duplicate;
	copies = deletes = 0;
	MPI_Comm_create_keyval(copy, drop, &a, &extra);
	MPI_Comm_create_keyval(MPI_COMM_DUP_FN, drop, &b, NULL);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &c, NULL);
	CHECK(a != b && b != c && a != MPI_KEYVAL_INVALID);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	CHECK(value(comm, a) == -1);
	MPI_Comm_set_attr(comm, a, (void *)10);
	MPI_Comm_set_attr(comm, b, (void *)20);
	MPI_Comm_set_attr(comm, c, (void *)30);
	CHECK(value(comm, a) == 10 && value(comm, b) == 20 && value(comm, c) == 30 && value(MPI_COMM_WORLD, a) == -1);
	MPI_Comm_set_attr(comm, a, (void *)11); /* in place of the old one, which is deleted */
	CHECK(deletes == 1 && deleted[0] == 10 && value(comm, a) == 11);
	MPI_Comm_dup(comm, &duplicate);
	CHECK(copies == 1 && value(duplicate, a) == 12 && value(duplicate, b) == 20 && value(duplicate, c) == -1);
	MPI_Comm_delete_attr(duplicate, a);
	CHECK(deletes == 2 && deleted[1] == 12 && value(duplicate, a) == -1);
	MPI_Comm_free(&duplicate);
	CHECK(deletes == 3 && deleted[2] == 20);
	/* A key that is freed lives on in what has it. */
	freed = a;
	MPI_Comm_free_keyval(&freed);
	CHECK(freed == MPI_KEYVAL_INVALID && value(comm, a) == 11);
	MPI_Comm_dup(comm, &duplicate);
	CHECK(copies == 2 && MPI_Comm_delete_attr(duplicate, a) == MPI_SUCCESS && deletes == 4 && deleted[3] == 12);
	MPI_Comm_free(&duplicate);
	CHECK(deletes == 5 && deleted[4] == 20);
	MPI_Comm_free(&comm);
	CHECK(deletes == 7 && deleted[5] + deleted[6] == 31);
	MPI_Comm_free_keyval(&b);
	MPI_Comm_free_keyval(&c);
}

static void functions_that_fail(void) {
	int key, extra = 1;
	MPI_Comm comm, duplicate = MPI_COMM_WORLD;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	MPI_Comm_create_keyval(copy, drop, &key, &extra);
	MPI_Comm_set_attr(comm, key, (void *)1);
	CHECK(MPI_Comm_dup(comm, &duplicate) != MPI_SUCCESS);
	refuses = 1;
	CHECK(MPI_Comm_delete_attr(comm, key) != MPI_SUCCESS && value(comm, key) == 1);
	CHECK(MPI_Comm_free(&comm) != MPI_SUCCESS && comm != MPI_COMM_NULL);
	refuses = 0;
	CHECK(MPI_Comm_set_attr(comm, MPI_KEYVAL_INVALID, NULL) != MPI_SUCCESS);
	CHECK(MPI_Comm_delete_attr(comm, key) == MPI_SUCCESS);
	MPI_Comm_free_keyval(&key);
	MPI_Comm_free(&comm);
}

static void predefined(void) {
	int *v, flag;
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &v, &flag);
	CHECK(flag && *v >= 32767);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &v, &flag);
	CHECK(flag && (*v == 0 || *v == 1));
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &v, &flag);
	CHECK(flag);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &v, &flag);
	CHECK(flag && (*v == MPI_PROC_NULL || (*v >= 0 && *v < size)));
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &v, &flag);
	CHECK(flag && *v > 0);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &v, &flag);
	CHECK(!flag || *v == 0);
}

/* The names of MPI-1. */
static void old_names(void) {
	int key, flag, extra = 77;
	void *v;
	MPI_Comm comm, duplicate;
	copies = deletes = 0;
	MPI_Keyval_create(copy, drop, &key, &extra);
	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Attr_put(comm, key, (void *)3);
	MPI_Attr_get(comm, key, &v, &flag);
	CHECK(flag && v == (void *)3);
	MPI_Comm_dup(comm, &duplicate);
	MPI_Attr_get(duplicate, key, &v, &flag);
	CHECK(flag && v == (void *)4 && copies == 1);
	MPI_Attr_delete(comm, key);
	MPI_Attr_get(comm, key, &v, &flag);
	CHECK(!flag && deletes == 1);
	MPI_Comm_free(&comm);
	MPI_Comm_free(&duplicate);
	CHECK(deletes == 2 && deleted[1] == 4);
	MPI_Keyval_free(&key);
	CHECK(key == MPI_KEYVAL_INVALID);
}

/* no_key reports whether a call says that there is no such key or attribute. */
static int no_key(int code) {
#ifdef GIGARANK
	return class_of(code) == MPI_ERR_KEYVAL;
#else
	return code != MPI_SUCCESS; /* of another class in Open MPI 4.1 */
#endif
}

static void refused(void) {
	int key, of_types, freed, flag, given = 0;
	void *v;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL);
	MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &of_types, NULL);
	for (int old = 0; old < 2; old++) {
		int (*const put)(MPI_Comm, int, void *) = old ? MPI_Attr_put : MPI_Comm_set_attr;
		int (*const get)(MPI_Comm, int, void *, int *) = old ? MPI_Attr_get : MPI_Comm_get_attr;
		int (*const delete)(MPI_Comm, int) = old ? MPI_Attr_delete : MPI_Comm_delete_attr;
		int (*const release)(int *) = old ? MPI_Keyval_free : MPI_Comm_free_keyval;
		CHECK(no_key(put(MPI_COMM_SELF, MPI_KEYVAL_INVALID, &given)));
		CHECK(no_key(put(MPI_COMM_SELF, of_types, &given)));
		CHECK(no_key(put(MPI_COMM_SELF, MPI_TAG_UB, &given)));
		CHECK_CLASS(put(MPI_COMM_NULL, key, &given), MPI_ERR_COMM);
		CHECK(no_key(get(MPI_COMM_SELF, MPI_KEYVAL_INVALID, &v, &flag)));
		CHECK_CLASS(get(MPI_COMM_SELF, key, NULL, &flag), MPI_ERR_ARG);
		CHECK_CLASS(get(MPI_COMM_SELF, key, &v, NULL), MPI_ERR_ARG);
		EXPECT_CLASS(get(MPI_COMM_NULL, key, &v, &flag), MPI_ERR_COMM);
		EXPECT_CLASS(get(MPI_COMM_SELF, of_types, &v, &flag), MPI_ERR_KEYVAL);
		CHECK(no_key(delete(MPI_COMM_SELF, MPI_KEYVAL_INVALID)));
		CHECK(no_key(delete(MPI_COMM_SELF, key))); /* there is no such attribute */
		CHECK(no_key(delete(MPI_COMM_SELF, of_types)));
		CHECK(no_key(delete(MPI_COMM_SELF, MPI_TAG_UB)));
		CHECK_CLASS(delete(MPI_COMM_NULL, key), MPI_ERR_COMM);
		for (int i = 0; i < 3; i++) {
			freed = i == 0 ? MPI_KEYVAL_INVALID : i == 1 ? of_types : MPI_TAG_UB;
			CHECK(no_key(release(&freed)));
		}
		EXPECT_CLASS(release(NULL), MPI_ERR_ARG);
	}
	freed = key;
	CHECK(MPI_Keyval_free(&freed) == MPI_SUCCESS && no_key(MPI_Keyval_free(&key)));
	MPI_Type_free_keyval(&of_types);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void types(void) {
	int key, same, flag;
	void *v;
	MPI_Datatype type, duplicate;
	copies = deletes = 0;
	MPI_Type_create_keyval(copy_of_type, drop_of_type, &key, NULL);
	MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &same, NULL);
	MPI_Type_contiguous(2, MPI_INT, &type);
	MPI_Type_set_attr(type, key, (void *)4);
	MPI_Type_set_attr(type, same, (void *)9);
	MPI_Type_dup(type, &duplicate);
	MPI_Type_get_attr(duplicate, key, &v, &flag);
	CHECK(flag && v == (void *)5 && copies == 1);
	MPI_Type_get_attr(duplicate, same, &v, &flag);
	CHECK(flag && v == (void *)9);
	MPI_Type_free(&type);
	MPI_Type_dup(duplicate, &type); /* 5 is not copied */
	MPI_Type_get_attr(type, key, &v, &flag);
	CHECK(!flag);
	MPI_Type_delete_attr(duplicate, key);
	MPI_Type_free(&type);
	MPI_Type_free(&duplicate);
	CHECK(deletes == 2 && deleted[0] + deleted[1] == 9); /* the first may be kept by what was made of it */
	MPI_Type_set_attr(MPI_DOUBLE, key, (void *)6);
	MPI_Type_get_attr(MPI_DOUBLE, key, &v, &flag);
	CHECK(flag && v == (void *)6);
	MPI_Type_delete_attr(MPI_DOUBLE, key);
	MPI_Type_get_attr(MPI_DOUBLE, key, &v, &flag);
	CHECK(!flag && deletes == 3);
	MPI_Type_free_keyval(&key);
	MPI_Type_free_keyval(&same);
	CHECK(key == MPI_KEYVAL_INVALID);
}

static int at_the_end(MPI_Comm comm, int key, void *value, void *extra) {
	(void)comm, (void)key, (void)extra;
	int finalized;
	MPI_Finalized(&finalized);
	deleted[deletes++ % 8] = finalized ? -1 : (long)value;
	return MPI_SUCCESS;
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	communicators();
	functions_that_fail();
	predefined();
	old_names();
	refused();
	types();
	/* The attributes of MPI_COMM_SELF are deleted when MPI ends, the latest first. */
	int first, second;
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &first, NULL);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &second, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, first, (void *)1);
	MPI_Comm_set_attr(MPI_COMM_SELF, second, (void *)2);
	deletes = 0;
	int code = finish("attributes");
	if (deletes != 2 || deleted[0] != 2 || deleted[1] != 1)
		printf("rank %d: %d attributes were deleted at the end, %ld and %ld\n", rank, deletes, deleted[0], deleted[1]);
	return code;
}
