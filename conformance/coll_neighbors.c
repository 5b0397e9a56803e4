/* Neighbourhood collectives (MPI-5, 8.6 to 8.8): in all forms, on grids, graphs and distributed graphs,
   whose neighbours occur several times, are the process itself, or do not exist. Any number of processes. */
#include "check.h"

#define MOST 64

/* What the process sends to its i-th destination, and the result of the last call. */
static int out[2 * MOST], in[2 * MOST];

static void load(int me, int dests) {
	for (int i = 0; i < dests; i++) out[2 * i] = out[2 * i + 1] = 1000 * me + i;
	for (int i = 0; i < 2 * MOST; i++) in[i] = -1;
}

static void finish(MPI_Request *r) { OK(MPI_Wait(r, MPI_STATUS_IGNORE)); }

static void start(MPI_Request *r) {
	OK(MPI_Start(r));
	OK(MPI_Wait(r, MPI_STATUS_IGNORE));
	OK(MPI_Start(r));
	OK(MPI_Wait(r, MPI_STATUS_IGNORE));
	OK(MPI_Request_free(r));
}

/* Calls everything on c. Block i comes from source[i], if that exists, which has sent it to its
   place[i]-th destination. Blocks have one int and a gap of one, or two ints. */
static void exchange(MPI_Comm c, int dests, int sources, const int *source, const int *place) {
	int me, one[MOST], two[MOST], at[MOST];
	MPI_Count lone[MOST], ltwo[MOST];
	MPI_Aint bytes[MOST], lat[MOST];
	MPI_Datatype types[MOST], gap;
	MPI_Request r;
	MPI_Comm_rank(c, &me);
	OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gap));
	OK(MPI_Type_commit(&gap));
	for (int i = 0; i < MOST; i++) {
		one[i] = lone[i] = 1;
		two[i] = ltwo[i] = 2;
		at[i] = lat[i] = i;
		bytes[i] = 2 * i * (MPI_Aint)sizeof(int);
		types[i] = gap;
	}
#define RUNS(second, how, call, end) \
	do { \
		load(me, dests); \
		OK(call); \
		end; \
		for (int i = 0; i < sources; i++) { \
			int want = source[i] == MPI_PROC_NULL ? -1 : 1000 * source[i] + (how ? place[i] : 0); \
			CHECK(in[2 * i] == want, #call ": %d from source %d, rank %d, want %d", in[2 * i], i, source[i], want); \
			CHECK(in[2 * i + 1] == (second ? want : -1), #call ": the second int of source %d is %d", i, in[2 * i + 1]); \
		} \
	} while (0)
#define FORMS(second, how, name, ...) \
	do { \
		RUNS(second, how, MPI_Neighbor_##name(__VA_ARGS__, c), ); \
		RUNS(second, how, MPI_Ineighbor_##name(__VA_ARGS__, c, &r), finish(&r)); \
		RUNS(second, how, MPI_Neighbor_##name##_init(__VA_ARGS__, c, MPI_INFO_NULL, &r), start(&r)); \
	} while (0)
#define LARGE(second, how, name, ...) \
	do { \
		RUNS(second, how, MPI_Neighbor_##name##_c(__VA_ARGS__, c), ); \
		RUNS(second, how, MPI_Ineighbor_##name##_c(__VA_ARGS__, c, &r), finish(&r)); \
		RUNS(second, how, MPI_Neighbor_##name##_init_c(__VA_ARGS__, c, MPI_INFO_NULL, &r), start(&r)); \
	} while (0)
	FORMS(1, 0, allgather, out, 2, MPI_INT, in, 2, MPI_INT);
	FORMS(0, 0, allgatherv, out, 1, MPI_INT, in, one, at, gap);
	FORMS(0, 1, alltoall, out, 1, gap, in, 1, gap);
	FORMS(0, 1, alltoallv, out, one, at, gap, in, one, at, gap);
	FORMS(0, 1, alltoallw, out, one, bytes, types, in, one, bytes, types);
	LARGE(1, 0, allgather, out, 2, MPI_INT, in, 2, MPI_INT);
	LARGE(0, 0, allgatherv, out, 1, MPI_INT, in, lone, lat, gap);
	LARGE(0, 1, alltoall, out, 1, gap, in, 1, gap);
	LARGE(0, 1, alltoallv, out, lone, lat, gap, in, lone, lat, gap);
	LARGE(0, 1, alltoallw, out, lone, bytes, types, in, lone, bytes, types);
	for (int i = 0; i < MOST; i++) types[i] = MPI_INT;
	FORMS(1, 1, alltoallw, out, two, bytes, types, in, two, bytes, types);
	OK(MPI_Type_free(&gap));
}

static void grids(void) {
	int shapes[][3] = {{size, 1, 1}, {1, size, 1}, {0, 0, 1}, {0, 0, 0}};
	for (int s = 0; s < 4; s++)
		for (int periodic = 0; periodic < 8; periodic++) {
			int dims[3], periods[3], source[6], place[6];
			MPI_Comm c;
			for (int d = 0; d < 3; d++) {
				dims[d] = shapes[s][d];
				periods[d] = periodic >> d & 1;
			}
			OK(MPI_Dims_create(size, 3, dims));
			OK(MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 1, &c));
			for (int d = 0; d < 3; d++) {
				OK(MPI_Cart_shift(c, d, 1, &source[2 * d], &source[2 * d + 1]));
				place[2 * d] = 2 * d + 1; /* what comes from below was sent upwards */
				place[2 * d + 1] = 2 * d;
			}
			exchange(c, 6, 6, source, place);
			OK(MPI_Comm_free(&c));
		}
	MPI_Comm c;
	OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &c)); /* of one process */
	if (c != MPI_COMM_NULL) {
		exchange(c, 0, 0, NULL, NULL);
		OK(MPI_Comm_free(&c));
	}
}

static void graphs(void) {
	/* A distributed graph: two edges to the next process, one to oneself, and one from all to the
	   first. */
	int next = (rank + 1) % size, in_ = 0, out_ = 0;
	int source[MOST], place[MOST], dest[MOST];
	MPI_Comm c;
	dest[out_++] = next;
	dest[out_++] = 0;
	dest[out_++] = rank;
	dest[out_++] = next;
	/* Between two processes the order is that of the sender; among senders it is any. */
	for (int r = 0; r < size; r++) {
		int there[4] = {(r + 1) % size, 0, r, (r + 1) % size};
		for (int i = 0; i < 4; i++)
			if (there[i] == rank) {
				source[in_] = r;
				place[in_++] = i;
			}
	}
	OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in_, source, MPI_UNWEIGHTED, out_, dest, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c));
	exchange(c, out_, in_, source, place);
	OK(MPI_Comm_free(&c));

	/* A graph: a star, whose edges are double. */
	int *index = malloc(size * sizeof(int)), *edges = malloc(4 * size * sizeof(int)), n = 0;
	for (int r = 0; r < size; r++) {
		for (int i = 0; r == 0 && i < 2; i++)
			for (int k = 1; k < size; k++) edges[n++] = k;
		for (int i = 0; r > 0 && i < 2; i++) edges[n++] = 0;
		index[r] = n;
	}
	OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &c));
	n = rank == 0 ? 2 * (size - 1) : 2;
	for (int i = 0; i < n; i++) {
		source[i] = rank == 0 ? 1 + i % (size - 1) : 0;
		place[i] = rank == 0 ? i / (size - 1) : rank - 1 + i * (size - 1);
	}
	exchange(c, n, n, source, place);
	OK(MPI_Comm_free(&c));
	free(index);
	free(edges);
}

static void errors(void) {
	int v[8] = {0}, one = 1, yes = 1;
	MPI_Request r;
	MPI_Comm c;
	FAILS(MPI_Neighbor_alltoall(v, 1, MPI_INT, v + 4, 1, MPI_INT, MPI_COMM_SELF), MPI_ERR_TOPOLOGY);
	FAILS(MPI_Ineighbor_allgather_c(v, 1, MPI_INT, v + 4, 1, MPI_INT, MPI_COMM_SELF, &r), MPI_ERR_TOPOLOGY);
	OK(MPI_Cart_create(MPI_COMM_SELF, 1, &one, &yes, 0, &c));
	FAILS(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, v, 1, MPI_INT, c), MPI_ERR_BUFFER);
	FAILS(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, v, 1, MPI_INT, c), MPI_ERR_BUFFER);
	FAILS(MPI_Neighbor_alltoall(v, 1, MPI_INT, v, 1, MPI_INT, c), MPI_ERR_BUFFER);
	FAILS(MPI_Neighbor_alltoall(v, -1, MPI_INT, v + 4, 1, MPI_INT, c), MPI_ERR_COUNT);
	FAILS(MPI_Neighbor_alltoall(v, 1, MPI_DATATYPE_NULL, v + 4, 1, MPI_INT, c), MPI_ERR_TYPE);
	FAILS(MPI_Neighbor_alltoall(v, 1, MPI_INT, v + 4, 2, MPI_INT, c), MPI_ERR_COUNT);
	OK(MPI_Comm_free(&c));
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	grids();
	if (size > 1) graphs();
	errors();
	return done();
}
