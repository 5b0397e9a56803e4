/* The half in C of exchange.F90: each function is called from Fortran with integers for handles. */
#include <mpi.h>
#include <string.h>

#define FROM_FORTRAN(name, ...) void name(__VA_ARGS__); void name(__VA_ARGS__)

FROM_FORTRAN(c_comm_, MPI_Fint *comm, MPI_Fint *made, MPI_Fint *ok)
{
	MPI_Comm c = MPI_Comm_f2c(*comm), m;
	int rank, size, relation;
	MPI_Comm_rank(c, &rank);
	MPI_Comm_size(c, &size);
	MPI_Comm_compare(c, MPI_COMM_WORLD, &relation);
	*ok = relation == MPI_CONGRUENT && MPI_Comm_c2f(c) == *comm;
	MPI_Comm_set_name(c, "named in C");
	MPI_Comm_split(c, 0, -rank, &m);
	*made = MPI_Comm_c2f(m);
}

FROM_FORTRAN(c_group_, MPI_Fint *group, MPI_Fint *ok)
{
	MPI_Group g = MPI_Group_f2c(*group), last;
	int size, world;
	MPI_Group_size(g, &size);
	MPI_Comm_size(MPI_COMM_WORLD, &world);
	*ok = size == world;
	MPI_Group_incl(g, 1, (int[]){size - 1}, &last);
	MPI_Group_free(&g);
	*group = MPI_Group_c2f(last);
}

FROM_FORTRAN(c_type_, MPI_Fint *datatype)
{
	MPI_Datatype d;
	MPI_Type_vector(3, 1, 2, MPI_INTEGER, &d);
	MPI_Type_commit(&d);
	*datatype = MPI_Type_c2f(d);
}

FROM_FORTRAN(c_reduce_, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *ok)
{
	MPI_Comm c = MPI_Comm_f2c(*comm);
	MPI_Op o = MPI_Op_f2c(*op);
	int rank, size, mine, integers = 0, ints = 0;
	MPI_Comm_rank(c, &rank);
	MPI_Comm_size(c, &size);
	mine = rank % 2 ? rank + 1 : -(rank + 1);
	MPI_Allreduce(&mine, &integers, 1, MPI_INTEGER, o, c);
	MPI_Allreduce(&mine, &ints, 1, MPI_INT, o, c);
	*ok = integers == (size % 2 ? -size : size) && ints == integers;
}

static void sum(void *in, void *inout, int *n, MPI_Datatype *type)
{
	if (*type == MPI_INTEGER) /* as Fortran has passed it */
		for (int i = 0; i < *n; i++)
			((MPI_Fint *)inout)[i] += ((MPI_Fint *)in)[i];
}

FROM_FORTRAN(c_op_, MPI_Fint *op)
{
	MPI_Op o;
	MPI_Op_create(sum, 1, &o);
	*op = MPI_Op_c2f(o);
}

FROM_FORTRAN(c_wait_, MPI_Fint *request, MPI_Fint *ok)
{
	MPI_Request r = MPI_Request_f2c(*request);
	MPI_Status s;
	int n;
	MPI_Wait(&r, &s);
	MPI_Get_count(&s, MPI_INTEGER, &n);
	*ok = s.MPI_TAG == 2 && n == 1;
	*request = MPI_Request_c2f(r);
}

FROM_FORTRAN(c_start_, MPI_Fint *buffer, MPI_Fint *comm, MPI_Fint *request)
{
	MPI_Request r;
	MPI_Irecv(buffer, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_Comm_f2c(*comm), &r);
	*request = MPI_Request_c2f(r);
}

FROM_FORTRAN(c_probe_, MPI_Fint *comm, MPI_Fint *message)
{
	MPI_Message m;
	MPI_Mprobe(MPI_ANY_SOURCE, 4, MPI_Comm_f2c(*comm), &m, MPI_STATUS_IGNORE);
	*message = MPI_Message_c2f(m);
}

FROM_FORTRAN(c_put_, MPI_Fint *win, MPI_Fint *comm)
{
	static MPI_Fint rank; /* until the fence */
	int me, size;
	MPI_Comm_rank(MPI_Comm_f2c(*comm), &me);
	MPI_Comm_size(MPI_Comm_f2c(*comm), &size);
	rank = me;
	MPI_Put(&rank, 1, MPI_INTEGER, (me + 1) % size, 1, 1, MPI_INTEGER, MPI_Win_f2c(*win));
}

FROM_FORTRAN(c_info_, MPI_Fint *info, MPI_Fint *ok)
{
	MPI_Info i = MPI_Info_f2c(*info);
	char value[20] = "";
	int flag, room = sizeof value;
	MPI_Info_get_string(i, "of fortran", &room, value, &flag);
	*ok = flag && strcmp(value, "a value") == 0;
	MPI_Info_set(i, "of c", "another value");
}

FROM_FORTRAN(c_fails_, MPI_Fint *comm, MPI_Fint *errhandler, MPI_Fint *code)
{
	MPI_Comm c = MPI_Comm_f2c(*comm);
	int size;
	MPI_Comm_size(c, &size);
	MPI_Comm_set_errhandler(c, MPI_Errhandler_f2c(*errhandler));
	*code = MPI_Send(code, 1, MPI_INTEGER, size, 0, c);
}

static int calls;

static void handler(MPI_Comm *comm, int *code, ...)
{
	if (*comm != MPI_COMM_NULL && *code == MPI_ERR_RANK)
		calls++;
}

FROM_FORTRAN(c_handler_, MPI_Fint *errhandler, MPI_Fint *called)
{
	MPI_Errhandler e;
	MPI_Comm_create_errhandler(handler, &e);
	*errhandler = MPI_Errhandler_c2f(e);
	*called = calls;
}

FROM_FORTRAN(c_session_, MPI_Fint *session, MPI_Fint *ok)
{
	MPI_Session s = MPI_Session_f2c(*session);
	int n = 0;
	MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n);
	*ok = n >= 2 && MPI_Session_finalize(&s) == MPI_SUCCESS;
	*session = MPI_Session_c2f(s);
}
