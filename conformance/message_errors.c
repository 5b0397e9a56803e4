/* message_errors prints what short sends and receives return that are not as simple as they look, on two
 * ranks. Each receive is given time to find its message at once. */
#include "check.h"

#include <stdint.h>

static MPI_Comm comm;

/* Some messages in turns: the rings are open, and calls do not sleep between them. */
static void warm(void) {
	int v = 0;
	for (int i = 0; i < 100; i++)
		if (rank == 0) {
			MPI_Send(&v, 1, MPI_INT, 1, 1, comm);
			MPI_Recv(&v, 1, MPI_INT, 1, 1, comm, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(&v, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
			MPI_Send(&v, 1, MPI_INT, 0, 1, comm);
		}
}

static void tell(const char *what, int code, const MPI_Status *s) {
	int count = -9;
	if (rank != 0)
		return;
	printf("%s: class %d", what, class_of(code));
	if (s != NULL) {
		MPI_Get_count(s, MPI_BYTE, &count);
		printf(", source %d, tag %d, %d bytes, error %d", s->MPI_SOURCE, s->MPI_TAG, count, s->MPI_ERROR);
	}
	putchar('\n');
}

static void sends(const char *where, MPI_Comm c) {
	int64_t v = 3;
	char line[100];
	struct {
		const char *what;
		const void *buf;
		int count;
		MPI_Datatype type;
		int dest, tag;
	} cases[] = {
		{"rank too high", &v, 1, MPI_INT64_T, 2, 1}, {"rank -7", &v, 1, MPI_INT64_T, -7, 1}, {"nobody", &v, 1, MPI_INT64_T, MPI_PROC_NULL, 1},
		{"any source", &v, 1, MPI_INT64_T, MPI_ANY_SOURCE, 1}, {"tag -1", &v, 1, MPI_INT64_T, 1, -1}, {"any tag", &v, 1, MPI_INT64_T, 1, MPI_ANY_TAG},
		{"count -1", &v, -1, MPI_INT64_T, 1, 1}, {"no memory", NULL, 1, MPI_INT64_T, 1, 1}, {"no type", &v, 1, MPI_DATATYPE_NULL, 1, 1},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(line, sizeof line, "%s: send: %s", where, cases[i].what);
		if (rank == 0)
			tell(line, MPI_Send(cases[i].buf, cases[i].count, cases[i].type, cases[i].dest, cases[i].tag, c), NULL);
	}
}

static void receive(const char *what, const void *sent, int sends, MPI_Datatype of, int tag, int room, MPI_Datatype as, int source, int from_tag) {
	char in[64] = {0};
	MPI_Status s = {.MPI_ERROR = 77};
	warm();
	if (rank == 1)
		MPI_Send(sent, sends, of, 0, tag, comm);
	else
		tell(what, MPI_Recv(in, room, as, source, from_tag, comm, &s), &s);
	warm();
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int64_t v[4] = {1, 2, 3, 4};
	MPI_Comm freed, other;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	warm();
	sends("as usual", comm);
	receive("all", v, 2, MPI_INT64_T, 5, 2, MPI_INT64_T, 1, 5);
	receive("less than there is room for", v, 1, MPI_INT64_T, 5, 3, MPI_INT64_T, 1, 5);
	receive("nothing", NULL, 0, MPI_INT, 5, 0, MPI_INT, 1, 5);
	receive("nothing into memory", NULL, 0, MPI_INT, 5, 1, MPI_INT, 1, 5);
	receive("too long", v, 3, MPI_INT64_T, 5, 2, MPI_INT64_T, 1, 5);
	receive("any tag", v, 1, MPI_INT64_T, 6, 1, MPI_INT64_T, 1, MPI_ANY_TAG);
	receive("any source", v, 1, MPI_INT64_T, 6, 1, MPI_INT64_T, MPI_ANY_SOURCE, 6);
	receive("the highest tag", v, 1, MPI_INT64_T, INT32_MAX, 1, MPI_INT64_T, 1, INT32_MAX);
	receive("as bytes", v, 2, MPI_INT64_T, 5, 16, MPI_BYTE, 1, 5);

	if (rank == 0) { /* to oneself */
		MPI_Request r;
		int64_t got = 0;
		MPI_Status s = {.MPI_ERROR = 77};
		MPI_Irecv(&got, 1, MPI_INT64_T, 0, 4, comm, &r);
		tell("to oneself", MPI_Send(&v[2], 1, MPI_INT64_T, 0, 4, comm), NULL);
		MPI_Wait(&r, &s);
		tell("from oneself", MPI_SUCCESS, &s);
		CHECK(got == 3);
		tell("receive from nobody", MPI_Recv(&got, 1, MPI_INT64_T, MPI_PROC_NULL, 4, comm, &s), &s);
		tell("receive from rank 2", MPI_Recv(&got, 1, MPI_INT64_T, 2, 4, comm, MPI_STATUS_IGNORE), NULL);
		tell("receive with tag -4", MPI_Recv(&got, 1, MPI_INT64_T, 1, -4, comm, MPI_STATUS_IGNORE), NULL);
		tell("receive without memory", MPI_Recv(NULL, 1, MPI_INT64_T, 1, 4, comm, MPI_STATUS_IGNORE), NULL);
	}
	freed = comm;
	MPI_Comm_free(&comm);
	MPI_Comm_dup(MPI_COMM_WORLD, &other); /* in the place of what was freed */
	comm = other;
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	if (rank == 0) {
		tell("on a freed communicator", MPI_Send(v, 1, MPI_INT64_T, 1, 4, freed), NULL);
		tell("from a freed communicator", MPI_Recv(v, 1, MPI_INT64_T, 1, 4, freed, MPI_STATUS_IGNORE), NULL);
		tell("on no communicator", MPI_Send(v, 1, MPI_INT64_T, 1, 4, MPI_COMM_NULL), NULL);
		tell("on a window", MPI_Send(v, 1, MPI_INT64_T, 1, 4, (MPI_Comm)(uintptr_t)0x12345), NULL);
	}
	warm();
	MPI_Comm_free(&comm);
	return done();
}
