/* Info objects. */
#include "check.h"

static void objects(void) {
	MPI_Info info, twin;
	int n, flag, length;
	char key[MPI_MAX_INFO_KEY + 1], value[64];
	MPI_Info_create(&info);
	MPI_Info_get_nkeys(info, &n);
	CHECK(n == 0);
	MPI_Info_set(info, "file", "data");
	MPI_Info_set(info, "host", "one");
	MPI_Info_set(info, "host", "another");
	MPI_Info_get_nkeys(info, &n);
	CHECK(n == 2);
	MPI_Info_get_nthkey(info, 0, key);
	CHECK(strcmp(key, "file") == 0);
	MPI_Info_get_nthkey(info, 1, key);
	CHECK(strcmp(key, "host") == 0);
	MPI_Info_get(info, "host", 63, value, &flag);
	CHECK(flag && strcmp(value, "another") == 0);
	MPI_Info_get(info, "host", 3, value, &flag);
	CHECK(flag && strncmp(value, "ano", 3) == 0);
	MPI_Info_get(info, "nothing", 63, value, &flag);
	CHECK(!flag);
	MPI_Info_get_valuelen(info, "host", &length, &flag);
	CHECK(flag && length == 7);
	MPI_Info_get_valuelen(info, "nothing", &length, &flag);
	CHECK(!flag);
	MPI_Info_dup(info, &twin);
	MPI_Info_delete(info, "file");
	MPI_Info_get_nkeys(info, &n);
	CHECK(n == 1);
	MPI_Info_get(twin, "file", 63, value, &flag);
	CHECK(flag && strcmp(value, "data") == 0);
#ifdef GIGARANK
	length = 4;
	MPI_Info_get_string(twin, "host", &length, value, &flag);
	EXPECT(flag && length == 8 && strcmp(value, "ano") == 0);
	length = sizeof value;
	MPI_Info_get_string(twin, "host", &length, value, &flag);
	EXPECT(flag && length == 8 && strcmp(value, "another") == 0);
	MPI_Info_get_string(twin, "nothing", &length, value, &flag);
	EXPECT(!flag);
	MPI_Info made;
	char *arguments[] = {"program", "a", "b", NULL};
	MPI_Info_create_env(3, arguments, &made);
	MPI_Info_get(made, "command", 63, value, &flag);
	EXPECT(flag && strcmp(value, "program") == 0);
	MPI_Info_get(made, "argv", 63, value, &flag);
	EXPECT(flag && strcmp(value, "a b") == 0);
	MPI_Info_free(&made);
#endif
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	CHECK_CLASS(MPI_Info_delete(info, "nothing"), MPI_ERR_INFO_NOKEY);
	CHECK_CLASS(MPI_Info_set(info, "", "value"), MPI_ERR_INFO_KEY);
	CHECK_CLASS(MPI_Info_get_nkeys(MPI_INFO_NULL, &n), MPI_ERR_INFO);
	CHECK(MPI_Info_get_nthkey(info, 7, key) != MPI_SUCCESS);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	MPI_Info_free(&info);
	MPI_Info_free(&twin);
	CHECK(info == MPI_INFO_NULL);
}

static void environment(void) {
	char value[64];
	int flag;
	MPI_Info info;
	MPI_Info_get(MPI_INFO_ENV, "maxprocs", 63, value, &flag);
	CHECK(flag && atoi(value) == size);
	MPI_Info_get(MPI_INFO_ENV, "command", 63, value, &flag);
	CHECK(flag && strlen(value) > 0);
	MPI_Info_create(&info);
	MPI_Info_set(info, "some_hint", "true");
	CHECK(MPI_Comm_set_info(MPI_COMM_WORLD, info) == MPI_SUCCESS);
	MPI_Info_free(&info);
	MPI_Comm_get_info(MPI_COMM_WORLD, &info);
	CHECK(info != MPI_INFO_NULL);
	MPI_Info_free(&info);
}

int main(int argc, char **argv) {
#ifdef GIGARANK
	MPI_Info early; /* may be made before MPI_Init, since MPI 4.0 */
	int flag;
	char value[64];
	EXPECT(MPI_Info_create(&early) == MPI_SUCCESS && MPI_Info_set(early, "hint", "early") == MPI_SUCCESS);
#endif
	begin(&argc, &argv);
#ifdef GIGARANK
	MPI_Info_get(early, "hint", 63, value, &flag);
	EXPECT(flag && strcmp(value, "early") == 0);
	MPI_Info_free(&early);
#endif
	objects();
	environment();
	return finish("info");
}
