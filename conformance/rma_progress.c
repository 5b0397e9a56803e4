/* Operations on a target that never calls MPI complete, for every kind of memory that it exposes
 * (RS-07, RS-08, MEM-06, EXP-2): rank 0 only reads its memory until the last operation of
 * all others has arrived. */
#define HALO_MPI_NAMES
#include "check.h"
#include <stdint.h>

enum { WORDS = 1024, ROUNDS = 20 };

static int64_t fixed[WORDS];

/* An origin puts, adds and fetches, flushes, and finally increments a count of finished origins. */
static void origin(MPI_Win win, MPI_Aint base, int unit) {
	int64_t one = 1, old, v[WORDS / 8];
	int part = (WORDS - 8) / size;
#define AT(i) (base + (MPI_Aint)(i) * unit)
	for (int round = 1; round <= ROUNDS; round++) {
		for (int i = 0; i < WORDS / 8; i++) v[i] = rank * 1000 + round;
		int n = part < WORDS / 8 ? part : WORDS / 8;
		OK(MPI_Put(v, n, MPI_INT64_T, 0, AT(8 + rank * part), n, MPI_INT64_T, win));
		OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, AT(1), 1, MPI_INT64_T, MPI_SUM, win));
		OK(MPI_Win_flush(0, win));
		OK(MPI_Get(v, n, MPI_INT64_T, 0, AT(8 + rank * part), n, MPI_INT64_T, win));
		OK(MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, AT(2), MPI_SUM, win));
		OK(MPI_Win_flush(0, win));
		CHECK(v[n - 1] == rank * 1000 + round, ": %d", (int)v[n - 1]);
	}
	OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, AT(0), 1, MPI_INT64_T, MPI_SUM, win));
	OK(MPI_Win_flush(0, win));
}

static void run(MPI_Win win, int64_t *mem, MPI_Aint base, int unit, const char *kind) {
	if (rank > 0) {
		origin(win, base, unit);
	} else {
		volatile int64_t *seen = mem;
		while (seen[0] < size - 1) /* no call of MPI */
			;
		CHECK(mem[1] == (size - 1) * ROUNDS && mem[2] == (size - 1) * ROUNDS, "%s: %d, %d", kind, (int)mem[1], (int)mem[2]);
	}
}

static void created(int64_t *mem, const char *kind) {
	MPI_Win win;
	memset(mem, 0, WORDS * 8);
	OK(MPI_Win_create(mem, WORDS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	OK(MPI_Win_lock_all(0, win));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	run(win, mem, 0, 1, kind);
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Win_free(&win));
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int64_t stack[WORDS], *heap = malloc(WORDS * 8), *of_mpi;
	MPI_Win win, parent;
	OK(MPI_Alloc_mem(WORDS * 8, MPI_INFO_NULL, &of_mpi));
	created(fixed, "static");
	created(stack, "stack");
	created(heap, "malloc");
	created(of_mpi, "MPI_Alloc_mem");

	/* attached memory, by its address, and by a handle */
	MPI_Aint base;
	char handle[MPI_MAX_MEMORY_HANDLE_SIZE];
	int n;
	for (int direct = 0; direct < 2; direct++) {
		int64_t *mem = direct ? of_mpi : heap;
		memset(mem, 0, WORDS * 8);
		OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &parent));
		OK(MPI_Win_attach(parent, mem, WORDS * 8));
		OK(MPI_Get_address(mem, &base));
		OK(MPI_Bcast(&base, 1, MPI_AINT, 0, MPI_COMM_WORLD));
		OK(MPI_Win_lock_all(0, parent));
		OK(MPI_Barrier(MPI_COMM_WORLD));
		run(parent, mem, base, 8, "attached");
		OK(MPI_Barrier(MPI_COMM_WORLD));
		memset(mem, 0, WORDS * 8);
		OK(MPI_Memhandle_create(mem, WORDS * 8, MPI_INFO_NULL, parent, handle, &n));
		char of_0[MPI_MAX_MEMORY_HANDLE_SIZE];
		memcpy(of_0, handle, n);
		OK(MPI_Bcast(of_0, n, MPI_BYTE, 0, MPI_COMM_WORLD));
		OK(MPI_Win_from_memhandle(of_0, WORDS * 8, 8, MPI_INFO_NULL, 0, parent, &win));
		OK(MPI_Barrier(MPI_COMM_WORLD));
		run(win, mem, 0, 1, "by a handle");
		OK(MPI_Win_free(&win));
		OK(MPI_Barrier(MPI_COMM_WORLD));
		OK(MPI_Memhandle_release(handle, parent));
		OK(MPI_Win_unlock_all(parent));
		OK(MPI_Win_detach(parent, mem));
		OK(MPI_Win_free(&parent));
	}
	free(heap);
	OK(MPI_Free_mem(of_mpi));
	return done();
}
