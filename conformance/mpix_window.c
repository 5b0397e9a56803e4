/* Windows beyond the standard in C: duplicates and order, notified access, requests for
 * completion at the target, and other communicators (QV-07, QV-14, QV-20..QV-24, QV-36,
 * QV-38, SYN-35, E0-21, E3-18, E3-19). A duplicate copies attributes as the predefined functions say (CST-07, ATT-09). */
#include "check.h"
#include <stdint.h>

static int to, from;

static void notified(MPI_Win win, int64_t *mem) {
	int64_t v[2] = {rank, rank + 1}, got[2] = {-1, -1}, one[4] = {-1, -1, -1, -1}, zero = 0, swap = 0;
	MPI_Count value = -1;
	MPI_Request q[3];
	int index, buffer = 0;
	OK(MPIX_Win_notify_set_num(win, 8));
	OK(MPI_Win_lock_all(0, win));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	/* two notifications, among other requests */
	OK(MPIX_Win_wait_notify(win, 3, 2, &q[0]));
	OK(MPI_Irecv(&buffer, 1, MPI_INT, from, 9, MPI_COMM_WORLD, &q[1]));
	OK(MPIX_Put_notify(v, 2, MPI_INT64_T, to, 0, 2, MPI_INT64_T, win, 3));
	OK(MPIX_Accumulate_notify(v, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, MPI_SUM, win, 3));
	OK(MPI_Waitany(2, q, &index, MPI_STATUS_IGNORE));
	CHECK(index == 0 && mem[1] == from + 1, "%d: %d", index, (int)mem[1]);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Send(&index, 1, MPI_INT, to, 9, MPI_COMM_WORLD));
	OK(MPI_Wait(&q[1], MPI_STATUS_IGNORE));
	/* each kind of operation, counted */
	OK(MPIX_Get_notify(got, 2, MPI_INT64_T, to, 0, 2, MPI_INT64_T, win, 4));
	OK(MPIX_Get_accumulate_notify(NULL, 0, MPI_INT64_T, &one[0], 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, MPI_NO_OP, win, 4));
	OK(MPIX_Fetch_and_op_notify(&zero, &one[1], MPI_INT64_T, to, 0, MPI_SUM, win, 4));
	OK(MPIX_Compare_and_swap_notify(&v[0], &swap, &one[2], MPI_INT64_T, to, 2, win, 4));
	OK(MPIX_Rput_notify(v, 1, MPI_INT64_T, to, 3, 1, MPI_INT64_T, win, 4, &q[0]));
	OK(MPIX_Rget_notify(&one[3], 1, MPI_INT64_T, to, 1, 1, MPI_INT64_T, win, 4, &q[1]));
	OK(MPIX_Raccumulate_notify_c(v, 1, MPI_INT64_T, to, 4, 1, MPI_INT64_T, MPI_REPLACE, win, 4, &q[2]));
	OK(MPI_Waitall(3, q, MPI_STATUSES_IGNORE));
	CHECK(one[3] == rank + 1, ": %d", (int)one[3]);
	OK(MPIX_Win_notify_reach(win, 4, 7, &q[0]));
	OK(MPI_Wait(&q[0], MPI_STATUS_IGNORE));
	OK(MPIX_Win_notify_get_value(win, 4, &value));
	CHECK(value == 7, ": %d", (int)value);
	OK(MPI_Win_flush_all(win));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPIX_Win_notify_set_value(win, 4, 0));
	OK(MPIX_Win_notify_init(win, 4, 1, &q[0]));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	for (int round = 0; round < 50; round++) {
		OK(MPI_Start(&q[0]));
		v[0] = round;
		OK(MPIX_Put_notify_c(v, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win, 4));
		OK(MPI_Wait(&q[0], MPI_STATUS_IGNORE));
		CHECK(mem[0] == round, ": %d", (int)mem[0]);
		OK(MPI_Win_flush_local(to, win));
		OK(MPI_Barrier(MPI_COMM_WORLD));
	}
	OK(MPI_Request_free(&q[0]));
	FAILS(MPIX_Put_notify(v, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win, MPIX_WIN_NOTIFY_MAX), MPI_ERR_ARG);
	FAILS(MPIX_Put_notify(v, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win, -1), MPI_ERR_ARG);
	OK(MPI_Win_unlock_all(win));
}

static void remote(MPI_Win win, int64_t *mem) {
	int64_t v = 70 + rank, one = 1, seventyone, got = -1;
	MPI_Request q[2];
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_lock_all(0, win));
	OK(MPIX_Rrput(&v, 1, MPI_INT64_T, to, 8, 1, MPI_INT64_T, win, &q[0]));
	OK(MPI_Wait(&q[0], MPI_STATUS_IGNORE));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	CHECK(mem[8] == 70 + from, ": %d", (int)mem[8]);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPIX_Rraccumulate(&one, 1, MPI_INT64_T, to, 8, 1, MPI_INT64_T, MPI_SUM, win, &q[0]));
	OK(MPI_Wait(&q[0], MPI_STATUS_IGNORE));
	OK(MPIX_Rrget_accumulate(&one, 1, MPI_INT64_T, &got, 1, MPI_INT64_T, to, 8, 1, MPI_INT64_T, MPI_SUM, win, &q[0]));
	OK(MPI_Wait(&q[0], MPI_STATUS_IGNORE));
	CHECK(got == v + 1, ": %d", (int)got);
	OK(MPIX_Rfetch_and_op(&one, &got, MPI_INT64_T, to, 8, MPI_SUM, win, &q[0]));
	OK(MPI_Wait(&q[0], MPI_STATUS_IGNORE));
	CHECK(got == v + 2, ": %d", (int)got);
	seventyone = v + 3;
	OK(MPIX_Rcompare_and_swap(&one, &seventyone, &got, MPI_INT64_T, to, 8, win, &q[0]));
	OK(MPI_Wait(&q[0], MPI_STATUS_IGNORE));
	CHECK(got == v + 3, ": %d", (int)got);
	OK(MPI_Put(&v, 1, MPI_INT64_T, to, 9, 1, MPI_INT64_T, win));
	OK(MPIX_Rflush(to, win, &q[0]));
	OK(MPIX_Rflush_all(win, &q[1]));
	OK(MPI_Waitall(2, q, MPI_STATUSES_IGNORE));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	CHECK(mem[8] == 1 && mem[9] == 70 + from, ": %d, %d", (int)mem[8], (int)mem[9]);
	OK(MPI_Win_unlock_all(win));
}

static void duplicates(MPI_Win win, int64_t *mem) {
	MPI_Win dup;
	char name[MPI_MAX_OBJECT_NAME];
	int n, flag, keys[2], *value;
	OK(MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &keys[0], NULL));
	OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keys[1], NULL));
	for (int k = 0; k < 2; k++) OK(MPI_Win_set_attr(win, keys[k], &keys[k]));
	OK(MPI_Win_set_name(win, "parent"));
	if (rank == 0) { /* the call is local */
		OK(MPIX_Win_dup(win, &dup));
		OK(MPI_Win_get_name(dup, name, &n));
		CHECK(n == 0 && dup != win);
		OK(MPI_Win_free(&dup));
	}
	OK(MPIX_Win_dup_with_info(win, MPI_INFO_NULL, &dup));
	for (int k = 0; k < 2; k++) {
		OK(MPI_Win_get_attr(dup, keys[k], &value, &flag));
		CHECK(flag == (k == 0) && (!flag || value == &keys[0]), ": key %d", k);
		OK(MPI_Win_delete_attr(win, keys[k]));
		OK(MPI_Win_get_attr(win, keys[k], &value, &flag));
		CHECK(!flag, ": key %d", k);
		OK(MPI_Win_free_keyval(&keys[k]));
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win));
	int64_t v = 5 + rank, w = 6 + rank;
	OK(MPI_Put(&v, 1, MPI_INT64_T, to, 10, 1, MPI_INT64_T, dup));
	OK(MPIX_Win_order(to, dup));
	OK(MPI_Put(&w, 1, MPI_INT64_T, to, 10, 1, MPI_INT64_T, dup));
	OK(MPIX_Win_order_all(dup));
	FAILS(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, dup), MPI_ERR_RMA_SYNC);
	OK(MPI_Win_unlock(to, win));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	CHECK(mem[10] == 6 + from, ": %d", (int)mem[10]);
	OK(MPI_Win_free(&dup));
}

/* Half of the processes make a window, all processes join it in reverse order, and the first leaves. */
static void others(void) {
	MPI_Comm half, all;
	MPI_Win win = MPI_WIN_NULL;
	int64_t *mem = NULL;
	MPI_Comm_split(MPI_COMM_WORLD, rank < (size + 1) / 2 ? 0 : MPI_UNDEFINED, rank, &half);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &all);
	if (half != MPI_COMM_NULL) OK(MPI_Win_allocate(8 * size, 8, MPI_INFO_NULL, half, &mem, &win));
	OK(MPIX_Win_change_comm(all, size - 1, &win));
	CHECK(win != MPI_WIN_NULL);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	int64_t v = 300 + rank;
	OK(MPI_Win_fence(0, win));
	OK(MPI_Put(&v, 1, MPI_INT64_T, size - 1, rank, 1, MPI_INT64_T, win)); /* to rank 0 of MPI_COMM_WORLD */
	OK(MPI_Win_fence(0, win));
	if (rank == 0)
		for (int r = 0; r < size; r++) CHECK(mem[r] == 300 + r, "of %d: %d", r, (int)mem[r]);
	FAILS(MPIX_Win_change_comm(all, size, &win), MPI_ERR_RANK);
	if (size > 1) {
		MPI_Comm rest;
		MPI_Comm_split(MPI_COMM_WORLD, rank == size - 1 ? MPI_UNDEFINED : 0, rank, &rest);
		OK(MPIX_Win_change_comm(rest, 0, &win));
		CHECK((win == MPI_WIN_NULL) == (rank == size - 1));
		if (rest != MPI_COMM_NULL) MPI_Comm_free(&rest);
	}
	if (win != MPI_WIN_NULL) OK(MPI_Win_free(&win));
	if (half != MPI_COMM_NULL) MPI_Comm_free(&half);
	MPI_Comm_free(&all);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	to = (rank + 1) % size;
	from = (rank + size - 1) % size;
	MPI_Win win;
	int64_t *mem;
	OK(MPI_Win_allocate(64 * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	memset(mem, 0, 64 * sizeof *mem);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	notified(win, mem);
	remote(win, mem);
	duplicates(win, mem);
	OK(MPI_Win_free(&win));
	others();
	return done();
}
