/* The listings of the paper "Quo Vadis MPI RMA?", with its names, and with the parts that it omits:
 * signals behind puts (1, 2), intrinsic operations (3), duplicates (4), memory handles (5 and
 * figure 6), and puts that are complete at the target (6) (QV-12, QV-13, QV-15, QV-20,
 * QV-27..QV-34, QV-36, QV-37, E3-01, E3-02, E3-05, EX-04: a handle is any memory, and travels as bytes). */
#define HALO_MPI_NAMES
#include "check.h"
#include <stdint.h>

enum { WORDS = 20000 };

static int target, origin, useful;
static void do_useful_work(void) { useful++; }

/* The window contains WORDS numbers and a counter behind them; data are the numbers to put. */
static int64_t data[WORDS];

static void fill(int64_t with) {
	for (int i = 0; i < WORDS; i++) data[i] = with + i;
}

/* await waits until the counter of this rank has the value, and checks the data that were put. */
static void await(MPI_Win win, int64_t *mem, int64_t value, int64_t with) {
	int64_t seen = 0;
	while (seen < value) {
		OK(MPI_Fetch_and_op(NULL, &seen, MPI_INT64_T, rank, WORDS, MPI_NO_OP, win));
		OK(MPI_Win_flush(rank, win));
	}
	OK(MPI_Win_sync(win));
	for (int i = 0; i < WORDS; i++) {
		if (mem[i] != with + i) {
			CHECK(mem[i] == with + i, "counter %d, element %d: %d", (int)value, i, (int)mem[i]);
			break;
		}
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void listing1(MPI_Win win) {
	int flag;
	int64_t one = 1;
	MPI_Request req;
	OK(MPI_Rput(data, WORDS, MPI_INT64_T, target, 0, WORDS, MPI_INT64_T, win, &req));
	do {
		do_useful_work();
		OK(MPI_Test(&req, &flag, MPI_STATUS_IGNORE));
	} while (!flag);
	/* Flush needed for remote completion */
	OK(MPI_Win_flush(target, win));
	/* Signal that the data has been written by incrementing a counter at the target */
	OK(MPI_Raccumulate(&one, 1, MPI_INT64_T, target, WORDS, 1, MPI_INT64_T, MPI_SUM, win, &req));
	do {
		do_useful_work();
		OK(MPI_Test(&req, &flag, MPI_STATUS_IGNORE));
	} while (!flag);
	OK(MPI_Win_flush(target, win));
}

static void listing2(MPI_Win win) {
	int flag;
	int64_t one = 1;
	MPI_Request req;
	OK(MPI_Put(data, WORDS, MPI_INT64_T, target, 0, WORDS, MPI_INT64_T, win));
	OK(MPI_Raccumulate(&one, 1, MPI_INT64_T, target, WORDS, 1, MPI_INT64_T, MPI_SUM, win, &req));
	do {
		do_useful_work();
		OK(MPI_Test(&req, &flag, MPI_STATUS_IGNORE));
	} while (!flag);
	OK(MPI_Win_flush_local(target, win)); /* data is reused */
}

static void listing6(MPI_Win win, int64_t *mem) {
	int flag, mine = 1, all = 0;
	MPI_Request req;
	OK(MPI_Rrput(data, WORDS, MPI_INT64_T, target, 0, WORDS, MPI_INT64_T, win, &req));
	do {
		do_useful_work();
		OK(MPI_Test(&req, &flag, MPI_STATUS_IGNORE));
	} while (!flag);
	OK(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	OK(MPI_Win_sync(win));
	CHECK(all == size && mem[0] == 6000 + origin && mem[WORDS - 1] == 6000 + origin + WORDS - 1, ": %d", (int)mem[0]);
}

static void listings3and4(MPI_Win win) {
	int flag = -1, one, two;
	OK(MPI_Win_op_intrinsic("sum,cas,no_op", 1, MPI_INT64_T, win, &flag));
	CHECK(flag == 0 || flag == 1, ": %d", flag);
	OK(MPI_Win_op_intrinsic("sum", 1, MPI_INT64_T, win, &one));
	OK(MPI_Win_op_intrinsic("sum", 1 << 20, MPI_INT64_T, win, &two));
	CHECK(two <= one);
	FAILS(MPI_Win_op_intrinsic("", 1, MPI_INT64_T, win, &flag), MPI_ERR_ARG);
	FAILS(MPI_Win_op_intrinsic("no such operation", 1, MPI_INT64_T, win, &flag), MPI_ERR_ARG);
}

/* Figure 6: each rank is process A, and its neighbour is process B, to which it opens memory. */
static void figure6(void) {
	MPI_Win parentwin, win;
	unsigned char memhandle[MPI_MAX_MEMORY_HANDLE_SIZE];
	struct {
		long bytes[MPI_MAX_MEMORY_HANDLE_SIZE / sizeof(long) + 1];
	} theirs; /* of a type of its own, which is passed without a cast (E3-05) */
	int memhandle_size = 0, flag;
	double *memory = calloc(100, sizeof *memory), v[100];
	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &parentwin));
	MPI_Win_set_errhandler(parentwin, MPI_ERRORS_RETURN);
	OK(MPI_Win_lock_all(0, parentwin));
	OK(MPI_Memhandle_create(memory, 100 * sizeof *memory, MPI_INFO_NULL, parentwin, memhandle, &memhandle_size));
	CHECK(memhandle_size > 0 && memhandle_size <= MPI_MAX_MEMORY_HANDLE_SIZE && MPI_MAX_MEMHANDLE_SIZE == MPI_MAX_MEMORY_HANDLE_SIZE);
	OK(MPI_Sendrecv(memhandle, memhandle_size, MPI_BYTE, origin, 0, &theirs, sizeof theirs, MPI_BYTE, target, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	OK(MPI_Win_from_memhandle(&theirs, 100 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, target, parentwin, &win));
	for (int i = 0; i < 100; i++) v[i] = 10.0 * rank + i;
	OK(MPI_Put(v, 99, MPI_DOUBLE, target, 1, 99, MPI_DOUBLE, win));
	FAILS(MPI_Put(v, 99, MPI_DOUBLE, target, 2, 99, MPI_DOUBLE, win), MPI_ERR_RMA_RANGE);
	if (size > 2) FAILS(MPI_Put(v, 1, MPI_DOUBLE, origin, 0, 1, MPI_DOUBLE, win), MPI_ERR_RANK);
	FAILS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
	OK(MPI_Win_free(&win));
	CHECK(win == MPI_WIN_NULL);
	OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, target, 1, NULL, 0, MPI_BYTE, origin, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	for (int i = 0; i < 99; i++) CHECK(memory[1 + i] == 10.0 * origin + i, "element %d", i);
	OK(MPI_Memhandle_release(memhandle, parentwin));
	FAILS(MPI_Memhandle_release(memhandle, parentwin), MPI_ERR_RMA_ATTACH);
	memhandle[20] ^= 1;
	FAILS(MPI_Memhandle_release(memhandle, parentwin), MPI_ERR_ARG);
	FAILS(MPI_Memhandle_create(memory, -1, MPI_INFO_NULL, parentwin, memhandle, &memhandle_size), MPI_ERR_SIZE);
	FAILS(MPI_Memhandle_create(memory, 8, MPI_INFO_NULL, parentwin, NULL, &memhandle_size), MPI_ERR_ARG);
	OK(MPI_Win_unlock_all(parentwin));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_free(&parentwin));
	free(memory);
	/* other windows have no memory handles */
	OK(MPI_Win_create(v, sizeof v, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	FAILS(MPI_Memhandle_create(v, 8, MPI_INFO_NULL, win, memhandle, &flag), MPI_ERR_RMA_FLAVOR);
	OK(MPI_Win_free(&win));
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	target = (rank + 1) % size;
	origin = (rank + size - 1) % size;
	MPI_Win parentwin, newwin;
	MPI_Info info, used;
	int64_t *mem;
	char text[MPI_MAX_INFO_VAL + 1];
	int flag;
	OK(MPI_Win_allocate((WORDS + 1) * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &parentwin));
	MPI_Win_set_errhandler(parentwin, MPI_ERRORS_RETURN);
	OK(MPI_Win_lock_all(0, parentwin));
	fill(1000 + rank);
	listing1(parentwin);
	await(parentwin, mem, 1, 1000 + origin);

	MPI_Info_create(&info);
	MPI_Info_set(info, "mpi_win_order", "true");
	OK(MPI_Win_dup_with_info(parentwin, info, &newwin));
	OK(MPI_Win_get_info(newwin, &used));
	OK(MPI_Info_get(used, "mpi_win_order", MPI_MAX_INFO_VAL, text, &flag));
	CHECK(flag && strcmp(text, "true") == 0);
	MPI_Info_free(&used);
	for (int round = 2; round < 30; round++) {
		fill(1000 * round + rank);
		listing2(newwin);
		await(newwin, mem, round, 1000 * round + origin);
	}
	FAILS(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, newwin), MPI_ERR_RMA_SYNC);
	fill(6000 + rank);
	listing6(newwin, mem);
	listings3and4(newwin);
	OK(MPI_Win_free(&newwin));
	OK(MPI_Win_unlock_all(parentwin));
	OK(MPI_Win_free(&parentwin));
	MPI_Info_free(&info);
	figure6();
	return done();
}
