/* The part of languages.F90 in C. */
#include <mpi.h>
#include <string.h>

int hints_in_c(MPI_Fint *info);
int hints_in_c(MPI_Fint *info) {
	char value[20];
	int n = sizeof value, flag = 0;
	MPI_Info c = MPI_Info_f2c(*info);
	MPI_Info_get_string(c, "of Fortran", &n, value, &flag);
	MPI_Info_set(c, "of C", "  of C");
	return !flag || n != 14 || strcmp(value, "4 words of it") != 0;
}

int reduce_in_c(MPI_Fint *op);
int reduce_in_c(MPI_Fint *op) {
	int a[2] = {5, 7}, b[2] = {6, 4};
	MPI_Op c = MPI_Op_f2c(*op);
	MPI_Reduce_local(a, b, 1, MPI_INT, c);
	MPI_Reduce_local(a + 1, b + 1, 1, MPI_INTEGER, c);
	return b[0] != 6 || b[1] != 7;
}

static void join(void *in, void *inout, int *n, MPI_Datatype *type) {
	(void)type;
	for (int i = 0; i < *n; i++)
		((int *)inout)[i] += 10 * ((int *)in)[i];
}

void op_of_c(MPI_Fint *op);
void op_of_c(MPI_Fint *op) {
	MPI_Op c;
	MPI_Op_create(join, 0, &c);
	*op = MPI_Op_c2f(c);
}

void fail_in_c(MPI_Fint *comm);
void fail_in_c(MPI_Fint *comm) { MPI_Send(comm, 1, MPI_INT, 17, 0, MPI_Comm_f2c(*comm)); }
