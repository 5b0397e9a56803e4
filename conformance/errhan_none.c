/*
 * errhan_none: the error handler that is called (MPI-5, 9.3). An error of a call with a communicator
 * is raised on it, whichever argument is wrong. Errors without an object are raised on
 * MPI_COMM_SELF, and if no handler was set there, on MPI_COMM_WORLD, as before MPI-4.
 */
#include "check.h"

static MPI_Comm heard;
static int calls;

static void hear(MPI_Comm *c, int *code, ...)
{
	(void)code;
	heard = *c;
	calls++;
}

int main(int argc, char **argv)
{
	MPI_Comm c;
	MPI_Group g;
	MPI_Errhandler h;
	int x;
	char name[MPI_MAX_PORT_NAME];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_group(MPI_COMM_WORLD, &g);
	MPI_Comm_create_errhandler(hear, &h);

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
	FAILS(MPI_Group_size(MPI_GROUP_NULL, &x), MPI_ERR_GROUP);
	CHECK(calls == 1 && heard == MPI_COMM_WORLD);
	FAILS(MPI_Type_commit(NULL), MPI_ERR_ARG);
	CHECK(calls == 2 && heard == MPI_COMM_WORLD);
	FAILS(MPI_Lookup_name("halo: no such service", MPI_INFO_NULL, name), MPI_ERR_NAME);
	CHECK(calls == 3 && heard == MPI_COMM_WORLD);
	FAILS(MPI_Unpublish_name("halo: no such service", MPI_INFO_NULL, "none"), MPI_ERR_SERVICE);
	CHECK(calls == 4 && heard == MPI_COMM_WORLD);
	calls = 2;

	MPI_Comm_dup(MPI_COMM_WORLD, &c);
	FAILS(MPI_Comm_size(c, NULL), MPI_ERR_ARG);
	CHECK(calls == 3 && heard == c);
	FAILS(MPI_Comm_split(c, 0, 0, NULL), MPI_ERR_ARG);
	CHECK(calls == 4 && heard == c);
	FAILS(MPI_Isend(&x, 1, MPI_INT, MPI_PROC_NULL, 0, c, NULL), MPI_ERR_ARG);
	CHECK(calls == 5 && heard == c);
	MPI_Comm_free(&c);

	MPI_Comm_set_errhandler(MPI_COMM_SELF, h);
	FAILS(MPI_Group_rank(g, NULL), MPI_ERR_ARG);
	CHECK(calls == 6 && heard == MPI_COMM_SELF);
	FAILS(MPI_Comm_rank(MPI_COMM_NULL, &x), MPI_ERR_COMM);
	CHECK(calls == 7 && heard == MPI_COMM_SELF);
	FAILS(MPI_Comm_size(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
	CHECK(calls == 8 && heard == MPI_COMM_WORLD);
	MPI_Errhandler_free(&h);
	MPI_Group_free(&g);
	return done();
}
