/* The three programs of the proposal of synchronisation objects (Ritzdorf, 2008, section 1.2.4), with
 * its names: relaxation on a torus, where neighbours put the halos. Neighbours learn that halos may
 * be overwritten by a barrier (example A), by messages (B), or by a second counter without messages
 * (C). Omissions and errors of the text are repaired and marked (SYN-07, SYN-30, SYN-31, SYN-32,
 * E0-01, E0-07, E0-08, E0-09, E0-10, E0-11, E0-16, E0-25). */
#define HALO_MPI_NAMES
#include "check.h"

#define NUMBER_OF_NEIGHBOURS 4
#define SYNCTAG 7
enum { N = 6, ITERATIONS = 60 }; /* N: elements of a side without halos */

static int toneighbor[NUMBER_OF_NEIGHBOURS]; /* north, south, west, east */
static MPI_Win win;
static double (*A)[N + 2]; /* the window: elements with halos around them */
static double B[N][N];

/* The elements for a neighbour, and their place there: the first row to the lower halo of the north
 * neighbour, and so on. */
static void edge(int i, double **from, MPI_Datatype *type, MPI_Aint *todisp, MPI_Datatype column) {
	*type = i < 2 ? MPI_DATATYPE_NULL : column;
	switch (i) {
	case 0: *from = &A[1][1]; *todisp = (N + 1) * (N + 2) + 1; break;
	case 1: *from = &A[N][1]; *todisp = 1; break;
	case 2: *from = &A[1][1]; *todisp = (N + 2) + N + 1; break;
	default: *from = &A[1][N]; *todisp = N + 2;
	}
}

static MPI_Datatype row, column;

static void put_edge(int i) {
	double *frombuf;
	MPI_Datatype type;
	MPI_Aint todisp;
	edge(i, &frombuf, &type, &todisp, column);
	if (i < 2) type = row;
	OK(MPI_Put(frombuf, 1, type, toneighbor[i], todisp, 1, type, win));
}

/* One step of relaxation, by way of B. */
static void update(void) {
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) B[i][j] = 0.25 * (A[i][j + 1] + A[i + 2][j + 1] + A[i + 1][j] + A[i + 1][j + 2]) + 0.01 * A[i + 1][j + 1];
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) A[i + 1][j + 1] = B[i][j];
}

static void allocate(MPI_Sync *mine, int n) {
	OK(MPI_Win_alloc_sync_objects(n, mine, win, MPI_INFO_NULL));
	for (int i = 0; i < n; i++)
		CHECK(mine[i] != MPI_SYNC_NULL && MPI_Sync_counter_f2c(MPI_Sync_c2f(mine[i])) == mine[i] && MPI_Sync_counter_c2f(mine[i]) == MPI_Sync_c2f(mine[i])); /* E0-07 */
}

/* Sends one's own object to all neighbours, and receives theirs. */
static void exchange(MPI_Sync *mine, MPI_Sync *theirs, int tag) {
	MPI_Request send_req[NUMBER_OF_NEIGHBOURS], recv_req[NUMBER_OF_NEIGHBOURS];
	for (int i = 0; i < NUMBER_OF_NEIGHBOURS; i++) {
		OK(MPI_Irecv(&theirs[i], 1, MPI_HANDLE_SYNC, toneighbor[i], tag, MPI_COMM_WORLD, &recv_req[i]));
		OK(MPI_Isend(mine, 1, MPI_HANDLE_SYNC, toneighbor[i], tag, MPI_COMM_WORLD, &send_req[i]));
	}
	OK(MPI_Waitall(NUMBER_OF_NEIGHBOURS, recv_req, MPI_STATUSES_IGNORE));
	OK(MPI_Waitall(NUMBER_OF_NEIGHBOURS, send_req, MPI_STATUSES_IGNORE));
}

static void example(char which) {
	MPI_Sync my_counters[2], my_halos_updated, dest_halos_free = MPI_SYNC_NULL;
	MPI_Sync to_halos_updated[NUMBER_OF_NEIGHBOURS], to_halos_free[NUMBER_OF_NEIGHBOURS]; /* E0-08 */
	MPI_Request put_req[NUMBER_OF_NEIGHBOURS], free_req[NUMBER_OF_NEIGHBOURS];
	MPI_Request send_req[NUMBER_OF_NEIGHBOURS], recv_req[NUMBER_OF_NEIGHBOURS];
	MPI_Request my_halos_updated_req, dest_halos_free_req = MPI_REQUEST_NULL;
	int dummy_buf[1], n = which == 'C' ? 2 : 1;

	allocate(my_counters, n);
	my_halos_updated = my_counters[0];
	exchange(&my_halos_updated, to_halos_updated, 1);
	OK(MPI_Win_sync_object_init(my_halos_updated, NUMBER_OF_NEIGHBOURS, win, MPI_INFO_NULL, &my_halos_updated_req));
	if (which == 'C') {
		dest_halos_free = my_counters[1];
		exchange(&dest_halos_free, to_halos_free, 2); /* E0-25 */
		OK(MPI_Win_sync_object_init(dest_halos_free, NUMBER_OF_NEIGHBOURS, win, MPI_INFO_NULL, &dest_halos_free_req));
	}
	for (int i = 0; i < NUMBER_OF_NEIGHBOURS; i++) {
		OK(MPI_Win_sync_ops_init(toneighbor[i], MPI_MODE_WIN_PUT, to_halos_updated[i], win, MPI_INFO_NULL, &put_req[i]));
		if (which == 'C') OK(MPI_Win_sync_ops_init(toneighbor[i], 0, to_halos_free[i], win, MPI_INFO_NULL, &free_req[i])); /* E0-09 */
	}
	OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win)); /* puts need an epoch */
	for (int t = 0; t < ITERATIONS; t++) {
		OK(MPI_Startall(NUMBER_OF_NEIGHBOURS, put_req));
		OK(MPI_Start(&my_halos_updated_req));
		if (which == 'C') OK(MPI_Start(&dest_halos_free_req)); /* E0-09: the address */
		update();
		/* my halos may be updated */
		if (which == 'A') {
			OK(MPI_Barrier(MPI_COMM_WORLD));
			for (int i = 0; i < NUMBER_OF_NEIGHBOURS; i++) put_edge(i); /* E0-11: within the loop */
		} else if (which == 'B') {
			for (int i = 0; i < NUMBER_OF_NEIGHBOURS; i++) {
				/* The neighbour in direction i sends in the opposite direction, i^1. */
				OK(MPI_Irecv(dummy_buf, 0, MPI_INT, toneighbor[i], SYNCTAG + (i ^ 1), MPI_COMM_WORLD, &recv_req[i]));
				OK(MPI_Isend(dummy_buf, 0, MPI_INT, toneighbor[i], SYNCTAG + i, MPI_COMM_WORLD, &send_req[i]));
			}
			for (int i = 0; i < NUMBER_OF_NEIGHBOURS; i++) {
				int index;
				OK(MPI_Waitany(NUMBER_OF_NEIGHBOURS, recv_req, &index, MPI_STATUS_IGNORE));
				put_edge(index);
			}
		} else {
			OK(MPI_Startall(NUMBER_OF_NEIGHBOURS, free_req)); /* E0-10: signals at once, without a wait */
			OK(MPI_Wait(&dest_halos_free_req, MPI_STATUS_IGNORE));
			for (int i = 0; i < NUMBER_OF_NEIGHBOURS; i++) put_edge(i);
		}
		OK(MPI_Waitall(NUMBER_OF_NEIGHBOURS, put_req, MPI_STATUSES_IGNORE));
		if (which == 'B') OK(MPI_Waitall(NUMBER_OF_NEIGHBOURS, send_req, MPI_STATUSES_IGNORE));
		OK(MPI_Wait(&my_halos_updated_req, MPI_STATUS_IGNORE)); /* my halos are updated */
	}
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	for (int i = 0; i < NUMBER_OF_NEIGHBOURS; i++) {
		OK(MPI_Request_free(&put_req[i]));
		if (which == 'C') OK(MPI_Request_free(&free_req[i]));
	}
	OK(MPI_Request_free(&my_halos_updated_req));
	if (which == 'C') OK(MPI_Request_free(&dest_halos_free_req));
	OK(MPI_Win_free_sync_objects(n, my_counters, win));
	for (int i = 0; i < n; i++) CHECK(my_counters[i] == MPI_SYNC_NULL);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	CHECK(MPI_Sync_f2c(0) == MPI_SYNC_NULL && MPI_Sync_counter_f2c(0) == MPI_SYNC_NULL); /* both names of the conversion */
	CHECK(MPI_Sync_c2f(MPI_SYNC_NULL) == 0 && MPI_Sync_counter_c2f(MPI_SYNC_NULL) == 0);
	int rows = 1;
	for (int r = 1; r * r <= size; r++)
		if (size % r == 0) rows = r;
	int columns = size / rows, y = rank / columns, x = rank % columns;
	toneighbor[0] = (y + rows - 1) % rows * columns + x;
	toneighbor[1] = (y + 1) % rows * columns + x;
	toneighbor[2] = y * columns + (x + columns - 1) % columns;
	toneighbor[3] = y * columns + (x + 1) % columns;
	OK(MPI_Type_contiguous(N, MPI_DOUBLE, &row));
	OK(MPI_Type_vector(N, 1, N + 2, MPI_DOUBLE, &column));
	OK(MPI_Type_commit(&row));
	OK(MPI_Type_commit(&column));
	OK(MPI_Win_allocate((N + 2) * (N + 2) * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &A, &win));

	/* each process also computes the whole grid by itself */
	int Y = rows * N, X = columns * N;
	double *whole = malloc(Y * X * sizeof *whole), *next = malloc(Y * X * sizeof *next);
	for (const char *which = "ABC"; *which; which++) {
#define AT(i, j) whole[((i) + Y) % Y * X + ((j) + X) % X]
		for (int i = 0; i < Y; i++)
			for (int j = 0; j < X; j++) AT(i, j) = (i * 31 + j * 17 + *which) % 23;
		for (int i = 0; i < N + 2; i++)
			for (int j = 0; j < N + 2; j++) A[i][j] = AT(y * N + i - 1, x * N + j - 1);
		OK(MPI_Barrier(MPI_COMM_WORLD));
		example(*which);
		for (int t = 0; t < ITERATIONS; t++) {
			for (int i = 0; i < Y; i++)
				for (int j = 0; j < X; j++) next[i * X + j] = 0.25 * (AT(i - 1, j) + AT(i + 1, j) + AT(i, j - 1) + AT(i, j + 1)) + 0.01 * AT(i, j);
			memcpy(whole, next, Y * X * sizeof *whole);
		}
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++) CHECK(A[i + 1][j + 1] == AT(y * N + i, x * N + j), "example %c, %d %d", *which, i, j);
		OK(MPI_Barrier(MPI_COMM_WORLD));
	}
	free(whole);
	free(next);
	OK(MPI_Type_free(&row));
	OK(MPI_Type_free(&column));
	OK(MPI_Win_free(&win));
	return done();
}
