/* Memory of 0 bytes keeps its address: that of shared windows, with all layouts, in all processes, and where nobody
 * has any (X-RMA-02, X-RMA-03); the base of a window; and a buffer that is attached and detached. */
#include "check.h"

static void shared(MPI_Comm node, int me, int n, int how, int noncontig) {
	MPI_Info info;
	MPI_Win w;
	MPI_Aint sizes[16], before = 0, bytes;
	char *mine = NULL, *at, *first = NULL, *base;
	int unit, flag;
	for (int r = 0; r < n; r++) {
		sizes[r] = how == 0 ? 0 : how == 1 ? 24 * (r == n - 1) : how == 2 ? 24 * (r == 0) : how == 3 ? 24 * (r % 2) : 24;
		if (r < me) before += sizes[r];
	}
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "alloc_shared_noncontig", noncontig ? "true" : "false"));
	OK(MPI_Win_allocate_shared(sizes[me], 1, info, node, &mine, &w));
	OK(MPI_Info_free(&info));
	CHECK(mine != NULL, "no address of %ld bytes, way %d", (long)sizes[me], how);
	OK(MPI_Win_get_attr(w, MPI_WIN_BASE, &base, &flag));
	CHECK(flag && base == mine, "the base is %p, not %p, way %d", (void *)base, (void *)mine, how);
	for (int r = 0; r < n; r++) {
		at = NULL;
		OK(MPI_Win_shared_query(w, r, &bytes, &unit, &at));
		CHECK(bytes == sizes[r] && at != NULL, "rank %d has %ld bytes at %p, way %d", r, (long)bytes, (void *)at, how);
		CHECK(r != me || at == mine, "rank %d is at %p, not at %p, way %d", r, (void *)at, (void *)mine, how);
		if (r == 0) first = at;
	}
	CHECK(noncontig || mine == first + before, "%p, not %ld bytes behind %p, way %d", (void *)mine, (long)before, (void *)first, how);
	OK(MPI_Win_shared_query(w, MPI_PROC_NULL, &bytes, &unit, &at));
	int with = 0;
	while (with < n - 1 && sizes[with] == 0) with++;
	if (how == 0) with = 0;
	OK(MPI_Win_shared_query(w, with, &bytes, &unit, &first));
	CHECK(at == first, "of no rank it is at %p, that of rank %d at %p, way %d", (void *)at, with, (void *)first, how);
	OK(MPI_Win_free(&w));
}

int main(int argc, char **argv) {
	char buffer[8];
	void *at;
	int bytes, flag, me, n;
	MPI_Win w;
	MPI_Comm node;
	begin(&argc, &argv);
	OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
	MPI_Comm_rank(node, &me);
	MPI_Comm_size(node, &n);
	for (int how = 0; how < 5; how++)
		for (int noncontig = 0; noncontig < 2; noncontig++) shared(node, me, n, how, noncontig);
	OK(MPI_Comm_free(&node));

	OK(MPI_Win_create(buffer + 3, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w));
	OK(MPI_Win_get_attr(w, MPI_WIN_BASE, &at, &flag));
	CHECK(flag && at == buffer + 3, "the base is %p, not %p", at, (void *)(buffer + 3));
	OK(MPI_Win_free(&w));
	OK(MPI_Win_allocate(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &at, &w));
	CHECK(at != NULL, "a window has no address");
	OK(MPI_Win_free(&w));
	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w));
	OK(MPI_Win_get_attr(w, MPI_WIN_BASE, &at, &flag));
	CHECK(flag && at == MPI_BOTTOM, "the base of a dynamic window is %p", at);
	OK(MPI_Win_free(&w));

	OK(MPI_Alloc_mem(0, MPI_INFO_NULL, &at));
	OK(MPI_Free_mem(at));

	OK(MPI_Buffer_attach(buffer + 5, 0));
	OK(MPI_Buffer_detach(&at, &bytes));
	CHECK(at == buffer + 5 && bytes == 0, "%d bytes at %p, not 0 at %p", bytes, at, (void *)(buffer + 5));
	OK(MPI_Comm_attach_buffer(MPI_COMM_WORLD, buffer + 5, 0));
	OK(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &at, &bytes));
	CHECK(at == buffer + 5 && bytes == 0, "%d bytes at %p, not 0 at %p", bytes, at, (void *)(buffer + 5));
	return done();
}
