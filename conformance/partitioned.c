/* Partitioned communication: other partitions on the other side, any layouts, threads that mark
 * partitions, requests that are started again, and errors (X-PRT-01). */
#include "check.h"
#include <pthread.h>

enum { THREADS = 8, PARTS = 64, RPARTS = 16, EACH = 24, TOTAL = PARTS * EACH };

static int out[TOTAL], in[TOTAL];
static MPI_Request sending;
static int turn;

static void *fill(void *first) {
	for (int i = (int)(size_t)first; i < PARTS; i += THREADS) {
		for (int k = i * EACH; k < (i + 1) * EACH; k++) out[k] = 1000 * turn + k;
		OK(MPI_Pready(i, sending));
	}
	return NULL;
}

static void threads(int from, int to) {
	pthread_t t[THREADS];
	MPI_Request receiving;
	OK(MPI_Psend_init(out, PARTS, EACH, MPI_INT, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &sending));
	OK(MPI_Precv_init(in, RPARTS, TOTAL / RPARTS, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receiving));
	for (turn = 0; turn < 20; turn++) {
		MPI_Request both[2] = { sending, receiving };
		MPI_Status s[2];
		OK(MPI_Startall(2, both));
		for (size_t n = 0; n < THREADS; n++) pthread_create(&t[n], NULL, fill, (void *)n);
		for (int i = 0, flag = 0; i < RPARTS && turn % 2; i += flag) {
			OK(MPI_Parrived(receiving, i, &flag));
			for (int k = i * TOTAL / RPARTS; flag && k < (i + 1) * TOTAL / RPARTS; k++)
				CHECK(in[k] == 1000 * turn + k, "turn %d, element %d is %d", turn, k, in[k]);
		}
		OK(MPI_Waitall(2, both, s));
		for (size_t n = 0; n < THREADS; n++) pthread_join(t[n], NULL);
		int count;
		OK(MPI_Get_count(&s[1], MPI_INT, &count));
		CHECK(count == TOTAL && s[1].MPI_SOURCE == from && s[1].MPI_TAG == 1, "count %d, source %d, tag %d", count, s[1].MPI_SOURCE, s[1].MPI_TAG);
		for (int k = 0; k < TOTAL; k++) CHECK(in[k] == 1000 * turn + k, "turn %d, element %d is %d", turn, k, in[k]);
	}
	OK(MPI_Request_free(&sending));
	OK(MPI_Request_free(&receiving));
}

/* The first round of a request may begin before the two sides have matched. */
static void first_rounds(int from, int to) {
	for (int i = 0; i < 200; i++) {
		MPI_Request r[2];
		for (int k = 0; k < TOTAL; k++) out[k] = i + k;
		OK(MPI_Psend_init(out, PARTS, EACH, MPI_INT, to, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
		OK(MPI_Precv_init(in, RPARTS, TOTAL / RPARTS, MPI_INT, from, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
		OK(MPI_Startall(2, r));
		for (int k = 0; k < PARTS; k++) OK(MPI_Pready(k, r[0]));
		OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
		for (int k = 0; k < TOTAL; k++) CHECK(in[k] == i + k, "turn %d, element %d is %d", i, k, in[k]);
		OK(MPI_Request_free(&r[0]));
		OK(MPI_Request_free(&r[1]));
	}
}

static void layouts(int from, int to) {
	int strided[3 * 12], dense[12], list[] = { 3, 0, 2, 1 };
	MPI_Datatype every, third;
	MPI_Request r[2];
	OK(MPI_Type_contiguous(1, MPI_INT, &every));
	OK(MPI_Type_create_resized(every, 0, 3 * sizeof(int), &third));
	OK(MPI_Type_commit(&third));
	OK(MPI_Psend_init(strided, 4, 3, third, to, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
	OK(MPI_Precv_init(dense, 3, 4, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
	for (int i = 0; i < 3; i++) {
		OK(MPI_Startall(2, r));
		for (int k = 0; k < 12; k++) strided[3 * k] = 100 * i + k;
		if (i == 0) OK(MPI_Pready_list(4, list, r[0]));
		else OK(MPI_Pready_range(0, 3, r[0]));
		OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
		for (int k = 0; k < 12; k++) CHECK(dense[k] == 100 * i + k, "element %d is %d", k, dense[k]);
	}
	OK(MPI_Request_free(&r[0]));
	OK(MPI_Request_free(&r[1]));
	OK(MPI_Type_free(&every));
	OK(MPI_Type_free(&third));
}

static void errors(int to) {
	int flag = 0;
	MPI_Request r, null = MPI_REQUEST_NULL;
	OK(MPI_Psend_init(out, 4, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
	FAILS(MPI_Pready(0, r), MPI_ERR_REQUEST);
	FAILS(MPI_Parrived(r, 0, &flag), MPI_ERR_REQUEST);
	FAILS(MPI_Pready(0, null), MPI_ERR_REQUEST);
	OK(MPI_Parrived(null, 0, &flag));
	CHECK(flag, "a null request has not arrived");
	OK(MPI_Start(&r));
	OK(MPI_Pready(1, r));
	FAILS(MPI_Pready(1, r), MPI_ERR_REQUEST);
	FAILS(MPI_Pready(4, r), MPI_ERR_ARG);
	FAILS(MPI_Pready_range(2, 4, r), MPI_ERR_ARG);
	FAILS(MPI_Cancel(&r), MPI_ERR_REQUEST);
	FAILS(MPI_Request_free(&r), MPI_ERR_REQUEST);
	FAILS(MPI_Psend_init(out, -1, 1, MPI_INT, to, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &null), MPI_ERR_ARG);
	FAILS(MPI_Psend_init(out, 1, -1, MPI_INT, to, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &null), MPI_ERR_COUNT);
	FAILS(MPI_Precv_init(in, 1, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &null), MPI_ERR_RANK);
	FAILS(MPI_Precv_init(in, 1, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &null), MPI_ERR_TAG);
	MPI_Request receiving;
	OK(MPI_Precv_init(in, 1, 4, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &receiving));
	OK(MPI_Start(&receiving));
	OK(MPI_Pready(0, r));
	OK(MPI_Pready_range(2, 3, r));
	OK(MPI_Wait(&receiving, MPI_STATUS_IGNORE));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	OK(MPI_Request_free(&receiving));
	OK(MPI_Request_free(&r));
}

int main(int argc, char **argv) {
	int provided;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	CHECK(provided == MPI_THREAD_MULTIPLE);
	int to = (rank + 1) % size, from = (rank + size - 1) % size;
	threads(from, to);
	first_rounds(from, to);
	layouts(from, to);
	errors(to);
	return done();
}
