/* Accesses at explicit offsets in views and modes of all kinds, which some libraries make by themselves and
 * others by their engine: the file has the bytes of an array, and the status has the count. */
#include "check.h"
#include <unistd.h>

enum { BYTES = 4000 };

static char name[128];
static unsigned char model[BYTES];
static MPI_Offset length; /* of the model */

/* Writes elements at an offset in elementary types of a contiguous view at byte disp. */
static void writes(MPI_File f, MPI_Offset disp, MPI_Datatype etype, MPI_Offset offset, int count, MPI_Datatype type) {
	static unsigned char seed;
	unsigned char data[BYTES];
	MPI_Status st = {0};
	int unit, each, n = -1;
	OK(MPI_Type_size(etype, &unit));
	OK(MPI_Type_size(type, &each));
	for (int i = 0; i < count * each; i++)
		data[i] = model[disp + offset * unit + i] = (unsigned char)(seed += 37);
	if (disp + offset * unit + count * each > length && count > 0)
		length = disp + offset * unit + count * each;
	OK(MPI_File_write_at(f, offset, data, count, type, &st));
	OK(MPI_Get_count(&st, type, &n));
	CHECK(n == count, "%d of %d written", n, count);
	n = 1;
	OK(MPI_Test_cancelled(&st, &n));
	CHECK(n == 0);
	OK(MPI_File_write_at_c(f, offset, data, count, type, MPI_STATUS_IGNORE));
}

/* Reads bytes and compares them. */
static void reads(MPI_File f, MPI_Offset disp, MPI_Datatype etype, MPI_Offset offset, int count) {
	unsigned char data[BYTES];
	MPI_Status st;
	int unit, n = -1;
	OK(MPI_Type_size(etype, &unit));
	MPI_Offset at = disp + offset * unit, left = length > at ? length - at : 0;
	int want = left < count ? (int)left : count;
	OK(MPI_File_read_at(f, offset, data, count, MPI_BYTE, &st));
	OK(MPI_Get_count(&st, MPI_BYTE, &n));
	CHECK(n == want && memcmp(data, model + at, want) == 0, "%d bytes at %d, want %d", n, (int)at, want);
	OK(MPI_File_read_at_c(f, offset, data, count, MPI_BYTE, MPI_STATUS_IGNORE));
	CHECK(memcmp(data, model + at, want) == 0, "%d bytes at %d", want, (int)at);
}

static void views(MPI_File f) {
	MPI_Datatype pair, holes, doubles;
	OK(MPI_Type_contiguous(2, MPI_INT, &pair));
	OK(MPI_Type_vector(100, 1, 2, MPI_INT, &holes));
	OK(MPI_Type_contiguous(3, MPI_DOUBLE, &doubles));
	OK(MPI_Type_commit(&pair));
	OK(MPI_Type_commit(&holes));
	OK(MPI_Type_commit(&doubles));
	for (int atomic = 0; atomic < 2; atomic++) {
		OK(MPI_File_set_atomicity(f, atomic));
		OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
		writes(f, 0, MPI_BYTE, 0, 1000, MPI_CHAR);
		writes(f, 0, MPI_BYTE, 17, 100, MPI_DOUBLE);
		writes(f, 0, MPI_BYTE, 5, 0, MPI_INT);
		writes(f, 0, MPI_BYTE, 900, 20, doubles);
		reads(f, 0, MPI_BYTE, 3, 500);
		reads(f, 0, MPI_BYTE, 1300, 500);
		reads(f, 0, MPI_BYTE, 3000, 10);
		OK(MPI_File_set_view(f, 13, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
		writes(f, 13, MPI_INT, 7, 50, MPI_INT);
		reads(f, 13, MPI_INT, 3, 400);
		OK(MPI_File_set_view(f, 5, MPI_INT, pair, "internal", MPI_INFO_NULL));
		writes(f, 5, MPI_INT, 11, 30, pair);
		reads(f, 5, MPI_INT, 2, 80);
		/* Every other int: read all of it by another view. */
		OK(MPI_File_set_view(f, 8, MPI_INT, holes, "native", MPI_INFO_NULL));
		int odd[40];
		for (int i = 0; i < 40; i++) {
			odd[i] = 1000 * atomic + i;
			memcpy(model + 8 + 8 * (3 + i), &odd[i], sizeof odd[i]);
		}
		OK(MPI_File_write_at(f, 3, odd, 40, MPI_INT, MPI_STATUS_IGNORE));
		OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
		reads(f, 0, MPI_BYTE, 0, BYTES);
		OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
		int big = 0x01020304;
		OK(MPI_File_write_at(f, 2, &big, 1, MPI_INT, MPI_STATUS_IGNORE));
		for (int i = 0; i < 4; i++)
			model[8 + i] = (unsigned char)(i + 1);
		OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
		reads(f, 0, MPI_BYTE, 0, 100);
	}
	OK(MPI_File_set_atomicity(f, 0));
	OK(MPI_Type_free(&pair));
	OK(MPI_Type_free(&holes));
	OK(MPI_Type_free(&doubles));
}

static void errors(MPI_File f) {
	int i = 0;
	FAILS(MPI_File_write_at(f, -1, &i, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
	FAILS(MPI_File_write_at(f, 0, &i, -1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
	FAILS(MPI_File_write_at(f, 0, &i, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
	OK(MPI_File_set_view(f, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
	FAILS(MPI_File_write_at(f, 0, &i, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
	FAILS(MPI_File_write_at(f, (MPI_Offset)1 << 60, model, 1, MPI_DOUBLE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
	OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
}

int main(int argc, char **argv) {
	MPI_File f;
	MPI_Comm self = MPI_COMM_SELF;
	begin(&argc, &argv);
	snprintf(name, sizeof name, "/tmp/conformance-file-fast-%d", (int)getpid());
	OK(MPI_File_open(self, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	views(f);
	errors(f);
	OK(MPI_File_close(&f));
	CHECK(f == MPI_FILE_NULL);
	OK(MPI_File_open(self, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
	reads(f, 0, MPI_BYTE, 0, BYTES);
	FAILS(MPI_File_write_at(f, 0, model, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
	OK(MPI_File_close(&f));
	OK(MPI_File_open(self, name, MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
	FAILS(MPI_File_read_at(f, 0, model, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
	writes(f, 0, MPI_BYTE, 100, 10, MPI_INT);
	OK(MPI_File_close(&f));
	return done();
}
