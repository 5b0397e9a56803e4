/* A member of a collective gives another length than the others: all that receive what has another length than
 * they expect get an error, nobody hangs, and the communicator can be used afterwards (BRD-08). Reductions, which would combine what is not there, and exchanges are compared by all members. */
#include "check.h"

enum { MOST = 20000, RANKS = 8 };
static double in[MOST * RANKS], out[MOST * RANKS];

enum kind { ALLREDUCE, ALLREDUCE_INT, ALLGATHER, ALLTOALL, REDUCE, BCAST, GATHER, SCATTER, SCAN, SCATTERED, KINDS };
static const char *const names[KINDS] = {"MPI_Allreduce", "MPI_Allreduce of int", "MPI_Allgather", "MPI_Alltoall", "MPI_Reduce",
                                         "MPI_Bcast", "MPI_Gather", "MPI_Scatter", "MPI_Scan", "MPI_Reduce_scatter_block"};

static int call(enum kind k, int n, MPI_Comm c) {
	switch (k) {
	case ALLREDUCE: return MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, c);
	case ALLREDUCE_INT: return MPI_Allreduce(in, out, n, MPI_INT, MPI_MAX, c);
	case ALLGATHER: return MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, c);
	case ALLTOALL: return MPI_Alltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, c);
	case REDUCE: return MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, 0, c);
	case BCAST: return MPI_Bcast(in, n, MPI_DOUBLE, 0, c);
	case GATHER: return MPI_Gather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, 0, c);
	case SCATTER: return MPI_Scatter(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, 0, c);
	case SCAN: return MPI_Scan(in, out, n, MPI_DOUBLE, MPI_SUM, c);
	default: return MPI_Reduce_scatter_block(in, out, n, MPI_DOUBLE, MPI_SUM, c);
	}
}

/* Whether a member must have an error. */
static int hears(enum kind k, int odd) {
	switch (k) {
	case REDUCE: case GATHER: return rank == 0;
	case BCAST: case SCATTER: return rank != 0 && (rank == odd || odd == 0);
	case SCAN: return (rank == odd && rank > 0) || rank == odd + 1;
	default: return 1;
	}
}

static void mismatch(enum kind k, int n, int other, int odd) {
	int mine = rank == odd ? other : n, code = call(k, mine, MPI_COMM_WORLD), one = 1, sum = 0;
	if (code == MPI_SUCCESS) {
		CHECK(!hears(k, odd), "%s of %d elements, %d at rank %d", names[k], n, other, odd);
	} else {
		char text[MPI_MAX_ERROR_STRING];
		int length, class = class_of(code);
		MPI_Error_string(code, text, &length);
		CHECK(class == MPI_ERR_COUNT || class == MPI_ERR_TRUNCATE, "%s of %d elements, %d at rank %d: %s", names[k], n, other, odd, text);
	}
	OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(sum == size, "after %s of %d elements, %d at rank %d: %d", names[k], n, other, odd, sum);
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
	static const int lengths[][2] = {{3, 4}, {4, 3}, {1, 2}, {2, 1}, {40, 60}, {60, 40}};
	static const int far[][2] = {{3, MOST}, {MOST, 3}, {1, 700}, {700, 1}, {MOST, MOST - 1}};
	begin(&argc, &argv);
	if (size > RANKS)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (enum kind k = 0; k < KINDS; k++)
		for (int odd = 0; odd < size; odd++) {
			for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
				mismatch(k, lengths[i][0], lengths[i][1], odd);
			/* With memory in common these collectives go the same way whatever the length. */
			for (size_t i = 0; argc > 1 && k <= ALLTOALL && i < sizeof far / sizeof *far; i++)
				mismatch(k, far[i][0], far[i][1], odd);
		}
	return done();
}
