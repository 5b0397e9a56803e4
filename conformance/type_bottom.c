/* Types with absolute addresses, from MPI_BOTTOM: scattered variables in one message (TRM-09), which
 * C reads from memory after the call without any declaration, unlike Fortran (FTN-26). An
 * address is as wide as a pointer, and MPI_BOTTOM is where addresses begin (TRM-12). */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int a = 10 * rank, b[3] = {0}, right = (rank + 1) % size, left = (rank + size - 1) % size;
	double *x = malloc(sizeof *x);
	*x = rank + 0.5;
	b[1] = rank - 1;
	MPI_Aint at[3];
	OK(MPI_Get_address(&a, &at[0]));
	CHECK(sizeof(MPI_Aint) == sizeof(void *) && at[0] == MPI_Aint_diff(at[0], 0) && (char *)MPI_BOTTOM + at[0] == (char *)&a, "the address of a");
	OK(MPI_Get_address(&b[1], &at[1]));
	OK(MPI_Get_address(x, &at[2]));
	MPI_Datatype t;
	OK(MPI_Type_create_struct(3, (int[]){1, 1, 1}, at, (MPI_Datatype[]){MPI_INT, MPI_INT, MPI_DOUBLE}, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_Sendrecv_replace(MPI_BOTTOM, 1, t, right, 0, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK(a == 10 * left && b[1] == left - 1 && b[0] == 0 && b[2] == 0 && *x == left + 0.5, "%d %d %g", a, b[1], *x);
	OK(MPI_Bcast(MPI_BOTTOM, 1, t, 0, MPI_COMM_WORLD));
	int first = size - 1; /* the sender of the message that rank 0 has received */
	CHECK(a == 10 * first && b[1] == first - 1 && *x == first + 0.5, "%d %d %g", a, b[1], *x);
	OK(MPI_Type_free(&t));
	free(x);
	return done();
}
