/* A receive that nobody sends to can be cancelled; one that has matched cannot. */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int v = 0, cancelled = 0;
	MPI_Request r;
	MPI_Status s;
	OK(MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &r));
	OK(MPI_Cancel(&r));
	OK(MPI_Wait(&r, &s));
	OK(MPI_Test_cancelled(&s, &cancelled));
	CHECK(cancelled, "a receive without a message is not cancelled");

	int me = rank;
	OK(MPI_Irecv(&v, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &r));
	OK(MPI_Send(&me, 1, MPI_INT, rank, 5, MPI_COMM_WORLD));
	OK(MPI_Request_get_status(r, &cancelled, MPI_STATUS_IGNORE));
	OK(MPI_Wait(&r, &s));
	OK(MPI_Test_cancelled(&s, &cancelled));
	CHECK(!cancelled && v == rank, "cancelled %d, value %d", cancelled, v);
	return done();
}
