#include <mpi.h>
#include <stdlib.h>

void c_set_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Aint *address);
MPI_Fint c_reads_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Aint *number);
MPI_Fint c_reads_int_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *number);
void c_keyval_(MPI_Fint *keyval);
MPI_Fint c_has_copied_(MPI_Aint *number);
void c_dup_and_free_(MPI_Fint *comm);

static MPI_Aint copied;

void c_set_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Aint *address)
{
	static int value = 5;
	MPI_Comm_set_attr(MPI_Comm_f2c(*comm), *keyval, &value);
	*address = (MPI_Aint)&value;
}

MPI_Fint c_reads_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Aint *number)
{
	MPI_Aint *value;
	int flag;
	MPI_Comm_get_attr(MPI_Comm_f2c(*comm), *keyval, &value, &flag);
	return flag && *value == *number;
}

MPI_Fint c_reads_int_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *number)
{
	int *value, flag;
	MPI_Comm_get_attr(MPI_Comm_f2c(*comm), *keyval, &value, &flag);
	return flag && *value == *number;
}

static int copy_fn(MPI_Comm comm, int keyval, void *extra_state, void *in, void *out, int *flag)
{
	if (comm == MPI_COMM_NULL || keyval == MPI_KEYVAL_INVALID || extra_state != &copied)
		abort();
	copied = *(MPI_Aint *)in;
	*(void **)out = in;
	*flag = 1;
	return MPI_SUCCESS;
}

void c_keyval_(MPI_Fint *keyval)
{
	int key;
	MPI_Comm_create_keyval(copy_fn, MPI_COMM_NULL_DELETE_FN, &key, &copied);
	*keyval = key;
}

MPI_Fint c_has_copied_(MPI_Aint *number) { return copied == *number; }

void c_dup_and_free_(MPI_Fint *comm)
{
	MPI_Comm dup;
	MPI_Comm_dup(MPI_Comm_f2c(*comm), &dup);
	MPI_Comm_free(&dup);
}
