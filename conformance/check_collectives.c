/* Members of collectives pass elements of different types, or different roots. In checking mode both
 * get an error that names the right call. Without checking mode, and for arguments that may differ,
 * there is no error. The communicator can be used afterwards (Halo). */
#include "check.h"

static int checking;

/* The class of an error that is expected in checking mode only. */
static void expect(int code, int class, const char *what) {
	int is = MPI_SUCCESS;
	if (!checking)
		class = MPI_SUCCESS;
	if (code != MPI_SUCCESS)
		MPI_Error_class(code, &is);
	CHECK(is == class, "%s: class %d, not %d", what, is, class);
}

int main(int argc, char **argv) {
	double d[64] = {0};
	int i[128] = {0};
	char c[512] = {0};
	begin(&argc, &argv);
	checking = getenv("HALO_CHECK") != NULL;
	int odd = rank == size - 1;

	/* The same number of bytes, of other types. */
	int code = odd ? MPI_Bcast(i, 2, MPI_INT, 0, MPI_COMM_WORLD) : MPI_Bcast(d, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	expect(code, MPI_ERR_TYPE, "MPI_Bcast");
	code = odd ? MPI_Allgather(i, 2, MPI_INT, i + 16, 2, MPI_INT, MPI_COMM_WORLD)
	           : MPI_Allgather(d, 1, MPI_DOUBLE, d + 16, 1, MPI_DOUBLE, MPI_COMM_WORLD);
	expect(code, MPI_ERR_TYPE, "MPI_Allgather");
	code = odd ? MPI_Alltoall(i, 2, MPI_INT, i + 16, 2, MPI_INT, MPI_COMM_WORLD)
	           : MPI_Alltoall(d, 1, MPI_DOUBLE, d + 16, 1, MPI_DOUBLE, MPI_COMM_WORLD);
	expect(code, MPI_ERR_TYPE, "MPI_Alltoall");
	code = odd ? MPI_Gather(i, 2, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD)
	           : MPI_Gather(d, 1, MPI_DOUBLE, d + 16, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	expect(code, MPI_ERR_TYPE, "MPI_Gather");
	if (checking) { /* otherwise the sum is undefined */
		code = odd ? MPI_Allreduce(i, i + 16, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD)
		           : MPI_Allreduce(d, d + 16, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		expect(code, MPI_ERR_TYPE, "MPI_Allreduce");
		code = MPI_Bcast(d, 1, MPI_DOUBLE, odd ? rank : 0, MPI_COMM_WORLD);
		expect(code, MPI_ERR_ROOT, "MPI_Bcast of two roots");
	}

	/* Differences that are common in programs, and harmless. */
	int kept = checking;
	checking = 0;
	code = odd ? MPI_Bcast(c, 8, MPI_BYTE, 0, MPI_COMM_WORLD) : MPI_Bcast(c, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
	expect(code, 0, "MPI_CHAR and MPI_BYTE");
	long l[16] = {0};
	code = odd ? MPI_Allgather(l, 1, MPI_LONG, l + 1, 1, MPI_LONG, MPI_COMM_WORLD)
	           : MPI_Allgather(l, 1, MPI_INT64_T, l + 1, 1, MPI_INT64_T, MPI_COMM_WORLD);
	expect(code, 0, "MPI_LONG and MPI_INT64_T");
	checking = kept;

	int sum, one = 1;
	CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS && sum == size);
	return done();
}
