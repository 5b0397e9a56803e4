/* MPIX_Request_add_hooks: functions that a request calls when it is started, complete, and at its end. */
#include "check.h"

static int starts, completions, ends;

static void start(void *p) { starts++, *(int *)p += 1; }
static void complete(void *p) { completions++, *(int *)p += 100; }
static void end(void *p) { ends++, *(int *)p += 10000; }

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Request r;
	int x = 0, y = 0, state = 0, flag, peer = (rank + 1) % size, from = (rank + size - 1) % size;
	OK(MPI_Irecv(&x, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &r));
	OK(MPIX_Request_add_hooks(r, NULL, complete, end, &state));
	OK(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
	CHECK(!flag && state == 0, "%d before anything was sent", state);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	y = rank;
	OK(MPI_Send(&y, 1, MPI_INT, peer, 1, MPI_COMM_WORLD));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(x == from && state == 10100, "%d and %d", x, state);
	/* A persistent collective, with other requests; the request is complete once a round. */
	MPI_Request all[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	OK(MPI_Allreduce_init(&y, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &all[1]));
	state = 0;
	OK(MPIX_Request_add_hooks(all[1], start, complete, end, &state));
	for (int round = 1; round <= 3; round++) {
		OK(MPI_Startall(1, all + 1));
		CHECK(starts == round, "%d starts", starts);
		OK(MPI_Waitall(2, all, MPI_STATUSES_IGNORE));
		OK(MPI_Test(&all[1], &flag, MPI_STATUS_IGNORE));
		CHECK(completions == 1 + round && x == size * (size - 1) / 2, "%d completions", completions);
	}
	OK(MPI_Request_free(&all[1]));
	CHECK(state == 10303 && ends == 2, "%d, %d ends", state, ends);
	/* A request that is complete at once calls the functions before the call returns. */
	MPI_Win win;
	int *memory;
	OK(MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &win));
	OK(MPI_Win_lock_all(0, win));
	OK(MPI_Rput(&y, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &r));
	state = 0;
	OK(MPIX_Request_add_hooks(r, NULL, complete, end, &state));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(state == 10100, "%d", state);
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Win_free(&win));
	/* Errors. */
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	FAILS(MPIX_Request_add_hooks(MPI_REQUEST_NULL, NULL, complete, end, &state), MPI_ERR_REQUEST);
	OK(MPI_Irecv(&x, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &r));
	OK(MPIX_Request_add_hooks(r, NULL, complete, NULL, &state));
	FAILS(MPIX_Request_add_hooks(r, NULL, complete, NULL, &state), MPI_ERR_REQUEST);
	OK(MPI_Send(&y, 1, MPI_INT, rank, 2, MPI_COMM_WORLD));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	return done();
}
