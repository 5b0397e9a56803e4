/* Collectives on intercommunicators: with a root on either side, and in both directions
 * at once; blocking, nonblocking and persistent. */
#include "check.h"

#define MOST 16

static int low, me, n, m; /* sizes: n of the local, m of the remote group */
static MPI_Comm c;

/* The rank in MPI_COMM_WORLD of rank r of the remote group. */
static int far(int r) { return low ? r + n : r; }

static void rooted(int here) {
	int root = here ? (me == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
	int v[MOST] = {0}, all[MOST] = {0}, one = rank, top = far(0);
	if (root == MPI_ROOT)
		v[0] = 100 + rank;
	OK(MPI_Bcast(v, 1, MPI_INT, root, c));
	CHECK(here || v[0] == 100 + top, "Bcast gives %d", v[0]);
	OK(MPI_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, root, c));
	for (int r = 0; root == MPI_ROOT && r < m; r++)
		CHECK(all[r] == far(r), "Gather gives %d of rank %d", all[r], r);
	for (int r = 0; r < m; r++)
		v[r] = 10 * rank + r;
	one = -1;
	OK(MPI_Scatter(v, 1, MPI_INT, &one, 1, MPI_INT, root, c));
	CHECK(here || one == 10 * top + me, "Scatter gives %d", one);
	int sum = -1, want = 0, mine = rank;
	for (int r = 0; r < m; r++)
		want += far(r);
	MPI_Request q;
	OK(MPI_Ireduce(&mine, &sum, 1, MPI_INT, MPI_SUM, root, c, &q));
	OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
	CHECK(sum == (root == MPI_ROOT ? want : -1), "Reduce gives %d, not %d", sum, want);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	low = rank < size / 2;
	MPI_Comm local;
	OK(MPI_Comm_split(MPI_COMM_WORLD, low, rank, &local));
	OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, low ? size / 2 : 0, 1, &c));
	OK(MPI_Comm_rank(c, &me));
	OK(MPI_Comm_size(c, &n));
	OK(MPI_Comm_remote_size(c, &m));
	rooted(low);
	rooted(!low);

	int out[MOST], in[MOST], sum, want = 0;
	MPI_Request q;
	for (int r = 0; r < m; r++)
		out[r] = 10 * rank + r, want += far(r);
	OK(MPI_Allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, c));
	for (int r = 0; r < m; r++)
		CHECK(in[r] == far(r), "Allgather gives %d of rank %d", in[r], r);
	OK(MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, c, &q));
	OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
	for (int r = 0; r < m; r++)
		CHECK(in[r] == 10 * far(r) + me, "Alltoall gives %d of rank %d", in[r], r);
	OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c));
	CHECK(sum == want, "Allreduce gives %d, not %d", sum, want);
	int operand[MOST * MOST], part[MOST], counts[MOST];
	for (int i = 0; i < n * m; i++)
		operand[i] = rank + i;
	for (int r = 0; r < n; r++)
		counts[r] = m; /* the total is n * m in both groups */
	OK(MPI_Reduce_scatter(operand, part, counts, MPI_INT, MPI_SUM, c));
	for (int i = 0; i < m; i++)
		CHECK(part[i] == want + m * (me * m + i), "Reduce_scatter gives %d at %d", part[i], i);
	OK(MPI_Reduce_scatter_block(operand, part, m, MPI_INT, MPI_SUM, c));
	for (int i = 0; i < m; i++)
		CHECK(part[i] == want + m * (me * m + i), "Reduce_scatter_block gives %d at %d", part[i], i);
	OK(MPI_Barrier(c));
	FAILS(MPI_Scan(&rank, &sum, 1, MPI_INT, MPI_SUM, c), MPI_ERR_COMM);
	FAILS(MPI_Bcast(&sum, 1, MPI_INT, m, c), MPI_ERR_ROOT);
	OK(MPI_Comm_free(&c));
	OK(MPI_Comm_free(&local));
	return done();
}
