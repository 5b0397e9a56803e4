/* Mistakes with windows and accesses are errors of the right class, change no memory, and
 * crash nothing (RC-18, RW-05, X-RMA-06, X-RMA-08, X-RMA-09, X-RMA-19, MEM-04, MEM-05). */
#include "check.h"
#include <stdint.h>

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Win win, dynamic, none = MPI_WIN_NULL;
	int64_t *mem, v = 1, got = 5;
	int *bad = NULL, unit, flag, to = (rank + 1) % size;
	MPI_Aint bytes;
	double d = 1;
	OK(MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic));
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN);
	memset(mem, 0, 64);
	OK(MPI_Barrier(MPI_COMM_WORLD));

	/* handles: null, of another kind, invented */
	MPI_Win wild[] = {MPI_WIN_NULL, (MPI_Win)MPI_COMM_WORLD, (MPI_Win)(intptr_t)-1, (MPI_Win)(intptr_t)0x123456789};
	for (int i = 0; i < 4; i++) {
		FAILS(MPI_Put(&v, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, wild[i]), MPI_ERR_WIN);
		FAILS(MPI_Win_flush(0, wild[i]), MPI_ERR_WIN);
		FAILS(MPI_Win_fence(0, wild[i]), MPI_ERR_WIN);
		FAILS(MPI_Win_free(&wild[i]), MPI_ERR_WIN);
	}
	FAILS(MPI_Win_free(NULL), MPI_ERR_ARG);

	/* invalid windows: all ranks make the same error, so that none waits */
	FAILS(MPI_Win_create(&v, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &none), MPI_ERR_SIZE);
	FAILS(MPI_Win_create(&v, 8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &none), MPI_ERR_DISP);
	FAILS(MPI_Win_create(NULL, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &none), MPI_ERR_ARG);
	FAILS(MPI_Win_create(&v, rank == 0 ? -1 : 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &none), MPI_ERR_SIZE);
	FAILS(MPI_Win_create(&v, 8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &none), MPI_ERR_COMM);
	FAILS(MPI_Win_allocate(-8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &bad, &none), MPI_ERR_SIZE);
	FAILS(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL, &none), MPI_ERR_ARG);
	FAILS(MPI_Win_allocate((MPI_Aint)1 << 60, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &bad, &none), MPI_ERR_NO_MEM);
	CHECK(none == MPI_WIN_NULL);

	/* accesses: epoch, target, displacement, type, count, operation, buffers */
	FAILS(MPI_Put(&v, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_flush(to, win), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_unlock(to, win), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_lock(1234, to, 0, win), MPI_ERR_LOCKTYPE);
	FAILS(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win), MPI_ERR_RANK);
	FAILS(MPI_Win_lock(MPI_LOCK_SHARED, to, MPI_MODE_NOPUT, win), MPI_ERR_ASSERT);
	FAILS(MPI_Win_fence(1 << 20, win), MPI_ERR_ASSERT);
	FAILS(MPI_Win_post(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
	OK(MPI_Win_lock_all(0, win));
	FAILS(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Put(&v, 1, MPI_INT64_T, size, 0, 1, MPI_INT64_T, win), MPI_ERR_RANK);
	FAILS(MPI_Put(&v, 1, MPI_INT64_T, -7, 0, 1, MPI_INT64_T, win), MPI_ERR_RANK);
	FAILS(MPI_Put(&v, 1, MPI_INT64_T, to, -1, 1, MPI_INT64_T, win), MPI_ERR_DISP);
	FAILS(MPI_Put(&v, 1, MPI_INT64_T, to, 8, 1, MPI_INT64_T, win), MPI_ERR_RMA_RANGE);
	FAILS(MPI_Put(&v, 1, MPI_INT64_T, to, (MPI_Aint)1 << 61, 1, MPI_INT64_T, win), MPI_ERR_RMA_RANGE);
	FAILS(MPI_Put(&v, -1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win), MPI_ERR_COUNT);
	FAILS(MPI_Put(&v, 1, MPI_INT64_T, to, 0, -1, MPI_INT64_T, win), MPI_ERR_COUNT);
	FAILS(MPI_Put(&v, 1, MPI_DATATYPE_NULL, to, 0, 1, MPI_INT64_T, win), MPI_ERR_TYPE);
	FAILS(MPI_Put(&v, 1, MPI_INT64_T, to, 0, 1, (MPI_Datatype)MPI_COMM_WORLD, win), MPI_ERR_TYPE);
	FAILS(MPI_Put(NULL, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win), MPI_ERR_BUFFER);
	FAILS(MPI_Get(NULL, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win), MPI_ERR_BUFFER);
	FAILS(MPI_Accumulate(&v, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, MPI_OP_NULL, win), MPI_ERR_OP);
	FAILS(MPI_Accumulate(&d, 1, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, MPI_BAND, win), MPI_ERR_OP);
	FAILS(MPI_Fetch_and_op(&v, NULL, MPI_INT64_T, to, 0, MPI_SUM, win), MPI_ERR_BUFFER);
	FAILS(MPI_Fetch_and_op(NULL, &got, MPI_INT64_T, to, 0, MPI_SUM, win), MPI_ERR_BUFFER);
	FAILS(MPI_Compare_and_swap(&d, &d, &d, MPI_DOUBLE, to, 0, win), MPI_ERR_TYPE);
	FAILS(MPI_Compare_and_swap(&v, NULL, &got, MPI_INT64_T, to, 0, win), MPI_ERR_BUFFER);
	OK(MPI_Fetch_and_op(NULL, &got, MPI_INT64_T, to, 0, MPI_NO_OP, win));
	OK(MPI_Win_flush(to, win));
	CHECK(got == 0, ": %d", (int)got);
	FAILS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
	CHECK(win != MPI_WIN_NULL);
	OK(MPI_Win_unlock_all(win));
	FAILS(MPI_Rput(&v, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, win, NULL), MPI_ERR_ARG);
	FAILS(MPI_Win_shared_query(win, 0, NULL, &unit, &bad), MPI_ERR_ARG);
	FAILS(MPI_Win_shared_query(dynamic, 0, &bytes, &unit, &bad), MPI_ERR_RMA_FLAVOR);
	FAILS(MPI_Win_test(win, NULL), MPI_ERR_ARG);
	FAILS(MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);

	/* dynamic windows */
	FAILS(MPI_Win_attach(win, mem, 8), MPI_ERR_RMA_FLAVOR);
	FAILS(MPI_Win_attach(dynamic, mem, -8), MPI_ERR_SIZE);
	FAILS(MPI_Win_attach(dynamic, NULL, 8), MPI_ERR_ARG);
	OK(MPI_Win_attach(dynamic, mem, 32));
	FAILS(MPI_Win_attach(dynamic, mem + 3, 16), MPI_ERR_RMA_ATTACH);
	FAILS(MPI_Win_detach(dynamic, mem + 1), MPI_ERR_RMA_ATTACH);
	OK(MPI_Win_detach(dynamic, mem));
	FAILS(MPI_Win_detach(dynamic, mem), MPI_ERR_RMA_ATTACH);

	/* memory */
	void *p = NULL;
	FAILS(MPI_Alloc_mem((MPI_Aint)1 << 60, MPI_INFO_NULL, &p), MPI_ERR_NO_MEM);
	FAILS(MPI_Alloc_mem(8, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
	FAILS(MPI_Free_mem(&v), MPI_ERR_BASE);
	OK(MPI_Alloc_mem(8, MPI_INFO_NULL, &p));
	OK(MPI_Free_mem(p));
	FAILS(MPI_Free_mem(p), MPI_ERR_BASE);

	OK(MPI_Barrier(MPI_COMM_WORLD));
	for (int i = 0; i < 8; i++) CHECK(mem[i] == 0, "element %d", i);
	MPI_Win stale = win;
	OK(MPI_Win_free(&dynamic));
	OK(MPI_Win_free(&win));
	FAILS(MPI_Put(&v, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, stale), MPI_ERR_WIN);
	FAILS(MPI_Win_free(&stale), MPI_ERR_WIN);
	return done();
}
