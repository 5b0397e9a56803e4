/* Requests of synchronisation objects in C: too many signals are an error of class
 * MPIX_ERR_WIN_COUNTER for the error handler of the window (SYN-27, E0-16), and MPI_Cancel is
 * MPI_ERR_REQUEST and changes nothing (SYN-29, E0-23). */
#include "check.h"

static MPI_Win win;
static MPIX_Sync mine, theirs;
static int to, from;
static int told, last; /* calls of the error handler, and the class of the last one */

static void hear(MPI_Win *w, int *code, ...) {
	told++;
	last = class_of(*code);
	CHECK(*w == win);
}

/* Signals the object of the next rank so often, and returns when the own object has as many signals
 * more: messages of a rank do not overtake its signals. */
static void signals(int n) {
	MPI_Request q;
	OK(MPIX_Win_sync_ops_init(to, 0, theirs, win, MPI_INFO_NULL, &q));
	for (int i = 0; i < n; i++) {
		OK(MPI_Start(&q));
		OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
	}
	OK(MPI_Request_free(&q));
	OK(MPI_Sendrecv(NULL, 0, MPI_INT, to, 3, NULL, 0, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* A call is an error of class MPIX_ERR_WIN_COUNTER, which the handler of the window hears once. */
#define COUNTER_ERROR(call) \
	do { \
		int before_ = told; \
		last = -1; \
		FAILS(call, MPIX_ERR_WIN_COUNTER); \
		CHECK(told == before_ + 1 && last == MPIX_ERR_WIN_COUNTER, ": %d calls of the handler, class %d", told - before_, last); \
	} while (0)

/* By the rule of the proposal, one signal more than count in a generation is an error. */
static void strict(int count) {
	MPI_Info info;
	MPI_Request q;
	int flag = -1, before = told;
	MPI_Info_create(&info);
	MPI_Info_set(info, "strict", "true");
	OK(MPIX_Win_sync_object_init(mine, count, win, info, &q));
	MPI_Info_free(&info);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	for (int round = 0; round < 2; round++) { /* as many as are waited for: no error */
		OK(MPI_Start(&q));
		OK(MPI_Barrier(MPI_COMM_WORLD));
		signals(count - 1);
		OK(MPI_Test(&q, &flag, MPI_STATUS_IGNORE));
		CHECK(!flag);
		OK(MPI_Barrier(MPI_COMM_WORLD));
		signals(1);
		OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
		OK(MPI_Barrier(MPI_COMM_WORLD));
	}
	CHECK(told == before, ": the handler was called %d times", told - before);
	OK(MPI_Start(&q));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	signals(count + 1);
	COUNTER_ERROR(MPI_Wait(&q, MPI_STATUS_IGNORE));
	OK(MPI_Request_free(&q));
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Otherwise count signals may come early, for the next generation; one more is an error, and no
 * signal is lost. */
static void credit(int count) {
	MPI_Request q;
	MPI_Status status;
	int index, before = told;
	OK(MPIX_Win_sync_object_init(mine, count, win, MPI_INFO_NULL, &q));
	OK(MPI_Start(&q));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	signals(2 * count);
	OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
	OK(MPI_Start(&q)); /* complete by the early signals */
	OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
	CHECK(told == before, ": the handler was called %d times", told - before);
	OK(MPI_Start(&q));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	signals(2 * count + 1);
	COUNTER_ERROR(MPI_Wait(&q, MPI_STATUS_IGNORE));
	OK(MPI_Start(&q)); /* complete by early signals, of which there are still too many */
	COUNTER_ERROR(MPI_Waitany(1, &q, &index, &status));
	OK(MPI_Start(&q)); /* one signal is left */
	OK(MPI_Barrier(MPI_COMM_WORLD));
	signals(count - 1);
	OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
	OK(MPI_Request_free(&q));
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void cancel(void) {
	MPI_Request come, put, bare;
	MPI_Status status;
	int value[1000], flag, *mem, ok, before;
	OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &mem, &ok));
	CHECK(ok);
	OK(MPIX_Win_sync_object_init(mine, 2, win, MPI_INFO_NULL, &come));
	OK(MPIX_Win_sync_ops_init(to, MPIX_MODE_WIN_PUT, theirs, win, MPI_INFO_NULL, &put));
	OK(MPIX_Win_sync_ops_init(to, 0, theirs, win, MPI_INFO_NULL, &bare));
	before = told;
	FAILS(MPI_Cancel(&come), MPI_ERR_REQUEST); /* not started yet */
	FAILS(MPI_Cancel(&put), MPI_ERR_REQUEST);
	FAILS(MPI_Cancel(&bare), MPI_ERR_REQUEST);
	CHECK(told == before + 3 && last == MPI_ERR_REQUEST, ": %d calls of the handler, class %d", told - before, last);
	OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	for (int round = 0; round < 3; round++) {
		OK(MPI_Start(&come));
		OK(MPI_Start(&put));
		FAILS(MPI_Cancel(&come), MPI_ERR_REQUEST);
		FAILS(MPI_Cancel(&put), MPI_ERR_REQUEST);
		CHECK(come != MPI_REQUEST_NULL && put != MPI_REQUEST_NULL);
		for (int i = 0; i < 1000; i++) value[i] = 10000 * round + 1000 * rank + i;
		OK(MPI_Put(value, 1000, MPI_INT, to, 0, 1000, MPI_INT, win));
		FAILS(MPI_Cancel(&put), MPI_ERR_REQUEST);
		OK(MPI_Wait(&put, &status));
		OK(MPI_Test_cancelled(&status, &flag));
		CHECK(!flag);
		OK(MPI_Barrier(MPI_COMM_WORLD));
		OK(MPI_Test(&come, &flag, MPI_STATUS_IGNORE));
		CHECK(!flag, "after one signal of two");
		FAILS(MPI_Cancel(&come), MPI_ERR_REQUEST);
		OK(MPI_Barrier(MPI_COMM_WORLD));
		OK(MPI_Start(&bare));
		FAILS(MPI_Cancel(&bare), MPI_ERR_REQUEST);
		OK(MPI_Wait(&bare, MPI_STATUS_IGNORE));
		OK(MPI_Wait(&come, &status));
		OK(MPI_Test_cancelled(&status, &flag));
		CHECK(!flag);
		for (int i = 0; i < 1000; i++) {
			if (mem[i] == 10000 * round + 1000 * from + i) continue;
			CHECK(mem[i] == 10000 * round + 1000 * from + i, "element %d is %d", i, mem[i]);
			break;
		}
		OK(MPI_Barrier(MPI_COMM_WORLD));
	}
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Request_free(&come));
	OK(MPI_Request_free(&put));
	OK(MPI_Request_free(&bare));
	OK(MPIX_Win_sync_object_init(mine, 1, win, MPI_INFO_NULL, &come)); /* no signal is left */
	OK(MPI_Start(&come));
	OK(MPI_Test(&come, &flag, MPI_STATUS_IGNORE));
	CHECK(!flag);
	OK(MPI_Request_free(&come));
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Errhandler handler;
	int *mem;
	to = (rank + 1) % size;
	from = (rank + size - 1) % size;
	OK(MPI_Win_allocate(1000 * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
	OK(MPI_Win_create_errhandler(hear, &handler));
	OK(MPI_Win_set_errhandler(win, handler));
	OK(MPI_Errhandler_free(&handler));
	for (int count = 1; count <= 4; count += 3) {
		OK(MPIX_Win_alloc_sync_objects(1, &mine, win, MPI_INFO_NULL));
		OK(MPI_Sendrecv(&mine, 1, MPIX_HANDLE_SYNC, from, 0, &theirs, 1, MPIX_HANDLE_SYNC, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		strict(count);
		OK(MPIX_Win_free_sync_objects(1, &mine, win));
		OK(MPIX_Win_alloc_sync_objects(1, &mine, win, MPI_INFO_NULL));
		OK(MPI_Sendrecv(&mine, 1, MPIX_HANDLE_SYNC, from, 0, &theirs, 1, MPIX_HANDLE_SYNC, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		credit(count);
		cancel();
		OK(MPIX_Win_free_sync_objects(1, &mine, win));
	}
	OK(MPI_Win_free(&win));
	return done();
}
