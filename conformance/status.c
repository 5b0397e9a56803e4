/* Counts and elements of statuses, set and got; truncation tells what came. */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Status s;
	int count = 0, flag = 0;
	MPI_Datatype two;
	OK(MPI_Type_contiguous(2, MPI_INT, &two));
	OK(MPI_Type_commit(&two));
	int v[6] = {1, 2, 3, 4, 5, 6};
	OK(MPI_Sendrecv(v, 5, MPI_INT, rank, 1, v, 3, two, rank, 1, MPI_COMM_WORLD, &s));
	OK(MPI_Get_count(&s, two, &count));
	CHECK(count == MPI_UNDEFINED, "%d pairs of 5", count);
	OK(MPI_Get_elements(&s, two, &count));
	CHECK(count == 5, "%d elements of 5", count);
	MPI_Count x = 0;
	OK(MPI_Get_elements_x(&s, two, &x));
	CHECK(x == 5, "%d elements of 5", (int)x);

	memset(&s, 0, sizeof s);
	OK(MPI_Status_set_elements(&s, two, 8));
	OK(MPI_Status_set_cancelled(&s, 0));
	OK(MPI_Get_count(&s, two, &count));
	CHECK(count == 4, "%d pairs of 8", count);
	OK(MPI_Test_cancelled(&s, &flag));
	CHECK(!flag, "cancelled");
	OK(MPI_Status_set_elements_x(&s, MPI_INT, 3));
	OK(MPI_Get_elements(&s, MPI_INT, &count));
	CHECK(count == 3, "%d", count);
	OK(MPI_Status_set_cancelled(&s, 1));
	OK(MPI_Test_cancelled(&s, &flag));
	CHECK(flag, "not cancelled");

	MPI_Request r;
	OK(MPI_Irecv(v, 2, MPI_INT, rank, 2, MPI_COMM_WORLD, &r));
	OK(MPI_Send(v, 4, MPI_INT, rank, 2, MPI_COMM_WORLD));
	FAILS(MPI_Wait(&r, &s), MPI_ERR_TRUNCATE);
	OK(MPI_Type_free(&two));
	CHECK(two == MPI_DATATYPE_NULL, "a freed type is left");
	return done();
}
