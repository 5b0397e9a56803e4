/* A shared window: ranks load what others have stored, and each finds the others' parts. */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Comm node;
	MPI_Win w;
	int *mine, *theirs, unit = 0, me, n;
	MPI_Aint bytes = 0;
	OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
	MPI_Comm_rank(node, &me);
	MPI_Comm_size(node, &n);
	OK(MPI_Win_allocate_shared((MPI_Aint)sizeof(int) * (me + 1), sizeof(int), MPI_INFO_NULL, node, &mine, &w));
	OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, w));
	for (int i = 0; i <= me; i++) mine[i] = 10 * me + i;
	OK(MPI_Win_sync(w));
	MPI_Barrier(node);
	OK(MPI_Win_sync(w));
	for (int r = 0; r < n; r++) {
		OK(MPI_Win_shared_query(w, r, &bytes, &unit, &theirs));
		CHECK(bytes == (MPI_Aint)sizeof(int) * (r + 1) && unit == sizeof(int), "%ld bytes, unit %d of %d", (long)bytes, unit, r);
		for (int i = 0; i <= r; i++) CHECK(theirs[i] == 10 * r + i, "%d at %d of %d", theirs[i], i, r);
	}
	int *first;
	OK(MPI_Win_shared_query(w, MPI_PROC_NULL, &bytes, &unit, &first));
	OK(MPI_Win_shared_query(w, 0, &bytes, &unit, &theirs));
	CHECK(first == theirs, "the first is another");
	CHECK(me == 0 || mine == first + me * (me + 1) / 2, "the parts do not follow each other");
	OK(MPI_Win_unlock_all(w));
	OK(MPI_Win_free(&w));
	OK(MPI_Comm_free(&node));
	return done();
}
