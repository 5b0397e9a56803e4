/*
 * watched: a program for valgrind, without errors and with functions that Halo calls, or with errors that
 * arguments name: memory that is never freed, a read beyond a block, a value that was never set, a send and a receive beyond a
 * block. With "godebug" it prints GODEBUG as the Go runtime has it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { n = 500 };

static int has(int argc, char **argv, const char *what) {
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], what)) return 1;
	return 0;
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
	int step = 1, *from = in, *to = inout;
	if (*type != MPI_INT) step = 2;
	for (int i = 0; i < *count; i++) to[step * i] += from[step * i];
}

static int queried(void *state, MPI_Status *s) {
	(void)state;
	MPI_Status_set_cancelled(s, 0);
	s->MPI_SOURCE = 3;
	s->MPI_TAG = 4;
	return MPI_Status_set_elements(s, MPI_INT, 5);
}

static int freed(void *state) { return state == NULL ? MPI_SUCCESS : MPI_ERR_OTHER; }
static int cancelled(void *state, int complete) { return complete ? freed(state) : MPI_ERR_OTHER; }

static int extent(MPI_Datatype type, MPI_Aint *bytes, void *state) {
	(void)type, (void)state;
	*bytes = sizeof(int);
	return MPI_SUCCESS;
}
static int reads(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *state) {
	(void)type, (void)state;
	for (int i = 0; i < count; i++) ((int *)user)[position + i] = ~((int *)file)[i];
	return MPI_SUCCESS;
}
static int writes(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *state) {
	(void)type, (void)state;
	for (int i = 0; i < count; i++) ((int *)file)[i] = ~((int *)user)[position + i];
	return MPI_SUCCESS;
}

/* Functions of the program get memory that valgrind knows, and what they store there arrives. */
static int callbacks(int rank, int size) {
	MPI_Op op;
	MPI_Datatype spaced;
	MPI_Request r;
	MPI_Status s;
	MPI_File f;
	int all = size * (size + 1) / 2;
	MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spaced);
	MPI_Type_commit(&spaced);
	for (int commutes = 0; commutes < 2; commutes++) {
		MPI_Op_create(add, commutes, &op);
		for (int k = 1; k <= 100000; k *= 10)
			for (int step = 1; step <= 2; step++) {
				int *x = malloc((size_t)k * step * size * sizeof *x), *y = malloc((size_t)k * step * size * sizeof *y), bad = 0;
				MPI_Datatype t = step == 1 ? MPI_INT : spaced;
				int counts[8];
				for (int i = 0; i < size; i++) counts[i] = k;
				for (int i = 0; i < k * step * size; i++) x[i] = i % step ? -7 : rank + 1, y[i] = -9;
				MPI_Allreduce(x, y, k, t, op, MPI_COMM_WORLD);
				for (int i = 0; i < k * step; i++) bad += y[i] != (i % step ? -9 : all);
				MPI_Reduce(x, y, k, t, op, 0, MPI_COMM_WORLD);
				MPI_Scan(x, y, k, t, op, MPI_COMM_WORLD);
				MPI_Exscan(x, y, k, t, op, MPI_COMM_WORLD);
				MPI_Reduce_scatter_block(x, y, k, t, op, MPI_COMM_WORLD);
				for (int i = 0; i < k * step; i++) bad += y[i] != (i % step ? -9 : all);
				MPI_Reduce_scatter(x, y, counts, t, op, MPI_COMM_WORLD);
				MPI_Reduce_local(x, y, k, t, op);
				MPI_Iallreduce(x, y, k, t, op, MPI_COMM_WORLD, &r);
				MPI_Wait(&r, MPI_STATUS_IGNORE);
				for (int i = 0; i < k * step; i++) bad += y[i] != (i % step ? -9 : all);
				free(x);
				free(y);
				if (bad) return 4;
			}
		MPI_Op_free(&op);
	}
	MPI_Type_free(&spaced);
	for (int k = 0; k < 100; k++) {
		MPI_Grequest_start(queried, freed, cancelled, NULL, &r);
		MPI_Grequest_complete(r);
		MPI_Wait(&r, &s);
		if (s.MPI_SOURCE != 3 || s.MPI_TAG != 4) return 5;
	}
	int given[n], back[n];
	char name[64];
	for (int i = 0; i < n; i++) given[i] = i, back[i] = -1;
	snprintf(name, sizeof name, "/tmp/conformance-watched-%d", (int)getpid());
	MPI_Register_datarep("inverted", reads, writes, extent, NULL);
	MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
	MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "inverted", MPI_INFO_NULL);
	MPI_File_write_at(f, 0, given, n, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_read_at(f, 0, back, n, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_close(&f);
	return memcmp(given, back, sizeof given) ? 6 : 0;
}

int main(int argc, char **argv) {
	int rank, size, x = 1, y = 0, *v = malloc(2 * n * sizeof *v), *p = malloc(16);
	MPI_Request r;
	MPI_Datatype every;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 2 * n; i++) v[i] = i;
	p[0] = 0;
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (y != size) return 1;
	MPI_Sendrecv(v, n, MPI_INT, (rank + 1) % size, 0, v + n, n, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Type_vector(n / 2, 1, 2, MPI_INT, &every);
	MPI_Type_commit(&every);
	MPI_Irecv(v, 1, every, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &r);
	MPI_Send(v + n, n / 2, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Type_free(&every);
	if (v[2] != 1) return 2;
	if (size > 1 && rank < 2) { /* which the sender and the receiver could copy together */
		char *far = malloc(1 << 20);
		if (rank == 0) {
			memset(far, 7, 1 << 20);
			MPI_Send(far, 1 << 20, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
		} else {
			MPI_Recv(far, 1 << 20, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			for (int i = 0; i < 1 << 20; i += 1 << 12)
				if (far[i] != 7) return 3;
		}
		free(far);
	}
	int status = argc == 1 ? callbacks(rank, size) : 0;
	if (status) return status;
	MPI_Barrier(MPI_COMM_WORLD);
	if (has(argc, argv, "read")) x = ((volatile int *)p)[4];
	if (has(argc, argv, "undefined") && ((volatile int *)p)[1] == 77) x = 3;
	if (has(argc, argv, "send")) {
		MPI_Irecv(v, 5, MPI_INT, rank, 2, MPI_COMM_WORLD, &r);
		MPI_Send(p, 5, MPI_INT, rank, 2, MPI_COMM_WORLD);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	}
	if (has(argc, argv, "receive")) MPI_Sendrecv(v, 1, MPI_INT, rank, 1, p + 4, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (has(argc, argv, "godebug")) puts(getenv("GODEBUG"));
	if (has(argc, argv, "leak")) p = NULL;
	free(p);
	free(v);
	MPI_Finalize();
	return 0;
}
