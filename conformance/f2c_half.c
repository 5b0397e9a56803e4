/* A C program whose half is in Fortran, where handles are INTEGERs (LNG-03): Fortran passes
 * them to functions of C by reference, as wrappers of libraries do. */
#include "check.h"

/* Defined in Fortran: adds up the ranks of a communicator, by the functions below. */
void half_(const MPI_Fint *comm, const MPI_Fint *type, const MPI_Fint *op, MPI_Fint *sum, MPI_Fint status[]);

void c_type_commit_(MPI_Fint *type, MPI_Fint *code) {
	MPI_Datatype t = MPI_Type_f2c(*type);
	*code = MPI_Type_commit(&t);
	*type = MPI_Type_c2f(t);
}

void c_allreduce_(const MPI_Fint *in, MPI_Fint *out, const MPI_Fint *n, const MPI_Fint *type, const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *code) {
	*code = MPI_Allreduce(in, out, *n, MPI_Type_f2c(*type), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm));
}

void c_comm_rank_(const MPI_Fint *comm, MPI_Fint *me) { OK(MPI_Comm_rank(MPI_Comm_f2c(*comm), me)); }

void c_sendrecv_(MPI_Fint *v, const MPI_Fint *type, const MPI_Fint *peer, const MPI_Fint *comm, MPI_Fint *status, MPI_Fint *code) {
	MPI_Status st;
	memset(&st, 0, sizeof st);
	*code = MPI_Sendrecv_replace(v, 1, MPI_Type_f2c(*type), *peer, 5, *peer, 5, MPI_Comm_f2c(*comm), &st);
	if (status != MPI_F_STATUS_IGNORE) OK(MPI_Status_c2f(&st, status));
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Comm c;
	MPI_Datatype t;
	MPI_Fint sum = -1, type, status[MPI_F_STATUS_SIZE] = {0};
	MPI_Status st;
	int n = -1;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
	OK(MPI_Type_contiguous(1, MPI_INTEGER, &t));
	type = MPI_Type_c2f(t);
	MPI_Fint comm = MPI_Comm_c2f(c), op = MPI_Op_c2f(MPI_SUM);
	half_(&comm, &type, &op, &sum, status);
	CHECK(sum == size * (size - 1) / 2, "the sum is %d", sum);
	OK(MPI_Status_f2c(status, &st));
	OK(MPI_Get_count(&st, t, &n));
	CHECK(n == 1 && st.MPI_SOURCE == rank && st.MPI_TAG == 5, "%d from %d, tag %d", n, st.MPI_SOURCE, st.MPI_TAG);
	OK(MPI_Type_free(&t));
	OK(MPI_Comm_free(&c));
	return done();
}
