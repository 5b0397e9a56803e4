/*
 * peers.c: what the functions must know of a communicator to convert their arguments: with how many
 * processes a collective exchanges data, and whether this one is the root.
 */
#include "glue.h"

int halo_peers(MPI_Fint comm, int way) {
	MPI_Comm c = in_MPI_Comm(comm);
	int inter = 0, n = 0;
	(void)way;
	if (PMPI_Comm_test_inter(c, &inter) != MPI_SUCCESS)
		return 0;
	return (inter ? PMPI_Comm_remote_size(c, &n) : PMPI_Comm_size(c, &n)) == MPI_SUCCESS ? n : 0;
}

int halo_neighbors(MPI_Fint comm, int way) {
	MPI_Comm c = in_MPI_Comm(comm);
	int kind = MPI_UNDEFINED, rank = 0, n = 0, in = 0, out = 0, weighted = 0;
	if (PMPI_Topo_test(c, &kind) != MPI_SUCCESS)
		return 0;
	switch (kind) {
	case MPI_CART:
		PMPI_Cartdim_get(c, &n);
		return 2 * n;
	case MPI_GRAPH:
		PMPI_Comm_rank(c, &rank);
		PMPI_Graph_neighbors_count(c, rank, &n);
		return n;
	case MPI_DIST_GRAPH:
		PMPI_Dist_graph_neighbors_count(c, &in, &out, &weighted);
		return way == HALO_TO ? out : in;
	}
	return 0;
}

int halo_root(MPI_Fint comm, MPI_Fint root) {
	MPI_Comm c = in_MPI_Comm(comm);
	int inter = 0, rank = MPI_PROC_NULL;
	if (root == MPI_ROOT)
		return 1;
	if (PMPI_Comm_test_inter(c, &inter) != MPI_SUCCESS || inter || PMPI_Comm_rank(c, &rank) != MPI_SUCCESS)
		return 0;
	return rank == root;
}
