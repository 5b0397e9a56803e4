/* Intercommunicators: creation by leaders over a peer communicator with traffic on it, queries,
 * messages, and communicators that are made from them. */
#include "check.h"

static int low;

/* Exchanges messages with all members of the remote group: each sends its rank in MPI_COMM_WORLD. */
static void talk(MPI_Comm c, const char *what) {
	int n, flag, me;
	OK(MPI_Comm_test_inter(c, &flag));
	OK(MPI_Comm_remote_size(c, &n));
	OK(MPI_Comm_rank(c, &me));
	CHECK(flag, "%s is no intercommunicator", what);
	MPI_Group remote, world;
	OK(MPI_Comm_remote_group(c, &remote));
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	MPI_Request r[16];
	for (int i = 0; i < n; i++)
		OK(MPI_Isend(&rank, 1, MPI_INT, i, me, c, &r[i]));
	for (int i = 0; i < n; i++) {
		int got = -1, want;
		MPI_Status s;
		OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c, &s));
		OK(MPI_Group_translate_ranks(remote, 1, &s.MPI_SOURCE, world, &want));
		CHECK(got == want && s.MPI_TAG == s.MPI_SOURCE, "%s: %d from rank %d, which is %d", what, got, s.MPI_SOURCE, want);
	}
	OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
	OK(MPI_Barrier(c));
	OK(MPI_Group_free(&remote));
	OK(MPI_Group_free(&world));
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	low = rank < size / 2;
	MPI_Comm local, c, d, peer;
	OK(MPI_Comm_split(MPI_COMM_WORLD, low, rank, &local));
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &peer));

	/* The leaders are the first ranks of the halves; peer_comm is not significant at other ranks. */
	int other = low ? size / 2 : 0, lead = rank == 0 || rank == size / 2, in = -1, flag, n, result;
	MPI_Request early = MPI_REQUEST_NULL;
	if (lead)
		OK(MPI_Isend(&rank, 1, MPI_INT, other, 8, peer, &early));
	OK(MPI_Intercomm_create(local, 0, lead ? peer : MPI_COMM_NULL, lead ? other : -7, 9, &c));
	if (lead) {
		OK(MPI_Recv(&in, 1, MPI_INT, other, 8, peer, MPI_STATUS_IGNORE));
		CHECK(in == other, "the message under way was %d", in);
		OK(MPI_Wait(&early, MPI_STATUS_IGNORE));
	}
	OK(MPI_Comm_size(c, &n));
	CHECK(n == (low ? size / 2 : size - size / 2), "local group of %d", n);
	OK(MPI_Comm_remote_size(c, &n));
	CHECK(n == (low ? size - size / 2 : size / 2), "remote group of %d", n);
	OK(MPI_Comm_test_inter(local, &flag));
	CHECK(!flag, "what split has made is an intercommunicator");
	MPI_Group none;
	FAILS(MPI_Comm_remote_group(local, &none), MPI_ERR_COMM);
	talk(c, "that of Intercomm_create");
	FAILS(MPI_Send(&rank, 1, MPI_INT, n, 0, c), MPI_ERR_RANK);

	/* Communicators made from an intercommunicator: a duplicate, splits, and merged groups. */
	OK(MPI_Comm_dup(c, &d));
	OK(MPI_Comm_compare(c, d, &result));
	CHECK(result == MPI_CONGRUENT, "a duplicate compares as %d", result);
	OK(MPI_Comm_compare(c, local, &result));
	CHECK(result == MPI_UNEQUAL, "an intracommunicator compares as %d", result);
	talk(d, "that of Comm_dup");
	OK(MPI_Comm_free(&d));
	int me;
	OK(MPI_Comm_rank(c, &me));
	OK(MPI_Comm_split(c, me % 2, -me, &d)); /* of groups of 2 and 3: {0} and {0, 2}, {1} and {1} */
	talk(d, "that of Comm_split");
	OK(MPI_Comm_free(&d));
	OK(MPI_Comm_split(c, low, 0, &d)); /* no color occurs in both groups */
	CHECK(d == MPI_COMM_NULL, "a split of one side is a communicator");
	for (int high = 0; high < 2; high++) {
		OK(MPI_Intercomm_merge(c, low == high, &d));
		OK(MPI_Comm_test_inter(d, &flag));
		OK(MPI_Comm_rank(d, &me));
		int want = high ? (low ? rank + size - size / 2 : rank - size / 2) : rank;
		CHECK(!flag && me == want, "merged, rank %d is %d, not %d", rank, me, want);
		OK(MPI_Comm_free(&d));
	}
	OK(MPI_Intercomm_merge(c, 1, &d)); /* the order of the groups is arbitrary */
	OK(MPI_Comm_compare(d, MPI_COMM_WORLD, &result));
	CHECK(result == MPI_CONGRUENT || result == MPI_SIMILAR, "merged, all compare as %d", result);
	OK(MPI_Comm_free(&d));
	OK(MPI_Comm_disconnect(&c));
	OK(MPI_Comm_free(&peer));
	OK(MPI_Comm_free(&local));
	return done();
}
