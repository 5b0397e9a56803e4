/* Two jobs exchange messages, and share a window into which each stores (X-DYN-01, X-RMA-01): parents and children, or
 * a server and a client. A child that is told to aborts the whole family (ENV-07). A parent starts the program that is
 * its argument, itself if there is none. "serve SERVICE" publishes the name of a port, to which "call SERVICE" connects.
 * conformance/mixed is the same in Go, for either side. */
#include "check.h"
#include <time.h>
#include <unistd.h>

#define LONGEST 8000 /* elements of a message */

/* Messages of several lengths between each two ranks of both sides, and collectives. */
static void talk(MPI_Comm inter, int high) {
	int me, others;
	long out[LONGEST], in[LONGEST], sum = -1, first[2] = {0, 0};
	OK(MPI_Comm_rank(inter, &me));
	OK(MPI_Comm_remote_size(inter, &others));
	for (int r = 0; r < others; r++) {
		for (int n = 1; n <= LONGEST; n *= 20) {
			MPI_Status s;
			int got;
			long sent = 1000 * high + 10 * me + r, want = 1000 * !high + 10 * r + me;
			for (int i = 0; i < n; i++)
				out[i] = sent + i;
			OK(MPI_Sendrecv(out, n, MPI_LONG, r, n, in, LONGEST, MPI_LONG, r, n, inter, &s));
			OK(MPI_Get_count(&s, MPI_LONG, &got));
			CHECK(got == n && in[0] == want && in[n - 1] == want + n - 1, "%d of %d from %d: %ld to %ld", got, n, r, in[0], in[n - 1]);
		}
	}
	long one = me + 1;
	OK(MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, inter));
	CHECK(sum == others * (others + 1) / 2, "the sum of %d others is %ld", others, sum);
	if (!high && me == 0) first[0] = 7, first[1] = 8;
	OK(MPI_Bcast(first, 2, MPI_LONG, high ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, inter));
	CHECK(!high || (first[0] == 7 && first[1] == 8), "the root of the others sends %ld, %ld", first[0], first[1]);
}

static void share(MPI_Comm inter, int high, int abort) {
	MPI_Comm all, node;
	MPI_Win w;
	MPI_Aint bytes;
	int me, n, unit;
	long *mine, *theirs;
	talk(inter, high);
	OK(MPI_Intercomm_merge(inter, high, &all));
	OK(MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
	OK(MPI_Comm_rank(node, &me));
	OK(MPI_Comm_size(node, &n));
	OK(MPI_Win_allocate_shared(2 * sizeof *mine, sizeof *mine, MPI_INFO_NULL, node, &mine, &w));
	OK(MPI_Win_lock_all(0, w));
	mine[0] = 100 + me;
	OK(MPI_Win_sync(w));
	OK(MPI_Barrier(node));
	OK(MPI_Win_sync(w));
	for (int r = 0; r < n; r++) {
		OK(MPI_Win_shared_query(w, r, &bytes, &unit, &theirs));
		CHECK(bytes == 2 * sizeof *mine && theirs[0] == 100 + r, "rank %d of %d has %ld", r, n, theirs[0]);
	}
	long value = 200 + me;
	OK(MPI_Put(&value, 1, MPI_LONG, (me + 1) % n, 1, 1, MPI_LONG, w));
	OK(MPI_Win_flush_all(w));
	OK(MPI_Barrier(node));
	CHECK(mine[1] == 200 + (me + n - 1) % n, "the rank before %d has put %ld", me, mine[1]);
	OK(MPI_Win_unlock_all(w));
	OK(MPI_Win_free(&w));
	if (abort && me == n - 1) MPI_Abort(MPI_COMM_WORLD, 7);
	OK(MPI_Comm_disconnect(&node));
	OK(MPI_Comm_disconnect(&all));
	OK(MPI_Comm_disconnect(&inter));
}

/* The intercommunicator of a server with its client. */
static MPI_Comm served(const char *service) {
	MPI_Comm inter;
	char port[MPI_MAX_PORT_NAME] = "";
	if (rank == 0) {
		OK(MPI_Open_port(MPI_INFO_NULL, port));
		OK(MPI_Publish_name(service, MPI_INFO_NULL, port));
	}
	OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
	if (rank == 0) {
		OK(MPI_Unpublish_name(service, MPI_INFO_NULL, port));
		OK(MPI_Close_port(port));
	}
	return inter;
}

/* The intercommunicator of a client with its server, which it waits for. */
static MPI_Comm connected(const char *service) {
	MPI_Comm inter;
	char port[MPI_MAX_PORT_NAME] = "";
	while (rank == 0 && MPI_Lookup_name(service, MPI_INFO_NULL, port) != MPI_SUCCESS)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
	return inter;
}

int main(int argc, char **argv) {
	char self[4096] = "", *arguments[] = {NULL, NULL};
	MPI_Comm inter;
	begin(&argc, &argv);
	OK(MPI_Comm_get_parent(&inter));
	if (inter != MPI_COMM_NULL) {
		share(inter, 1, argc > 1 && !strcmp(argv[1], "abort"));
		MPI_Finalize();
		return wrong != 0;
	}
	if (argc > 2 && !strcmp(argv[1], "serve")) {
		share(served(argv[2]), 0, 0);
		return done();
	}
	if (argc > 2 && !strcmp(argv[1], "call")) {
		share(connected(argv[2]), 1, 0);
		return done();
	}
	if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 1;
	arguments[0] = argc > 2 ? argv[2] : NULL;
	OK(MPI_Comm_spawn(argc > 1 ? argv[1] : self, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
	share(inter, 0, 0);
	return done();
}
