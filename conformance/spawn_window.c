/* A window takes spawned processes in, and loses them before they disconnect, twice: all old and new members put to
 * each other between fences and under locks, and signal synchronisation objects (SYN-35, SYN-07, E0-21,
 * E0-22). */
#define HALO_MPI_NAMES
#include "check.h"
#include <unistd.h>

enum { CHILDREN = 2, ROUNDS = 2, MOST = 16 };

static long memory[MOST];
static MPI_Sync object; /* of a parent: it outlives the processes that signal it */

/* access has all members of all put to those with memory, and signal them. mem is NULL without any. */
static void access_all(MPI_Comm all, MPI_Win win, long *mem) {
	int me, n, same, has = mem != NULL, have[MOST];
	MPI_Sync mine = object, theirs[MOST];
	MPI_Request come, go;
	MPI_Group group, members;
	long value;
	OK(MPI_Comm_rank(all, &me));
	OK(MPI_Comm_size(all, &n));
	OK(MPI_Win_get_group(win, &group));
	OK(MPI_Comm_group(all, &members));
	OK(MPI_Group_compare(group, members, &same));
	CHECK(same == MPI_IDENT);
	OK(MPI_Group_free(&group));
	OK(MPI_Group_free(&members));
	OK(MPI_Allgather(&has, 1, MPI_INT, have, 1, MPI_INT, all));
	for (int exclusive = 0; exclusive < 2; exclusive++) {
		value = 100 * (exclusive + 1) + me;
		if (!exclusive) OK(MPI_Win_fence(0, win));
		for (int r = 0; r < n; r++) {
			if (!have[r]) continue;
			if (exclusive) OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, r, 0, win));
			OK(MPI_Put(&value, 1, MPI_LONG, r, me, 1, MPI_LONG, win));
			if (exclusive) OK(MPI_Win_unlock(r, win));
		}
		if (!exclusive) OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
		OK(MPI_Barrier(all));
		for (int r = 0; r < n && mem; r++) CHECK(mem[r] == 100 * (exclusive + 1) + r, "%ld of rank %d", mem[r], r);
		OK(MPI_Barrier(all));
	}
	if (mine == MPI_SYNC_NULL) OK(MPI_Win_alloc_sync_objects(1, &mine, win, MPI_INFO_NULL));
	OK(MPI_Allgather(&mine, 1, MPI_HANDLE_SYNC, theirs, 1, MPI_HANDLE_SYNC, all));
	OK(MPI_Win_sync_object_init(mine, n, win, MPI_INFO_NULL, &come));
	OK(MPI_Start(&come));
	OK(MPI_Win_lock_all(0, win));
	value = 300 + me;
	for (int r = 0; r < n; r++) {
		if (have[r]) OK(MPI_Put(&value, 1, MPI_LONG, r, me, 1, MPI_LONG, win));
		OK(MPI_Win_sync_ops_init(r, MPI_MODE_WIN_PUT, theirs[r], win, MPI_INFO_NULL, &go));
		OK(MPI_Start(&go));
		OK(MPI_Wait(&go, MPI_STATUS_IGNORE));
		OK(MPI_Request_free(&go));
	}
	OK(MPI_Wait(&come, MPI_STATUS_IGNORE));
	OK(MPI_Request_free(&come));
	for (int r = 0; r < n && mem; r++) CHECK(mem[r] == 300 + r, "%ld of rank %d", mem[r], r);
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Barrier(all));
	if (object == MPI_SYNC_NULL) OK(MPI_Win_free_sync_objects(1, &mine, win));
}

/* grow is a round at each member of the merged communicator: the window takes the others in, and loses them. */
static void grow(MPI_Comm inter, int high, int parent, MPI_Win *win, long *mem, int brings) {
	MPI_Comm all;
	int me, remote, local, peer;
	OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
	OK(MPI_Comm_size(inter, &local));
	OK(MPI_Comm_remote_size(inter, &remote));
	OK(MPI_Intercomm_merge(inter, high, &all));
	OK(MPI_Comm_rank(all, &me));
	peer = (parent ? high : !high) ? (parent ? remote : local) : 0; /* the first of the parents */
	FAILS(MPIX_Win_change_comm(all, me == 0 ? local + remote : peer, win), MPI_ERR_RANK);
	CHECK((*win == MPI_WIN_NULL) == !parent);
	if (brings && !parent)
		OK(MPIX_Win_change_comm_memory(all, peer, mem, sizeof memory, sizeof *memory, win));
	else
		OK(MPIX_Win_change_comm(all, peer, win));
	CHECK(*win != MPI_WIN_NULL);
	access_all(all, *win, mem);
	OK(MPIX_Win_change_comm(parent ? MPI_COMM_WORLD : MPI_COMM_NULL, 0, win));
	CHECK((*win == MPI_WIN_NULL) == !parent);
	OK(MPI_Comm_disconnect(&all));
	OK(MPI_Comm_disconnect(&inter));
}

int main(int argc, char **argv) {
	static char self[4096];
	MPI_Comm parent, children;
	MPI_Win win = MPI_WIN_NULL;
	begin(&argc, &argv);
	OK(MPI_Comm_get_parent(&parent));
	if (parent != MPI_COMM_NULL) {
		int round = atoi(argv[1]), brings = atoi(argv[2]);
		grow(parent, round == 0, 0, &win, brings ? memory : NULL, brings);
		MPI_Finalize();
		return wrong != 0;
	}
	if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 1;
	for (int brings = 0; brings < 2; brings++) {
		long *mem = memory;
		if (brings)
			OK(MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
		else
			OK(MPI_Win_allocate(sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
		OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
		OK(MPI_Win_alloc_sync_objects(1, &object, win, MPI_INFO_NULL));
		for (int round = 0; round < ROUNDS; round++) {
			char *arguments[] = {round ? "1" : "0", brings ? "1" : "0", NULL};
			OK(MPI_Comm_spawn(self, arguments, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE));
			grow(children, round != 0, 1, &win, mem, brings);
			access_all(MPI_COMM_WORLD, win, mem);
		}
		OK(MPI_Win_free_sync_objects(1, &object, win));
		OK(MPI_Win_free(&win));
	}
	return done();
}
