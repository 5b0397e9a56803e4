/* Mistakes of beginners that checking mode names by the lines of both sides, BRD-08: an argument chooses the
 * mistake. The two lines of each end with its name, and "0" or "1" for the rank, in a comment. Without
 * an argument the program makes none (Halo). */
#include "check.h"

static int is(const char *mistake, char **argv) { return argv[1] != NULL && strcmp(argv[1], mistake) == 0; }

int main(int argc, char **argv) {
	static int i[5000];
	static double d[5000];
	MPI_Request r;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int zero = rank == 0;
	if (is("type", argv)) {
		if (zero) MPI_Send(i, 4, MPI_INT, 1, 7, MPI_COMM_WORLD); /* type 0 */
		else MPI_Recv(d, 8, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* type 1 */
	} else if (is("length", argv)) {
		if (zero) {
			MPI_Isend(i, 4000, MPI_INT, 1, 7, MPI_COMM_WORLD, &r); /* length 0 */
			MPI_Wait(&r, MPI_STATUS_IGNORE);
		} else {
			MPI_Irecv(i, 3000, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r); /* length 1 */
			MPI_Wait(&r, MPI_STATUS_IGNORE);
		}
	} else if (is("order", argv)) {
		if (zero) MPI_Bcast(i, 4, MPI_INT, 0, MPI_COMM_WORLD); /* order 0 */
		else MPI_Barrier(MPI_COMM_WORLD); /* order 1 */
	} else if (is("root", argv)) {
		if (zero) MPI_Bcast(i, 4, MPI_INT, 0, MPI_COMM_WORLD); /* root 0 */
		else MPI_Bcast(i, 4, MPI_INT, 1, MPI_COMM_WORLD); /* root 1 */
	} else if (is("count", argv)) {
		if (zero) MPI_Allreduce(i, i + 100, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* count 0 */
		else MPI_Allreduce(i, i + 100, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* count 1 */
	} else if (is("operation", argv)) {
		if (zero) MPI_Reduce(i, i + 100, 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); /* operation 0 */
		else MPI_Reduce(i, i + 100, 4, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD); /* operation 1 */
	}
	MPI_Finalize();
	return 0;
}
