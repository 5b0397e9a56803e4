/*
 * coll_errors: wrong arguments of collectives give the class of the standard (MPI-5, 9.4),
 * on a communicator whose errors return; arguments that are significant at the root only are
 * ignored at other members.
 */
#include "check.h"

int main(int argc, char **argv)
{
	int n, me;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	int *all = calloc(2 * n, sizeof(int)), one = me, two[2] = {me, me};
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	const MPI_Comm c = MPI_COMM_SELF; /* no other member can wait for a call that fails */

	FAILS(MPI_Bcast(&one, 1, MPI_INT, 1, c), MPI_ERR_ROOT);
	FAILS(MPI_Bcast(&one, 1, MPI_INT, -1, c), MPI_ERR_ROOT);
	FAILS(MPI_Bcast(&one, -1, MPI_INT, 0, c), MPI_ERR_COUNT);
	FAILS(MPI_Bcast(&one, 1, MPI_DATATYPE_NULL, 0, c), MPI_ERR_TYPE);
	FAILS(MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_NULL), MPI_ERR_COMM);
	FAILS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
	FAILS(MPI_Allreduce(&one, all, 1, MPI_INT, MPI_OP_NULL, c), MPI_ERR_OP);
	FAILS(MPI_Allreduce(&one, all, 1, MPI_FLOAT, MPI_BAND, c), MPI_ERR_OP);
	FAILS(MPI_Reduce(&one, all, -1, MPI_INT, MPI_SUM, 0, c), MPI_ERR_COUNT);
	FAILS(MPI_Gather(&one, 1, MPI_INT, NULL, 1, MPI_INT, 0, c), MPI_ERR_BUFFER);
	FAILS(MPI_Allgather(&one, 1, MPI_INT, all, -1, MPI_INT, c), MPI_ERR_COUNT);
	/* One buffer for both sides, without MPI_IN_PLACE. */
	FAILS(MPI_Allreduce(&one, &one, 1, MPI_INT, MPI_SUM, c), MPI_ERR_BUFFER);
	FAILS(MPI_Scan(&one, &one, 1, MPI_INT, MPI_SUM, c), MPI_ERR_BUFFER);
	FAILS(MPI_Alltoall(all, 1, MPI_INT, all, 1, MPI_INT, c), MPI_ERR_BUFFER);
	FAILS(MPI_Gather(all, 1, MPI_INT, all, 1, MPI_INT, 0, c), MPI_ERR_BUFFER);
	const int ones[1] = {1}, zero[1] = {0};
	const MPI_Datatype ints[1] = {MPI_INT};
	MPI_Request request;
	FAILS(MPI_Alltoallv(all, ones, zero, MPI_INT, all, ones, zero, MPI_INT, c), MPI_ERR_BUFFER);
	FAILS(MPI_Alltoallw(all, ones, zero, ints, all, ones, zero, ints, c), MPI_ERR_BUFFER);
	FAILS(MPI_Ialltoallw(all, ones, zero, ints, all, ones, zero, ints, c, &request), MPI_ERR_BUFFER);
	/* No data are moved, so that any address is valid. */
	FAILS(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, c), MPI_SUCCESS);
	FAILS(MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, c), MPI_SUCCESS);
	FAILS(MPI_Alltoall(all, 0, MPI_INT, all, 0, MPI_INT, c), MPI_SUCCESS);

	/* Members other than the root may pass any value. */
	int *nowhere = (int *)8;
	MPI_Datatype no = MPI_DATATYPE_NULL;
	int root = 0;
	if (me == root) {
		FAILS(MPI_Gather(&one, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD), MPI_SUCCESS);
		FAILS(MPI_Scatter(all, 1, MPI_INT, &one, 1, MPI_INT, root, MPI_COMM_WORLD), MPI_SUCCESS);
		FAILS(MPI_Reduce(&one, all, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD), MPI_SUCCESS);
	} else {
		FAILS(MPI_Gather(&one, 1, MPI_INT, nowhere, -5, no, root, MPI_COMM_WORLD), MPI_SUCCESS);
		FAILS(MPI_Scatter(nowhere, -5, no, &one, 1, MPI_INT, root, MPI_COMM_WORLD), MPI_SUCCESS);
		FAILS(MPI_Reduce(&one, nowhere, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD), MPI_SUCCESS);
	}
	CHECK(one == me);

	/* Sizes that do not match: at least one member gets an error. */
	if (n > 1) {
		int code = MPI_Bcast(two, me == 0 ? 2 : 1, MPI_INT, 0, MPI_COMM_WORLD), failed = code != MPI_SUCCESS, any;
		MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_SELF);
		CHECK(me != 0 ? failed : 1);
	}
	free(all);
	return done();
}
