/* Sends of every mode, blocking, nonblocking and persistent, short and long. */
#include "check.h"

enum { lengths = 5 };
static const int length[lengths] = {0, 1, 1000, 20000, 400000};

static int *values(int n, int seed) {
	int *v = malloc(sizeof *v * (size_t)(n + 1));
	for (int i = 0; i < n; i++) v[i] = seed + 7 * i;
	return v;
}

static void sender(int mode, int form, int n, int tag) {
	int *v = values(n, tag);
	MPI_Request r = MPI_REQUEST_NULL;
	__typeof__(MPI_Send) *const send[4] = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
	__typeof__(MPI_Isend) *const isend[4] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
	__typeof__(MPI_Send_init) *const init[4] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init, MPI_Rsend_init};
	MPI_Recv(NULL, 0, MPI_INT, 1, 999, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* a receive is posted */
	switch (form) {
	case 0: OK(send[mode](v, n, MPI_INT, 1, tag, MPI_COMM_WORLD)); break;
	case 1:
		OK(isend[mode](v, n, MPI_INT, 1, tag, MPI_COMM_WORLD, &r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		CHECK(r == MPI_REQUEST_NULL, "the request is still there");
		break;
	case 2:
		OK(init[mode](v, n, MPI_INT, 1, tag, MPI_COMM_WORLD, &r));
		OK(MPI_Start(&r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		CHECK(r != MPI_REQUEST_NULL, "a persistent request is gone");
		OK(MPI_Request_free(&r));
		CHECK(r == MPI_REQUEST_NULL, "a freed request is still there");
	}
	free(v);
}

static void receiver(int n, int tag) {
	int *v = calloc((size_t)n + 1, sizeof *v), *want = values(n, tag), count = -1;
	MPI_Request r;
	MPI_Status s;
	OK(MPI_Irecv(v, n + 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &r));
	MPI_Send(NULL, 0, MPI_INT, 0, 999, MPI_COMM_WORLD);
	OK(MPI_Wait(&r, &s));
	OK(MPI_Get_count(&s, MPI_INT, &count));
	CHECK(s.MPI_SOURCE == 0 && s.MPI_TAG == tag && count == n, "source %d tag %d count %d, not 0, %d, %d", s.MPI_SOURCE, s.MPI_TAG, count, tag, n);
	CHECK(memcmp(v, want, sizeof *v * (size_t)n) == 0, "the values of tag %d are wrong", tag);
	free(v);
	free(want);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int room = 400000 * (int)sizeof(int) + MPI_BSEND_OVERHEAD + 1000, got = 0;
	void *memory = malloc((size_t)room), *back = NULL;
	OK(MPI_Buffer_attach(memory, room));
	for (int mode = 0; mode < 4; mode++)
		for (int form = 0; form < 3; form++)
			for (int i = 0; i < lengths; i++) {
				int tag = mode * 100 + form * 10 + i;
				if (rank == 0) sender(mode, form, length[i], tag);
				if (rank == 1) receiver(length[i], tag);
				if (rank == 0 && mode == 2) { /* wait until the buffer is empty again */
					OK(MPI_Buffer_detach(&back, &got));
					OK(MPI_Buffer_attach(memory, room));
				}
			}
	OK(MPI_Buffer_detach(&back, &got));
	CHECK(back == memory && got == room, "another buffer is detached than was attached");
	free(memory);
	return done();
}
