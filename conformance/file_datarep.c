/* Data representations: external32, and one of the program, which stores ints with all bits inverted. */
#include "check.h"
#include <unistd.h>

static int extents, conversions;

static int extent(MPI_Datatype t, MPI_Aint *bytes, void *state) {
	int size;
	extents += *(int *)state;
	MPI_Type_size(t, &size);
	*bytes = size;
	return MPI_SUCCESS;
}

static int invert(const int *from, int *to, MPI_Count count) {
	conversions++;
	for (MPI_Count i = 0; i < count; i++)
		to[i] = ~from[i];
	return MPI_SUCCESS;
}

static int reads(void *user, MPI_Datatype t, int count, void *file, MPI_Offset position, void *state) {
	CHECK(t == MPI_INT, "type %p", (void *)t);
	(void)state;
	return invert(file, (int *)user + position, count);
}

static int writes(void *user, MPI_Datatype t, MPI_Count count, void *file, MPI_Offset position, void *state) {
	(void)t, (void)state;
	return invert((int *)user + position, file, count);
}

static int writes_int(void *user, MPI_Datatype t, int count, void *file, MPI_Offset position, void *state) {
	return writes(user, t, count, file, position, state);
}

static int reads_large(void *user, MPI_Datatype t, MPI_Count count, void *file, MPI_Offset position, void *state) {
	return reads(user, t, (int)count, file, position, state);
}

int main(int argc, char **argv) {
	MPI_File f;
	MPI_Request r;
	MPI_Status st;
	MPI_Aint n;
	char name[64];
	int one = 1, v[4] = {1, 2, 3, 4}, raw[4];
	unsigned char bytes[4];
	begin(&argc, &argv);
	snprintf(name, sizeof name, "/tmp/conformance-datarep-%d", (int)getpid());
	OK(MPI_Register_datarep("inverted", reads, writes_int, extent, &one));
	OK(MPI_Register_datarep_c("inverted, large", reads_large, writes, extent, &one));
	FAILS(MPI_Register_datarep("inverted", reads, writes_int, extent, &one), MPI_ERR_DUP_DATAREP);
	FAILS(MPI_Register_datarep("native", reads, writes_int, extent, &one), MPI_ERR_DUP_DATAREP);
	OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
	FAILS(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "none", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
	for (int large = 0; large < 2; large++) {
		OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, large ? "inverted, large" : "inverted", MPI_INFO_NULL));
		CHECK(extents > 0, "extent function was not called");
		OK(MPI_File_write_at_all(f, 1, v, 4, MPI_INT, &st));
		memset(raw, 0, sizeof raw);
		OK(MPI_File_iread_at(f, 1, raw, 4, MPI_INT, &r));
		OK(MPI_Wait(&r, &st));
		CHECK(memcmp(raw, v, sizeof v) == 0, "read %d", raw[0]);
		OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
		OK(MPI_File_read_at(f, 1, raw, 4, MPI_INT, &st));
		CHECK(raw[2] == ~3, "the file has %d", raw[2]);
	}
	CHECK(conversions == 4, "%d conversions", conversions);
	OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
	OK(MPI_File_get_type_extent(f, MPI_LONG, &n));
	CHECK(n == 4, "a long takes %d bytes", (int)n);
	OK(MPI_File_write(f, v, 1, MPI_INT, &st));
	OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "internal", MPI_INFO_NULL));
	OK(MPI_File_read(f, bytes, 4, MPI_BYTE, &st));
	CHECK(bytes[0] == 0 && bytes[3] == 1, "bytes %d %d", bytes[0], bytes[3]);
	OK(MPI_File_close(&f));
	return done();
}
