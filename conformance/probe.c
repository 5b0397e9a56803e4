/* Probe, Iprobe, Mprobe and Improbe find a message; a matched one is received once. */
#include "check.h"

static void from(int n, int tag) {
	int *v = malloc(sizeof *v * (size_t)n);
	for (int i = 0; i < n; i++) v[i] = tag + i;
	OK(MPI_Send(v, n, MPI_INT, 1, tag, MPI_COMM_WORLD));
	free(v);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	enum { n = 30000 };
	static int v[n];
	int count = 0, flag = 0;
	MPI_Status s;
	MPI_Message m = MPI_MESSAGE_NULL;
	MPI_Request r;
	if (rank == 0) {
		for (int tag = 1; tag <= 4; tag++) from(tag == 4 ? n : 10 * tag, tag);
		from(5, 8);
		from(6, 8);
	}
	if (rank == 1) {
		OK(MPI_Probe(0, 2, MPI_COMM_WORLD, &s));
		OK(MPI_Get_count(&s, MPI_INT, &count));
		CHECK(count == 20 && s.MPI_TAG == 2 && s.MPI_SOURCE == 0, "%d with tag %d from %d", count, s.MPI_TAG, s.MPI_SOURCE);
		OK(MPI_Recv(v, count, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		CHECK(v[19] == 21, "%d", v[19]);

		while (!flag) OK(MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &flag, &s));
		OK(MPI_Get_count(&s, MPI_INT, &count));
		CHECK(count == 30, "%d", count);
		OK(MPI_Mprobe(0, 3, MPI_COMM_WORLD, &m, &s));
		CHECK(m != MPI_MESSAGE_NULL, "no message");
		OK(MPI_Mrecv(v, 30, MPI_INT, &m, &s));
		CHECK(m == MPI_MESSAGE_NULL && v[29] == 32, "%d", v[29]);

		for (flag = 0; !flag;) OK(MPI_Improbe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &flag, &m, &s));
		OK(MPI_Imrecv(v, n, MPI_INT, &m, &r));
		OK(MPI_Wait(&r, &s));
		OK(MPI_Get_count(&s, MPI_INT, &count));
		CHECK(count == n && v[n - 1] == 4 + n - 1, "%d, %d", count, v[n - 1]);

		/* Only its handle can receive a matched message: MPI_Recv receives the second one. */
		OK(MPI_Mprobe(0, 8, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE));
		OK(MPI_Recv(v, 10, MPI_INT, 0, 8, MPI_COMM_WORLD, &s));
		OK(MPI_Get_count(&s, MPI_INT, &count));
		CHECK(count == 6, "the message of %d overtook", count);
		OK(MPI_Mrecv(v, 10, MPI_INT, &m, &s));
		OK(MPI_Get_count(&s, MPI_INT, &count));
		CHECK(count == 5, "%d", count);

		OK(MPI_Recv(v, 10, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &s));
		CHECK(s.MPI_TAG == 1, "%d", s.MPI_TAG);
		OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &s));
		CHECK(!flag, "a message nobody sent");
	}
	OK(MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &m, &s));
	CHECK(m == MPI_MESSAGE_NO_PROC && s.MPI_SOURCE == MPI_PROC_NULL, "source %d", s.MPI_SOURCE);
	OK(MPI_Mrecv(v, 1, MPI_INT, &m, &s));
	CHECK(m == MPI_MESSAGE_NULL, "a message is left");
	return done();
}
