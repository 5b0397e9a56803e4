/*
 * waits_calls: argument k names the call in which rank k waits forever, for a process that does not take part: the last
 * rank, which has a communicator with each other one, and is rank 0 there (promise F6).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 1 << 20, PLAIN, GRID, BETWEEN, WINDOW, LOCKED, FILES };

static int one[2], two[2], counts[2] = {1, 1}, displs[2] = {0, 1}, both[2] = {0, 1}, yes[1] = {1}, dims[1] = {2};
static int indices[2], edges[2] = {1, 0}, index_[2] = {1, 2}, at, flag;
static MPI_Aint places[2] = {0, sizeof(int)};
static char *lot, *base;
static MPI_Comm c, grid, inter, made;
static MPI_Group all, last;
static MPI_Win w;
static MPI_File f;
static MPI_Request r[2];
static MPI_Datatype types[2];
static MPI_Status s[2];
static MPI_Message m;

static void wait_for(void) { MPI_Wait(&r[0], MPI_STATUS_IGNORE); }
static void again(void) {
	MPI_Start(&r[0]);
	wait_for();
}
static void receives(void) {
	MPI_Irecv(one, 1, MPI_INT, 0, 1, c, &r[0]);
	MPI_Irecv(two, 1, MPI_INT, 0, 2, c, &r[1]);
}
static void start(void) { MPI_Win_start(last, 0, w); }
static void put(void) { MPI_Put(one, 1, MPI_INT, 0, 0, 1, MPI_INT, w); }

/* Each line is the name of a call, what it needs, and the call. */
#define CALLS(X) \
	X(MPI_Send, PLAIN, MPI_Send(lot, LONG, MPI_CHAR, 0, 1, c)) \
	X(MPI_Ssend, PLAIN, MPI_Ssend(one, 1, MPI_INT, 0, 1, c)) \
	X(MPI_Rsend, PLAIN, MPI_Rsend(lot, LONG, MPI_CHAR, 0, 1, c)) \
	X(MPI_Recv, PLAIN, MPI_Recv(one, 1, MPI_INT, 0, 1, c, s)) \
	X(MPI_Sendrecv, PLAIN, MPI_Sendrecv(one, 1, MPI_INT, 0, 1, two, 1, MPI_INT, 0, 1, c, s)) \
	X(MPI_Sendrecv_replace, PLAIN, MPI_Sendrecv_replace(one, 1, MPI_INT, 0, 1, 0, 1, c, s)) \
	X(MPI_Probe, PLAIN, MPI_Probe(0, 1, c, s)) \
	X(MPI_Mprobe, PLAIN, MPI_Mprobe(0, 1, c, &m, s)) \
	X(MPI_Issend, PLAIN, (MPI_Issend(one, 1, MPI_INT, 0, 1, c, r), wait_for())) \
	X(MPI_Irecv, PLAIN, (MPI_Irecv(one, 1, MPI_INT, 0, 1, c, r), wait_for())) \
	X(MPI_Ssend_init, PLAIN, (MPI_Ssend_init(one, 1, MPI_INT, 0, 1, c, r), again())) \
	X(MPI_Recv_init, PLAIN, (MPI_Recv_init(one, 1, MPI_INT, 0, 1, c, r), again())) \
	X(MPI_Precv_init, PLAIN, (MPI_Precv_init(one, 2, 1, MPI_INT, 0, 1, c, MPI_INFO_NULL, r), again())) \
	X(MPI_Waitall, PLAIN, (receives(), MPI_Waitall(2, r, s))) \
	X(MPI_Waitany, PLAIN, (receives(), MPI_Waitany(2, r, &at, s))) \
	X(MPI_Waitsome, PLAIN, (receives(), MPI_Waitsome(2, r, &at, indices, s))) \
	X(MPI_Buffer_detach, PLAIN, (MPI_Buffer_attach(malloc(2 * LONG), 2 * LONG), MPI_Bsend(lot, LONG, MPI_CHAR, 0, 1, c), MPI_Buffer_detach(&base, &at))) \
	X(MPI_Barrier, PLAIN, MPI_Barrier(c)) \
	X(MPI_Bcast, PLAIN, MPI_Bcast(one, 1, MPI_INT, 0, c)) \
	X(MPI_Gather, PLAIN, MPI_Gather(one, 1, MPI_INT, two, 1, MPI_INT, 1, c)) \
	X(MPI_Gatherv, PLAIN, MPI_Gatherv(one, 1, MPI_INT, two, counts, displs, MPI_INT, 1, c)) \
	X(MPI_Scatter, PLAIN, MPI_Scatter(one, 1, MPI_INT, two, 1, MPI_INT, 0, c)) \
	X(MPI_Scatterv, PLAIN, MPI_Scatterv(one, counts, displs, MPI_INT, two, 1, MPI_INT, 0, c)) \
	X(MPI_Allgather, PLAIN, MPI_Allgather(one, 1, MPI_INT, two, 1, MPI_INT, c)) \
	X(MPI_Allgatherv, PLAIN, MPI_Allgatherv(one, 1, MPI_INT, two, counts, displs, MPI_INT, c)) \
	X(MPI_Alltoall, PLAIN, MPI_Alltoall(one, 1, MPI_INT, two, 1, MPI_INT, c)) \
	X(MPI_Alltoallv, PLAIN, MPI_Alltoallv(one, counts, displs, MPI_INT, two, counts, displs, MPI_INT, c)) \
	X(MPI_Alltoallw, PLAIN, MPI_Alltoallw(one, counts, displs, types, two, counts, displs, types, c)) \
	X(MPI_Reduce, PLAIN, MPI_Reduce(one, two, 1, MPI_INT, MPI_SUM, 1, c)) \
	X(MPI_Allreduce, PLAIN, MPI_Allreduce(one, two, 1, MPI_INT, MPI_SUM, c)) \
	X(MPI_Reduce_scatter_block, PLAIN, MPI_Reduce_scatter_block(one, two, 1, MPI_INT, MPI_SUM, c)) \
	X(MPI_Reduce_scatter, PLAIN, MPI_Reduce_scatter(one, two, counts, MPI_INT, MPI_SUM, c)) \
	X(MPI_Scan, PLAIN, MPI_Scan(one, two, 1, MPI_INT, MPI_SUM, c)) \
	X(MPI_Exscan, PLAIN, MPI_Exscan(one, two, 1, MPI_INT, MPI_SUM, c)) \
	X(MPI_Ibarrier, PLAIN, (MPI_Ibarrier(c, r), wait_for())) \
	X(MPI_Iallreduce, PLAIN, (MPI_Iallreduce(one, two, 1, MPI_INT, MPI_SUM, c, r), wait_for())) \
	X(MPI_Neighbor_allgather, GRID, MPI_Neighbor_allgather(one, 1, MPI_INT, two, 1, MPI_INT, grid)) \
	X(MPI_Neighbor_allgatherv, GRID, MPI_Neighbor_allgatherv(one, 1, MPI_INT, two, counts, displs, MPI_INT, grid)) \
	X(MPI_Neighbor_alltoall, GRID, MPI_Neighbor_alltoall(one, 1, MPI_INT, two, 1, MPI_INT, grid)) \
	X(MPI_Neighbor_alltoallv, GRID, MPI_Neighbor_alltoallv(one, counts, displs, MPI_INT, two, counts, displs, MPI_INT, grid)) \
	X(MPI_Neighbor_alltoallw, GRID, MPI_Neighbor_alltoallw(one, counts, places, types, two, counts, places, types, grid)) \
	X(MPI_Cart_sub, GRID, MPI_Cart_sub(grid, yes, &made)) \
	X(MPI_Comm_dup, PLAIN, MPI_Comm_dup(c, &made)) \
	X(MPI_Comm_idup, PLAIN, (MPI_Comm_idup(c, &made, r), wait_for())) \
	X(MPI_Comm_split, PLAIN, MPI_Comm_split(c, 0, 0, &made)) \
	X(MPI_Comm_split_type, PLAIN, MPI_Comm_split_type(c, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made)) \
	X(MPI_Comm_create, PLAIN, MPI_Comm_create(c, all, &made)) \
	X(MPI_Comm_create_group, PLAIN, MPI_Comm_create_group(c, all, 3, &made)) \
	X(MPI_Comm_create_from_group, PLAIN, MPI_Comm_create_from_group(all, "names", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made)) \
	X(MPI_Cart_create, PLAIN, MPI_Cart_create(c, 1, dims, yes, 0, &made)) \
	X(MPI_Graph_create, PLAIN, MPI_Graph_create(c, 2, index_, edges, 0, &made)) \
	X(MPI_Dist_graph_create, PLAIN, MPI_Dist_graph_create(c, 1, &both[1], counts, both, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made)) \
	X(MPI_Dist_graph_create_adjacent, PLAIN, MPI_Dist_graph_create_adjacent(c, 1, both, MPI_UNWEIGHTED, 1, both, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made)) \
	X(MPI_Intercomm_create, PLAIN, MPI_Intercomm_create(MPI_COMM_SELF, 0, c, 0, 4, &made)) \
	X(MPI_Intercomm_merge, BETWEEN, MPI_Intercomm_merge(inter, 0, &made)) \
	X(MPI_Comm_disconnect, PLAIN, (receives(), MPI_Comm_disconnect(&c))) \
	X(MPI_Comm_spawn, PLAIN, MPI_Comm_spawn("none", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, c, &made, MPI_ERRCODES_IGNORE)) \
	X(MPI_Comm_connect, PLAIN, MPI_Comm_connect("", MPI_INFO_NULL, 0, c, &made)) \
	X(MPI_Comm_accept, PLAIN, MPI_Comm_accept("", MPI_INFO_NULL, 0, c, &made)) \
	X(MPI_Win_create, PLAIN, MPI_Win_create(one, 4, 4, MPI_INFO_NULL, c, &w)) \
	X(MPI_Win_allocate, PLAIN, MPI_Win_allocate(4, 4, MPI_INFO_NULL, c, &base, &w)) \
	X(MPI_Win_allocate_shared, PLAIN, MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, c, &base, &w)) \
	X(MPI_Win_create_dynamic, PLAIN, MPI_Win_create_dynamic(MPI_INFO_NULL, c, &w)) \
	X(MPI_Win_fence, WINDOW, MPI_Win_fence(0, w)) \
	X(MPI_Win_complete, WINDOW, (start(), put(), MPI_Win_complete(w))) \
	X(MPI_Win_wait, WINDOW, (MPI_Win_post(last, 0, w), MPI_Win_wait(w))) \
	X(MPI_Win_free, WINDOW, MPI_Win_free(&w)) \
	X(MPI_Win_lock, LOCKED, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w)) \
	X(MPI_Win_lock_all, LOCKED, MPI_Win_lock_all(0, w)) \
	X(MPIX_Win_change_comm, WINDOW, MPIX_Win_change_comm(c, 0, &w)) \
	X(MPIX_Win_wait_notify, WINDOW, (MPIX_Win_wait_notify(w, 0, 1, r), wait_for())) \
	X(MPI_File_open, PLAIN, MPI_File_open(c, "none", MPI_MODE_RDONLY, MPI_INFO_NULL, &f)) \
	X(MPI_File_close, FILES, MPI_File_close(&f)) \
	X(MPI_File_set_view, FILES, MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL)) \
	X(MPI_File_set_size, FILES, MPI_File_set_size(f, 8)) \
	X(MPI_File_preallocate, FILES, MPI_File_preallocate(f, 8)) \
	X(MPI_File_set_atomicity, FILES, MPI_File_set_atomicity(f, 1)) \
	X(MPI_File_sync, FILES, MPI_File_sync(f)) \
	X(MPI_File_seek_shared, FILES, MPI_File_seek_shared(f, 0, MPI_SEEK_SET)) \
	X(MPI_File_read_all, FILES, MPI_File_read_all(f, one, 1, MPI_INT, s)) \
	X(MPI_File_write_all, FILES, MPI_File_write_all(f, one, 1, MPI_INT, s)) \
	X(MPI_File_read_at_all, FILES, MPI_File_read_at_all(f, 0, one, 1, MPI_INT, s)) \
	X(MPI_File_write_at_all, FILES, MPI_File_write_at_all(f, 0, one, 1, MPI_INT, s)) \
	X(MPI_File_read_ordered, FILES, MPI_File_read_ordered(f, one, 1, MPI_INT, s)) \
	X(MPI_File_write_ordered, FILES, MPI_File_write_ordered(f, one, 1, MPI_INT, s)) \
	X(MPI_File_iread_all, FILES, (MPI_File_iread_all(f, one, 1, MPI_INT, r), wait_for())) \
	X(MPI_File_iwrite_at_all, FILES, (MPI_File_iwrite_at_all(f, 0, one, 1, MPI_INT, r), wait_for())) \
	X(MPI_File_read_all_end, FILES, (MPI_File_read_all_begin(f, one, 1, MPI_INT), MPI_File_read_all_end(f, one, s))) \
	X(MPI_File_write_ordered_end, FILES, (MPI_File_write_ordered_begin(f, one, 1, MPI_INT), MPI_File_write_ordered_end(f, one, s)))

#define KIND(name, kind, call) \
	if (!strcmp(which, #name)) return kind;
static int kind_of(const char *which) {
	CALLS(KIND)
	fprintf(stderr, "unknown call %s\n", which);
	MPI_Abort(MPI_COMM_WORLD, 1);
	return 0;
}

#define MAKE(name, kind, call) \
	if (!strcmp(which, #name)) call;
static void make(const char *which) { CALLS(MAKE) }

/* prepare makes what a call needs, in both processes of the communicator. */
static void prepare(int kind, const char *directory, const char *which, int rank) {
	char path[4096];
	if (kind == GRID) {
		MPI_Cart_create(c, 1, dims, yes, 0, &grid);
		MPI_Comm_set_name(grid, "pair");
	}
	if (kind == BETWEEN) {
		MPI_Intercomm_create(MPI_COMM_SELF, 0, c, !rank, 4, &inter);
		MPI_Comm_set_name(inter, "pair");
	}
	if (kind == WINDOW || kind == LOCKED) {
		MPI_Win_allocate(4, 4, MPI_INFO_NULL, c, &base, &w);
		MPI_Win_set_name(w, "pair");
		if (kind == LOCKED && rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w);
		MPI_Barrier(c);
	}
	if (kind == FILES) {
		snprintf(path, sizeof path, "%s/%s", directory, which);
		MPI_File_open(c, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	}
}

int main(int argc, char **argv) {
	int rank, size, mine[2];
	MPI_Group world;
	lot = calloc(LONG, 1);
	types[0] = types[1] = MPI_INT;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	for (int k = 0; k < size - 1 && k + 2 < argc; k++) {
		if (rank != k && rank != size - 1) continue;
		mine[0] = size - 1, mine[1] = k;
		MPI_Group_incl(world, 2, mine, &all);
		MPI_Group_incl(world, 1, mine, &last);
		MPI_Comm_create_group(MPI_COMM_WORLD, all, k, &c);
		MPI_Comm_set_name(c, "pair");
		prepare(kind_of(argv[k + 2]), argv[1], argv[k + 2], rank == k);
		if (rank == k) make(argv[k + 2]);
	}
	pause();
	return flag;
}
