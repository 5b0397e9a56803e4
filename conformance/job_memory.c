/* Memory of two jobs: parents and children share a window, and store into that of each other (X-DYN-01, X-RMA-01).
 * A child that is told to aborts the whole family (ENV-07). A parent starts the program that is its argument, itself
 * if there is none; conformance/mixed is the same in Go, for either side. */
#include "check.h"
#include <unistd.h>

static void share(MPI_Comm inter, int child, int abort) {
	MPI_Comm all, node;
	MPI_Win w;
	MPI_Aint bytes;
	int me, n, unit;
	long *mine, *theirs;
	OK(MPI_Intercomm_merge(inter, child, &all));
	OK(MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
	OK(MPI_Comm_rank(node, &me));
	OK(MPI_Comm_size(node, &n));
	OK(MPI_Win_allocate_shared(2 * sizeof *mine, sizeof *mine, MPI_INFO_NULL, node, &mine, &w));
	OK(MPI_Win_lock_all(0, w));
	mine[0] = 100 + me;
	OK(MPI_Win_sync(w));
	OK(MPI_Barrier(node));
	OK(MPI_Win_sync(w));
	for (int r = 0; r < n; r++) {
		OK(MPI_Win_shared_query(w, r, &bytes, &unit, &theirs));
		CHECK(bytes == 2 * sizeof *mine && theirs[0] == 100 + r, "rank %d of %d has %ld", r, n, theirs[0]);
	}
	long value = 200 + me;
	OK(MPI_Put(&value, 1, MPI_LONG, (me + 1) % n, 1, 1, MPI_LONG, w));
	OK(MPI_Win_flush_all(w));
	OK(MPI_Barrier(node));
	CHECK(mine[1] == 200 + (me + n - 1) % n, "the rank before %d has put %ld", me, mine[1]);
	OK(MPI_Win_unlock_all(w));
	OK(MPI_Win_free(&w));
	if (abort && child && me == n - 1) MPI_Abort(MPI_COMM_WORLD, 7);
	OK(MPI_Comm_disconnect(&node));
	OK(MPI_Comm_disconnect(&all));
	OK(MPI_Comm_disconnect(&inter));
}

int main(int argc, char **argv) {
	char self[4096] = "", *arguments[] = {NULL, NULL};
	MPI_Comm inter;
	begin(&argc, &argv);
	OK(MPI_Comm_get_parent(&inter));
	if (inter != MPI_COMM_NULL) {
		share(inter, 1, argc > 1 && !strcmp(argv[1], "abort"));
		MPI_Finalize();
		return wrong != 0;
	}
	if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 1;
	arguments[0] = argc > 2 ? argv[2] : NULL;
	OK(MPI_Comm_spawn(argc > 1 ? argv[1] : self, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
	share(inter, 0, 0);
	return done();
}
