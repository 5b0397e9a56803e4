/* Topologies (MPI-5 chapter 8): grids, graphs and distributed graphs are made, asked, copied and
   taken apart, and what is wrong is an error. Any number of processes. */
#include "check.h"

static void grids(void) {
	int dims[2] = {0, 0}, periods[2] = {1, 0}, got[2], gotPeriods[2], coords[2], n, status;
	MPI_Comm grid, dup, sub;
	OK(MPI_Dims_create(size, 2, dims));
	OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid));
	OK(MPI_Comm_dup(grid, &dup));
	OK(MPI_Topo_test(dup, &status));
	CHECK(status == MPI_CART);
	OK(MPI_Topo_test(MPI_COMM_WORLD, &status));
	CHECK(status == MPI_UNDEFINED);
	OK(MPI_Cartdim_get(dup, &n));
	CHECK(n == 2);
	OK(MPI_Cart_get(dup, 2, got, gotPeriods, coords));
	CHECK(got[0] == dims[0] && got[1] == dims[1] && gotPeriods[0] == 1 && gotPeriods[1] == 0);
	int me, at, source, dest;
	MPI_Comm_rank(dup, &me);
	OK(MPI_Cart_rank(dup, coords, &at));
	CHECK(at == me);
	coords[0] += dims[0];
	OK(MPI_Cart_rank(dup, coords, &at));
	CHECK(at == me);
	OK(MPI_Cart_coords(dup, me, 1, got));
	CHECK(got[0] == coords[0] - dims[0]);
	int sent = me, received = -1;
	OK(MPI_Cart_shift(dup, 0, 1, &source, &dest));
	OK(MPI_Sendrecv(&sent, 1, MPI_INT, dest, 0, &received, 1, MPI_INT, source, 0, dup, MPI_STATUS_IGNORE));
	CHECK(received == source && source >= 0);
	OK(MPI_Cart_shift(dup, 1, dims[1], &source, &dest));
	CHECK(source == MPI_PROC_NULL && dest == MPI_PROC_NULL);
	int remain[2] = {0, 1};
	OK(MPI_Cart_sub(dup, remain, &sub));
	OK(MPI_Cartdim_get(sub, &n));
	CHECK(n == 1);
	MPI_Comm_size(sub, &n);
	CHECK(n == dims[1]);
	int none[2] = {0, 0};
	MPI_Comm_free(&sub);
	OK(MPI_Cart_sub(dup, none, &sub));
	OK(MPI_Cartdim_get(sub, &n));
	CHECK(n == 0);
	MPI_Comm_free(&sub);
	MPI_Comm_free(&dup);
	MPI_Comm_free(&grid);

	/* A grid of one process leaves the others out. */
	int one = 1, mapped;
	OK(MPI_Cart_map(MPI_COMM_WORLD, 1, &one, periods, &mapped));
	CHECK(mapped == (rank == 0 ? 0 : MPI_UNDEFINED));
	OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &one, periods, 0, &grid));
	CHECK((grid == MPI_COMM_NULL) == (rank != 0));
	if (grid != MPI_COMM_NULL)
		MPI_Comm_free(&grid);
	OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &grid));
	CHECK((grid == MPI_COMM_NULL) == (rank != 0));
	if (grid != MPI_COMM_NULL)
		MPI_Comm_free(&grid);
}

static void graphs(void) {
	/* A ring: each process and the one behind it. */
	int *index = malloc(size * sizeof(int)), *edges = malloc(2 * size * sizeof(int)), n, e, status, list[2], mapped;
	for (int i = 0; i < size; i++) {
		index[i] = 2 * (i + 1);
		edges[2 * i] = (i + size - 1) % size;
		edges[2 * i + 1] = (i + 1) % size;
	}
	MPI_Comm ring;
	OK(MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &mapped));
	CHECK(mapped >= 0 && mapped < size);
	OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &ring));
	OK(MPI_Topo_test(ring, &status));
	CHECK(status == MPI_GRAPH);
	OK(MPI_Graphdims_get(ring, &n, &e));
	CHECK(n == size && e == 2 * size);
	int *gotIndex = malloc(size * sizeof(int)), *gotEdges = malloc(2 * size * sizeof(int));
	OK(MPI_Graph_get(ring, size, 2 * size, gotIndex, gotEdges));
	CHECK(memcmp(index, gotIndex, size * sizeof(int)) == 0 && memcmp(edges, gotEdges, 2 * size * sizeof(int)) == 0);
	OK(MPI_Graph_neighbors_count(ring, rank, &n));
	CHECK(n == 2);
	OK(MPI_Graph_neighbors(ring, rank, 2, list));
	CHECK(list[0] == edges[2 * rank] && list[1] == edges[2 * rank + 1]);
	MPI_Comm_free(&ring);
	free(index);
	free(edges);
	free(gotIndex);
	free(gotEdges);
}

static void distributed(void) {
	/* Edges to the next process, of weight rank, given at both ends, and all by process 0. */
	int next = (rank + 1) % size, before = (rank + size - 1) % size, in, out, weighted, status;
	MPI_Comm ring;
	OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &before, 1, &next, &rank, MPI_INFO_NULL, 0, &ring));
	for (int round = 0; round < 2; round++) {
		OK(MPI_Topo_test(ring, &status));
		CHECK(status == MPI_DIST_GRAPH);
		OK(MPI_Dist_graph_neighbors_count(ring, &in, &out, &weighted));
		CHECK(in == 1 && out == 1 && weighted);
		int from = -1, fromWeight = -1, to = -1, toWeight = -1;
		OK(MPI_Dist_graph_neighbors(ring, 1, &from, &fromWeight, 1, &to, &toWeight));
		CHECK(from == before && fromWeight == before && to == next && toWeight == rank);
		OK(MPI_Dist_graph_neighbors(ring, 1, &from, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED));
		MPI_Comm_free(&ring);
		int *lists = malloc(4 * size * sizeof(int)), n = rank == 0 ? size : 0;
		int *degrees = lists + size, *dests = lists + 2 * size, *weights = lists + 3 * size;
		for (int i = 0; i < size; i++) {
			lists[i] = weights[i] = i;
			degrees[i] = 1;
			dests[i] = (i + 1) % size;
		}
		OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, lists, degrees, dests, n ? weights : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &ring));
		free(lists);
	}
	MPI_Comm_free(&ring);
	OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &ring));
	OK(MPI_Dist_graph_neighbors_count(ring, &in, &out, &weighted));
	CHECK(in == 0 && out == 0 && !weighted);
	MPI_Comm_free(&ring);
}

static void errors(void) {
	int dims[1] = {-1}, periods[1] = {0}, n, bad[1] = {7}, two[2] = {0, 0};
	MPI_Comm c;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	FAILS(MPI_Cartdim_get(MPI_COMM_WORLD, &n), MPI_ERR_TOPOLOGY);
	FAILS(MPI_Graphdims_get(MPI_COMM_WORLD, &n, &n), MPI_ERR_TOPOLOGY);
	FAILS(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &n, &n, &n), MPI_ERR_TOPOLOGY);
	FAILS(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &c), MPI_ERR_DIMS);
	FAILS(MPI_Cart_create(MPI_COMM_WORLD, -1, dims, periods, 0, &c), MPI_ERR_DIMS);
	FAILS(MPI_Cart_create(MPI_COMM_WORLD, 1, NULL, periods, 0, &c), MPI_ERR_ARG);
	FAILS(MPI_Graph_create(MPI_COMM_WORLD, 1, bad, NULL, 0, &c), MPI_ERR_ARG);
	OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, two, two, two, NULL, MPI_INFO_NULL, 0, &c));
	MPI_Comm_free(&c);
	n = size;
	FAILS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &n, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c), MPI_ERR_RANK);
	FAILS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, two, NULL, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &c), MPI_ERR_ARG);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	grids();
	graphs();
	distributed();
	errors();
	return done();
}
