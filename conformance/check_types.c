/* Reports of checking mode about elements: two ranks combine elements of different types, in a
 * reduction and at one place of a window, for all types that operations are defined on. A test reads
 * the reports. Without checking mode the program makes no such calls (Halo). */
#include "check.h"

static const struct { MPI_Datatype type; MPI_Op op; } kinds[] = {
	{MPI_C_BOOL, MPI_LAND}, {MPI_INT8_T, MPI_SUM}, {MPI_INT16_T, MPI_SUM}, {MPI_INT, MPI_SUM}, {MPI_LONG, MPI_MAX},
	{MPI_UINT8_T, MPI_SUM}, {MPI_UINT16_T, MPI_SUM}, {MPI_UNSIGNED, MPI_SUM}, {MPI_UINT64_T, MPI_SUM}, {MPI_FLOAT, MPI_SUM},
	{MPI_DOUBLE, MPI_SUM}, {MPI_C_FLOAT_COMPLEX, MPI_SUM}, {MPI_C_DOUBLE_COMPLEX, MPI_PROD}, {MPI_BYTE, MPI_BOR},
	{MPI_LONG_DOUBLE, MPI_SUM}, {MPI_C_LONG_DOUBLE_COMPLEX, MPI_SUM}, {MPI_FLOAT_INT, MPI_MAXLOC}, {MPI_2INT, MPI_MINLOC},
	{MPI_LOGICAL2, MPI_LAND}, {MPI_LOGICAL4, MPI_LOR}, {MPI_LOGICAL8, MPI_LXOR}, {MPI_LOGICAL16, MPI_LAND}, {MPI_INTEGER16, MPI_SUM},
	{MPI_REAL2, MPI_SUM}, {MPI_REAL16, MPI_SUM}, {MPI_COMPLEX4, MPI_SUM}, {MPI_COMPLEX32, MPI_SUM},
};

int main(int argc, char **argv) {
	begin(&argc, &argv);
	if (getenv("HALO_CHECK") == NULL) return done();
	enum { n = sizeof kinds / sizeof *kinds };
	char out[64] = {0}, in[64] = {0}, *mem;
	MPI_Win win;
	MPI_Win_allocate(64 * n, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Barrier(MPI_COMM_WORLD);
	int odd = rank == size - 1;
	for (int i = 0; i < n; i++) {
		int other = (i + 1) % n, mine = odd ? other : i;
		int class = class_of(MPI_Allreduce(in, out, 1, kinds[mine].type, kinds[i].op, MPI_COMM_WORLD));
		CHECK(class == MPI_ERR_TYPE || class == MPI_ERR_OP, "type %d: class %d", i, class);
	}
	for (int i = 0; i < n; i++) {
		int other = (i + 1) % n, mine = odd ? other : i;
		MPI_Win_fence(0, win);
		if (rank > 0) MPI_Accumulate(in, 1, kinds[mine].type, 0, 64 * i, 1, kinds[mine].type, kinds[mine].op, win);
		MPI_Win_fence(0, win);
	}
	MPI_Win_free(&win);
	return done();
}
