/* MPI_Finalize while an object that an argument names is not complete or freed. With pending requests
 * and messages the call fails with MPI_ERR_PENDING and has no effect: they can still be completed.
 * With other objects it succeeds (Halo). With "fatal" before the argument errors are fatal. */
#include "check.h"

enum { long_message = 1 << 18 };

static int fatal;

/* refused checks that MPI_Finalize fails. A rank must not complete the operation of another rank
 * before that rank has called refused. */
static void refused(void) {
	if (fatal) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	FAILS(MPI_Finalize(), MPI_ERR_PENDING);
	int flag = 1;
	OK(MPI_Finalized(&flag));
	CHECK(!flag, "finalised");
}

int main(int argc, char **argv) {
	fatal = argc > 1 && strcmp(argv[1], "fatal") == 0;
	const char *what = argc > 1 + fatal ? argv[1 + fatal] : "nothing";
	begin(&argc, &argv);
	int v[4] = {rank}, other = (rank + 1) % size, flag;
	static int many[long_message];
	void *base;
	MPI_Request r, q;
	MPI_Win w;
	MPI_Comm c;
	MPI_Message m;
	if (strcmp(what, "receive") == 0) { /* without a matching send */
		for (int i = 0; i < 200; i++) /* the rings are open, and calls do not sleep between messages */
			OK(MPI_Sendrecv(v, 1, MPI_INT, other, 6, v + 1, 1, MPI_INT, other, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		OK(MPI_Irecv(v, 1, MPI_INT, other, 7, MPI_COMM_WORLD, &r));
		OK(MPI_Irecv(v + 1, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &q));
		refused();
		OK(MPI_Cancel(&r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		refused();
		OK(MPI_Send(v, 1, MPI_INT, 0, 9, MPI_COMM_SELF));
		OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
	} else if (strcmp(what, "send") == 0) { /* short, without a matching receive */
		OK(MPI_Send(v, 1, MPI_INT, other, 7, MPI_COMM_WORLD));
		OK(MPI_Isend(v, 1, MPI_INT, other, 7, MPI_COMM_WORLD, &r));
		OK(MPI_Request_free(&r));
	} else if (strcmp(what, "long_send") == 0) { /* long, without a matching receive */
		static int room[long_message];
		OK(MPI_Isend(many, long_message, MPI_INT, other, 7, MPI_COMM_WORLD, &r));
		refused();
		OK(MPI_Barrier(MPI_COMM_WORLD));
		OK(MPI_Recv(room, long_message, MPI_INT, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	} else if (strcmp(what, "ssend") == 0) {
		OK(MPI_Issend(v, 1, MPI_INT, other, 7, MPI_COMM_WORLD, &r));
		refused();
		OK(MPI_Barrier(MPI_COMM_WORLD));
		OK(MPI_Recv(v + 1, 1, MPI_INT, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	} else if (strcmp(what, "bsend") == 0) { /* in a buffer that is not detached */
		char *buffer = malloc(4096);
		OK(MPI_Buffer_attach(buffer, 4096));
		OK(MPI_Bsend(v, 1, MPI_INT, other, 7, MPI_COMM_WORLD));
	} else if (strcmp(what, "message") == 0) { /* found by MPI_Mprobe */
		OK(MPI_Isend(v, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, &r));
		OK(MPI_Mprobe(rank, 7, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE));
		refused();
		OK(MPI_Mrecv(v + 1, 1, MPI_INT, &m, MPI_STATUS_IGNORE));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	} else if (strcmp(what, "persistent") == 0) {
		OK(MPI_Recv_init(v, 1, MPI_INT, other, 7, MPI_COMM_WORLD, &r));
		OK(MPI_Start(&r));
		OK(MPI_Send_init(v, 1, MPI_INT, other, 8, MPI_COMM_WORLD, &q)); /* inactive */
		refused();
		OK(MPI_Cancel(&r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	} else if (strcmp(what, "completed") == 0) { /* complete, but not waited for */
		OK(MPI_Irecv(v + 1, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &r));
		OK(MPI_Isend(v, 1, MPI_INT, other, 7, MPI_COMM_WORLD, &q));
		for (flag = 0; !flag;) OK(MPI_Request_get_status_all(2, (MPI_Request[]){r, q}, &flag, MPI_STATUSES_IGNORE));
	} else if (strcmp(what, "collective") == 0) { /* not all members have started it */
		if (rank == 0) {
			OK(MPI_Ibarrier(MPI_COMM_WORLD, &r));
			refused();
			OK(MPI_Send(v, 1, MPI_INT, 1, 7, MPI_COMM_WORLD));
		} else {
			OK(MPI_Recv(v, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
			OK(MPI_Ibarrier(MPI_COMM_WORLD, &r));
		}
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	} else if (strcmp(what, "objects") == 0) { /* not freed */
		MPI_Datatype t;
		MPI_Group g;
		OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
		OK(MPI_Comm_split(c, rank, 0, &c));
		OK(MPI_Type_contiguous(3, MPI_INT, &t));
		OK(MPI_Comm_group(c, &g));
	} else if (strcmp(what, "window") == 0) { /* not freed */
		OK(MPI_Win_create(v, sizeof v, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w));
		OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w));
		OK(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_SELF, &base, &w));
		OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w));
		OK(MPI_Win_attach(w, many, sizeof many));
	} else if (strcmp(what, "lock") == 0) { /* neither unlocked nor the window freed */
		OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w));
		OK(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, w));
		OK(MPI_Put(v, 1, MPI_INT, other, 0, 1, MPI_INT, w));
		OK(MPI_Rget(v + 1, 1, MPI_INT, other, 0, 1, MPI_INT, w, &r));
	} else if (strcmp(what, "fence") == 0) {
		OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w));
		OK(MPI_Win_fence(0, w));
		OK(MPI_Put(v, 1, MPI_INT, other, 0, 1, MPI_INT, w));
	} else if (strcmp(what, "post") == 0) {
		MPI_Group g;
		OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w));
		OK(MPI_Win_get_group(w, &g));
		OK(MPI_Win_post(g, 0, w));
		OK(MPI_Win_start(g, 0, w));
		OK(MPI_Put(v, 1, MPI_INT, other, 0, 1, MPI_INT, w));
	} else if (strcmp(what, "win_free_in_epoch") == 0) {
		OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w));
		OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
		OK(MPI_Win_lock_all(0, w));
		FAILS(MPI_Win_free(&w), MPI_ERR_RMA_SYNC);
		OK(MPI_Win_unlock_all(w));
		OK(MPI_Win_free(&w));
	} else if (strcmp(what, "nothing") != 0) {
		fprintf(stderr, "what is %s?\n", what);
		return 99;
	}
	OK(MPI_Finalize());
	MPI_Finalized(&flag);
	if (!flag) wrong++;
	if (wrong == 0 && rank == 0) puts("no errors");
	return wrong != 0;
}
