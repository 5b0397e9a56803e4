/* Windows of each flavor: creation and attributes, shared memory as other ranks see it,
 * addresses in dynamic windows, names, hints and groups (RW-02, RW-03, RW-04, RW-07,
 * X-RMA-01..03, X-RMA-10, X-RMA-12, X-RMA-14, X-RMA-15, X-RMA-20). */
#include "check.h"
#include <stdint.h>

static void shared(void) {
	MPI_Win win;
	MPI_Aint bytes;
	int unit, *mine, *theirs;
	int n = rank + 1;
	int code = MPI_Win_allocate_shared(n * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
	if (code != MPI_SUCCESS) { /* on all ranks: they cannot share memory */
		FAILS(code, MPI_ERR_RMA_SHARED);
		return;
	}
	OK(MPI_Win_lock_all(0, win));
	for (int i = 0; i < n; i++) mine[i] = 100 * rank + i;
	OK(MPI_Win_sync(win));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_sync(win));
	int *next = NULL;
	for (int r = 0; r < size; r++) {
		OK(MPI_Win_shared_query(win, r, &bytes, &unit, &theirs));
		CHECK(bytes == (r + 1) * (MPI_Aint)sizeof(int) && unit == sizeof(int), "of %d: %d bytes, unit %d", r, (int)bytes, unit);
		CHECK(next == NULL || next == theirs, "of %d: not behind the one before", r);
		for (int i = 0; i <= r; i++) CHECK(theirs[i] == 100 * r + i, "of %d: %d", r, theirs[i]);
		next = theirs + r + 1;
	}
	OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &theirs));
	CHECK(bytes == sizeof(int) && theirs[0] == 0, ": %d bytes", (int)bytes);
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Win_free(&win));

	MPI_Info info;
	MPI_Info_create(&info);
	MPI_Info_set(info, "alloc_shared_noncontig", "true");
	OK(MPI_Win_allocate_shared(rank == 1 ? 0 : 8, 1, info, MPI_COMM_WORLD, &mine, &win));
	MPI_Info_free(&info);
	OK(MPI_Win_shared_query(win, 0, &bytes, &unit, &theirs));
	CHECK(bytes == 8 && unit == 1, ": %d, %d", (int)bytes, unit);
	OK(MPI_Win_free(&win));
}

static void dynamic(void) {
	MPI_Win win;
	static int64_t first[8], second[8];
	int64_t *third = malloc(64), v = 5 + rank, got = 0;
	for (int i = 0; i < 8; i++) first[i] = second[i] = third[i] = 0;
	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	OK(MPI_Win_attach(win, first, sizeof first));
	OK(MPI_Win_attach(win, second, sizeof second));
	OK(MPI_Win_attach(win, third, 64));
	MPI_Aint mine[3], of[3];
	OK(MPI_Get_address(first, &mine[0]));
	OK(MPI_Get_address(second, &mine[1]));
	OK(MPI_Get_address(third, &mine[2]));
	int to = (rank + 1) % size, from = (rank + size - 1) % size;
	OK(MPI_Sendrecv(mine, 3, MPI_AINT, from, 0, of, 3, MPI_AINT, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	OK(MPI_Win_lock_all(0, win));
	for (int k = 0; k < 3; k++) {
		OK(MPI_Put(&v, 1, MPI_INT64_T, to, MPI_Aint_add(of[k], 16), 1, MPI_INT64_T, win));
		OK(MPI_Win_flush(to, win));
		OK(MPI_Fetch_and_op(&v, &got, MPI_INT64_T, to, MPI_Aint_add(of[k], 16), MPI_SUM, win));
		OK(MPI_Win_flush(to, win));
		CHECK(got == v, "region %d: %d", k, (int)got);
	}
	/* the origin buffer by an absolute address, too */
	MPI_Aint at;
	MPI_Datatype absolute;
	int block = 1;
	MPI_Datatype basic = MPI_INT64_T;
	OK(MPI_Get_address(&v, &at));
	OK(MPI_Type_create_struct(1, &block, &at, &basic, &absolute));
	OK(MPI_Type_commit(&absolute));
	OK(MPI_Put(MPI_BOTTOM, 1, absolute, to, MPI_Aint_add(of[0], 24), 1, MPI_INT64_T, win));
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Type_free(&absolute));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	int64_t *all[] = {first, second, third};
	for (int k = 0; k < 3; k++) CHECK(all[k][2] == 2 * (5 + from), "region %d: %d", k, (int)all[k][2]);
	CHECK(first[3] == 5 + from, ": %d", (int)first[3]);
	CHECK(MPI_Aint_diff(mine[1], mine[0]) == (char *)second - (char *)first);
	OK(MPI_Win_detach(win, second));
	OK(MPI_Win_detach(win, first));
	OK(MPI_Win_attach(win, first, 32));
	OK(MPI_Win_detach(win, first));
	OK(MPI_Win_detach(win, third));
	free(third);
	OK(MPI_Win_free(&win));
}

static void told(void) {
	MPI_Win win;
	MPI_Info info, used;
	MPI_Group world, group;
	char text[MPI_MAX_INFO_VAL + 1], name[MPI_MAX_OBJECT_NAME];
	int64_t *base;
	int n, flag, result;
	MPI_Info_create(&info);
	MPI_Info_set(info, "no_locks", "true");
	MPI_Info_set(info, "nobody knows this", "true");
	OK(MPI_Win_allocate(64, 8, info, MPI_COMM_WORLD, &base, &win));
	MPI_Info_free(&info);
	CHECK(base != NULL && (uintptr_t)base % 8 == 0);
	base[7] = 1;
	OK(MPI_Win_get_name(win, name, &n));
	CHECK(n == (int)strlen(name));
	OK(MPI_Win_set_name(win, "the window"));
	OK(MPI_Win_get_name(win, name, &n));
	CHECK(n == 10 && strcmp(name, "the window") == 0, ": %d, %s", n, name);
#if MPI_VERSION >= 5
	OK(MPI_Win_get_name(MPI_WIN_NULL, name, &n));
	CHECK(n == 12 && strcmp(name, "MPI_WIN_NULL") == 0, ": %d, %s", n, name);
#endif
	OK(MPI_Win_get_info(win, &used));
	OK(MPI_Info_get(used, "no_locks", MPI_MAX_INFO_VAL, text, &flag));
	CHECK(flag && strcmp(text, "true") == 0);
	MPI_Info_free(&used);
	OK(MPI_Win_get_group(win, &group));
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	OK(MPI_Group_compare(group, world, &result));
	CHECK(result == MPI_IDENT, ": %d", result);
	MPI_Group_free(&group);
	MPI_Group_free(&world);
	OK(MPI_Win_free(&win));
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	told();
	dynamic();
	shared();
	return done();
}
