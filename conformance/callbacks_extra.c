/*
 * callbacks_extra: operations and error handlers with an extra_state, by which a library for another
 * language calls functions in the convention of that language. A destructor is called once for each,
 * at MPI_Finalize at the latest.
 */
#include "check.h"

struct state {
	int calls, ended;
	MPI_Count most;
	MPI_Datatype type;
	void *object;
	int code;
};

static void end(void *extra) { ((struct state *)extra)->ended++; }

/* A sum of what begins each element. */
static void sum(void *in, void *inout, MPI_Count n, MPI_Datatype type, void *extra)
{
	struct state *s = extra;
	MPI_Aint lb, extent;
	PMPI_Type_get_extent(type, &lb, &extent);
	s->calls++;
	s->type = type;
	if (n > s->most)
		s->most = n;
	for (MPI_Count i = 0; i < n; i++)
		*(int *)((char *)inout + i * extent) += *(int *)((char *)in + i * extent);
}

static void on_comm(MPI_Comm c, int code, void *extra)
{
	struct state *s = extra;
	s->calls++;
	s->object = c;
	s->code = code;
}

static void on_win(MPI_Win w, int code, void *extra)
{
	struct state *s = extra;
	s->calls++;
	s->object = w;
	s->code = code;
}

static void on_session(MPI_Session session, int code, void *extra)
{
	struct state *s = extra;
	s->calls++;
	s->object = session;
	s->code = code;
}

static void on_file(MPI_File f, int code, void *extra) { (void)f, (void)code, (void)extra; }

static struct state first, second, comms, wins, sessions, files, unused;

static void operations(void)
{
	MPI_Op a, b;
	MPI_Datatype pair;
	int v[4] = {rank, 1, 10 * rank, 2}, w[4] = {-1, -1, -1, -1}, commutes = -1;
	OK(MPIX_Op_create_x(sum, end, 1, &first, &a));
	OK(MPIX_Op_create_x(sum, end, 0, &second, &b));
	OK(MPI_Op_commutative(a, &commutes));
	CHECK(commutes == 1);
	OK(MPI_Op_commutative(b, &commutes));
	CHECK(commutes == 0);
	OK(MPI_Type_contiguous(2, MPI_INT, &pair));
	OK(MPI_Type_commit(&pair));
	OK(MPI_Reduce_local(v, w, 2, pair, a));
	CHECK(w[0] == rank - 1 && w[1] == -1 && w[2] == 10 * rank - 1 && w[3] == -1);
	CHECK(first.calls == 1 && first.most == 2 && first.type == pair && second.calls == 0);
	OK(MPI_Allreduce(v, w, 4, MPI_INT, b, MPI_COMM_WORLD));
	CHECK(w[0] == size * (size - 1) / 2 && w[1] == size && w[2] == 5 * size * (size - 1) && w[3] == 2 * size);
	MPI_Request r;
	OK(MPI_Iallreduce(MPI_IN_PLACE, v, 4, MPI_INT, a, MPI_COMM_WORLD, &r));
	OK(MPI_Op_free(&a)); /* the request still needs the function, and extra_state */
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(v[1] == size && first.ended == 0);
	OK(MPI_Op_free(&b));
	OK(MPI_Type_free(&pair));
}

static void handlers(void)
{
	MPI_Errhandler e;
	MPI_Comm c;
	MPI_Win w;
	MPI_Session s;
	int mem = 0;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
	OK(MPIX_Comm_create_errhandler_x(on_comm, end, &comms, &e));
	OK(MPI_Comm_set_errhandler(c, e));
	OK(MPI_Errhandler_free(&e));
	CHECK(MPI_Send(&mem, 1, MPI_INT, size, 0, c) == MPI_ERR_RANK);
	CHECK(comms.calls == 1 && comms.object == c && comms.code == MPI_ERR_RANK);
	OK(MPI_Comm_free(&c));

	OK(MPI_Win_create(&mem, sizeof mem, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w));
	OK(MPIX_Win_create_errhandler_x(on_win, end, &wins, &e));
	OK(MPI_Win_set_errhandler(w, e));
	OK(MPI_Errhandler_free(&e));
	CHECK(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, w) == MPI_ERR_RANK);
	CHECK(wins.calls == 1 && wins.object == w && wins.code == MPI_ERR_RANK);
	OK(MPI_Win_free(&w));

	OK(MPIX_Session_create_errhandler_x(on_session, end, &sessions, &e));
	OK(MPI_Session_init(MPI_INFO_NULL, e, &s));
	OK(MPI_Errhandler_free(&e));
	OK(MPI_Session_call_errhandler(s, MPI_ERR_OTHER));
	CHECK(sessions.calls == 1 && sessions.object == s && sessions.code == MPI_ERR_OTHER);
	OK(MPI_Session_finalize(&s));

	OK(MPIX_File_create_errhandler_x(on_file, end, &files, &e));
	OK(MPI_Errhandler_free(&e));
}

static void refused(void)
{
	MPI_Op op;
	MPI_Errhandler e;
	MPIX_Destructor_function *nowhere = (MPIX_Destructor_function *)8;
	FAILS(MPIX_Op_create_x(NULL, end, 1, &unused, &op), MPI_ERR_ARG);
	FAILS(MPIX_Op_create_x(sum, nowhere, 1, &unused, &op), MPI_ERR_ARG);
	FAILS(MPIX_Op_create_x(sum, end, 1, &unused, NULL), MPI_ERR_ARG);
	FAILS(MPIX_Comm_create_errhandler_x(NULL, end, &unused, &e), MPI_ERR_ARG);
	FAILS(MPIX_Comm_create_errhandler_x(on_comm, nowhere, &unused, &e), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	operations();
	handlers();
	refused();
	int code = done();
	struct state *all[] = {&first, &second, &comms, &wins, &sessions, &files};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i]->ended != 1)
			printf("after MPI_Finalize destructor %d has been called %d times\n", (int)i, all[i]->ended), code = 1;
	if (unused.ended != 0)
		printf("the destructor of a call that failed has been called\n"), code = 1;
	return code;
}
