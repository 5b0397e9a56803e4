/* Synchronisation objects in C: each function, the constants, numbers for Fortran, the calls that
 * take handles, and those that refuse them (SYN-05..SYN-12, SYN-15, SYN-17, SYN-22..SYN-24, SYN-27,
 * SYN-34, SYN-36..SYN-39; E0-02: the window is before the info; E0-05: a counter is given by value). */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Win win, other;
	int *mem, to = (rank + 1) % size, from = (rank + size - 1) % size;
	OK(MPI_Win_allocate(64 * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
	OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other));
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN);

	MPIX_Sync mine[3], theirs[3], all[64];
	OK(MPIX_Win_alloc_sync_objects(0, NULL, win, MPI_INFO_NULL));
	OK(MPIX_Win_alloc_sync_objects(3, mine, win, MPI_INFO_NULL));
	CHECK(mine[0] != mine[1] && mine[1] != mine[2] && mine[0] != mine[2]);
	for (int i = 0; i < 3; i++) CHECK(mine[i] != MPIX_SYNC_NULL);
	FAILS(MPIX_Win_alloc_sync_objects(-1, mine, win, MPI_INFO_NULL), MPI_ERR_COUNT);
	FAILS(MPIX_Win_alloc_sync_objects(1, NULL, win, MPI_INFO_NULL), MPI_ERR_ARG);

	/* MPIX_HANDLE_SYNC is allowed in messages and collectives only */
	OK(MPI_Sendrecv(mine, 3, MPIX_HANDLE_SYNC, from, 0, theirs, 3, MPIX_HANDLE_SYNC, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	OK(MPI_Allgather(mine, 1, MPIX_HANDLE_SYNC, all, 1, MPIX_HANDLE_SYNC, MPI_COMM_WORLD));
	CHECK(all[rank] == mine[0] && all[to] == theirs[0]);
	MPI_Datatype two;
	FAILS(MPI_Type_contiguous(2, MPIX_HANDLE_SYNC, &two), MPI_ERR_TYPE);
	int code = class_of(MPI_Allreduce(mine, theirs + 2, 1, MPIX_HANDLE_SYNC, MPI_SUM, MPI_COMM_WORLD));
	CHECK(code == MPI_ERR_TYPE || code == MPI_ERR_OP, ": class %d", code);
	OK(MPI_Win_fence(0, win));
	FAILS(MPI_Put(mine, 1, MPIX_HANDLE_SYNC, to, 0, 1, MPIX_HANDLE_SYNC, win), MPI_ERR_TYPE);
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
	FAILS(MPI_Get(mine, 1, MPIX_HANDLE_SYNC, rank, 0, 1, MPIX_HANDLE_SYNC, win), MPI_ERR_TYPE);
	OK(MPI_Win_unlock(rank, win));
	int n = 0;
	OK(MPI_Type_size(MPIX_HANDLE_SYNC, &n));
	CHECK(n == (int)sizeof(MPIX_Sync), ": %d", n);

	/* numbers of Fortran */
	MPI_Aint f[3];
	for (int i = 0; i < 3; i++) {
		f[i] = MPIX_Sync_c2f(i == 2 ? theirs[0] : mine[i]);
		CHECK(f[i] != 0 && MPIX_Sync_f2c(f[i]) == (i == 2 ? theirs[0] : mine[i]));
		CHECK(memcmp(&f[i], i == 2 ? &theirs[0] : &mine[i], sizeof f[i]) == 0); /* the same word, so that MPIX_HANDLE_SYNC sends both */
	}
	CHECK(f[0] != f[1] && f[1] != f[2]);
	CHECK(MPIX_Sync_c2f(MPIX_SYNC_NULL) == 0 && MPIX_Sync_f2c(0) == MPIX_SYNC_NULL);

	/* two signals: one with a put, one bare */
	MPI_Request come, put, bare;
	int value = 40 + rank, flag = -1;
	OK(MPIX_Win_sync_object_init(mine[0], 2, win, MPI_INFO_NULL, &come));
	OK(MPIX_Win_sync_ops_init(to, MPIX_MODE_WIN_PUT, theirs[0], win, MPI_INFO_NULL, &put));
	OK(MPIX_Win_sync_ops_init(to, 0, theirs[0], win, MPI_INFO_NULL, &bare));
	OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	for (int round = 0; round < 100; round++) {
		OK(MPI_Start(&come));
		OK(MPI_Start(&put));
		value = 40 + rank + round;
		OK(MPI_Put(&value, 1, MPI_INT, to, 5, 1, MPI_INT, win));
		OK(MPI_Wait(&put, MPI_STATUS_IGNORE));
		if (round == 0) {
			OK(MPI_Barrier(MPI_COMM_WORLD));
			OK(MPI_Test(&come, &flag, MPI_STATUS_IGNORE));
			CHECK(flag == 0);
			OK(MPI_Barrier(MPI_COMM_WORLD));
		}
		OK(MPI_Start(&bare)); /* signals at once, and may be started again without a wait */
		OK(MPI_Wait(&come, MPI_STATUS_IGNORE));
		CHECK(mem[5] == 40 + from + round, "round %d: %d", round, mem[5]);
		OK(MPI_Barrier(MPI_COMM_WORLD));
	}
	OK(MPI_Win_unlock_all(win));
	FAILS(MPIX_Win_free_sync_objects(-1, mine, win), MPI_ERR_COUNT);
	FAILS(MPIX_Win_free_sync_objects(1, mine, other), MPI_ERR_WIN);
	FAILS(MPIX_Win_free_sync_objects(1, theirs, size == 1 ? other : win), size == 1 ? MPI_ERR_WIN : MPI_ERR_ARG);

	/* an error is raised at the latest when the request is started */
	MPI_Request q = MPI_REQUEST_NULL;
#define REFUSED(call, class) \
	do { \
		int c_ = (call); \
		if (c_ == MPI_SUCCESS) c_ = MPI_Start(&q); \
		FAILS(c_, class); \
	} while (0)
	REFUSED(MPIX_Win_sync_ops_init(to, 1 << 20, theirs[0], win, MPI_INFO_NULL, &q), MPI_ERR_ARG);
	REFUSED(MPIX_Win_sync_ops_init(to, 0, MPIX_SYNC_NULL, win, MPI_INFO_NULL, &q), MPI_ERR_ARG);
	REFUSED(MPIX_Win_sync_ops_init(to, 0, (MPIX_Sync)0x123456789abcdefLL, win, MPI_INFO_NULL, &q), MPI_ERR_ARG);
	REFUSED(MPIX_Win_sync_ops_init(to, 0, theirs[0], other, MPI_INFO_NULL, &q), MPI_ERR_WIN);
	REFUSED(MPIX_Win_sync_ops_init(size, 0, theirs[0], win, MPI_INFO_NULL, &q), MPI_ERR_RANK);
	REFUSED(MPIX_Win_sync_object_init(mine[0], -1, win, MPI_INFO_NULL, &q), MPI_ERR_COUNT);
	if (size > 1) REFUSED(MPIX_Win_sync_object_init(theirs[0], 1, win, MPI_INFO_NULL, &q), MPI_ERR_ARG);
	MPI_Info bogus;
	MPI_Info_create(&bogus);
	MPI_Info_set(bogus, "restart", "bogus");
	REFUSED(MPIX_Win_sync_object_init(mine[0], 1, win, bogus, &q), MPI_ERR_INFO_VALUE);
	MPI_Info_free(&bogus);

	/* more signals than announced, in the form with large counts */
	MPI_Request once;
	char text[MPI_MAX_ERROR_STRING];
	OK(MPIX_Win_sync_object_init_c(mine[1], 1, win, MPI_INFO_NULL, &once));
	for (int i = 0; i < 3; i++) {
		OK(MPIX_Win_sync_ops_init(rank, MPIX_MODE_WIN_ALL, mine[1], win, MPI_INFO_NULL, &q)); /* SYN-22: to itself */
		OK(MPI_Start(&q));
		OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
		OK(MPI_Request_free(&q));
	}
	OK(MPI_Start(&once));
	FAILS(MPI_Wait(&once, MPI_STATUS_IGNORE), MPIX_ERR_WIN_COUNTER);
	OK(MPI_Error_string(MPIX_ERR_WIN_COUNTER, text, &n));
	CHECK(n > 0);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Request_free(&once));
	OK(MPI_Request_free(&come));
	OK(MPI_Request_free(&put));
	OK(MPI_Request_free(&bare));
	OK(MPIX_Win_free_sync_objects(3, mine, win));
	for (int i = 0; i < 3; i++) CHECK(mine[i] == MPIX_SYNC_NULL);
	FAILS(MPIX_Win_free_sync_objects(1, mine, win), MPI_ERR_ARG);
	OK(MPI_Win_free(&other));
	OK(MPI_Win_free(&win));
	return done();
}
