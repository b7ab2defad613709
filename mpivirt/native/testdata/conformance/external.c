/* The external32 representation: big-endian numbers without padding. */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	struct part { short s; double d; int i[2]; } in = {-2, -1.5, {0x01020304, -1}}, out;
	static const unsigned char want[] = {0xff, 0xfe, 0xbf, 0xf8, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0xff, 0xff, 0xff, 0xff};
	unsigned char packed[64];
	MPI_Datatype t;
	MPI_Aint size_, position = 0;
	MPI_Type_create_struct(3, (int[]){1, 1, 2}, (MPI_Aint[]){0, 8, 16}, (MPI_Datatype[]){MPI_SHORT, MPI_DOUBLE, MPI_INT}, &t);
	MPI_Type_commit(&t);
	MPI_Pack_external_size("external32", 1, t, &size_);
	CHECK(size_ == sizeof want);
	MPI_Pack_external("external32", &in, 1, t, packed, sizeof packed, &position);
	CHECK(position == sizeof want && memcmp(packed, want, sizeof want) == 0);
	memset(&out, 0, sizeof out);
	position = 0;
	MPI_Unpack_external("external32", packed, sizeof want, &position, &out, 1, t);
	CHECK(position == sizeof want && out.s == -2 && out.d == -1.5 && out.i[0] == 0x01020304 && out.i[1] == -1);
#ifdef GIGARANK
	long double quads[2] = {1.0L / 3, -2}, back[2];
	long number = -5, got = 0;
	MPI_Count large, at = 0;
	MPI_Pack_external_size_c("external32", 2, MPI_LONG_DOUBLE, &large);
	EXPECT(large == 32);
	MPI_Pack_external_c("external32", quads, 2, MPI_LONG_DOUBLE, packed, sizeof packed, &at);
	EXPECT(at == 32 && packed[16] == 0xc0 && packed[17] == 0 && packed[18] == 0);
	at = 0;
	MPI_Unpack_external_c("external32", packed, 32, &at, back, 2, MPI_LONG_DOUBLE);
	EXPECT(back[0] == quads[0] && back[1] == quads[1]);
	at = 0;
	MPI_Pack_external_c("external32", &number, 1, MPI_LONG, packed, sizeof packed, &at);
	EXPECT(at == 4 && packed[3] == 0xfb);
	at = 0;
	MPI_Unpack_external_c("external32", packed, 4, &at, &got, 1, MPI_LONG);
	EXPECT(got == -5);
#endif
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	position = 0;
	CHECK(MPI_Pack_external("external32", &in, 1, MPI_DOUBLE, packed, 7, &position) != MPI_SUCCESS);
	CHECK_CLASS(MPI_Unpack_external("external32", packed, 7, &position, &out, 1, MPI_DOUBLE), MPI_ERR_TRUNCATE);
	CHECK_CLASS(MPI_Unpack_external("external32", packed, sizeof packed, &position, &out, -1, MPI_DOUBLE), MPI_ERR_COUNT);
	CHECK_CLASS(MPI_Unpack_external("external32", packed, sizeof packed, &position, &out, 1, MPI_DATATYPE_NULL), MPI_ERR_TYPE);
	EXPECT_CLASS(MPI_Unpack_external("other", packed, sizeof packed, &position, &out, 1, MPI_DOUBLE), MPI_ERR_ARG);
	MPI_Type_free(&t);
	MPI_Type_contiguous(2, MPI_INT, &t);
	CHECK_CLASS(MPI_Unpack_external("external32", packed, sizeof packed, &position, &out, 1, t), MPI_ERR_TYPE); /* not committed */
	CHECK(position == 0);
	MPI_Type_free(&t);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	return finish("external");
}
