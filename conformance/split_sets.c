/* Splits guided by process sets, of communicators of the world and of a session; keys; names of no set; and the hint
 * about the order of persistent collectives, which communicators keep (X-COM-01, X-PCL-01). */
#include "check.h"

static MPI_Info with(const char *key, const char *value) {
	MPI_Info i;
	OK(MPI_Info_create(&i));
	OK(MPI_Info_set(i, key, value));
	return i;
}

static void splits(MPI_Comm c) {
	int me, n, k;
	MPI_Comm d;
	MPI_Comm_rank(c, &me);
	MPI_Comm_size(c, &n);
	static const char *const sets[] = {"mpi://WORLD", "mpi://SELF", "halo://app/0", "no://such"};
	const int members[] = {n, 1, n, 0};
	for (int s = 0; s < 4; s++) {
		MPI_Info i = with("mpi_pset_name", sets[s]);
		OK(MPI_Comm_split_type(c, MPI_COMM_TYPE_RESOURCE_GUIDED, -me, i, &d));
		CHECK((d == MPI_COMM_NULL) == (members[s] == 0), "%s", sets[s]);
		if (d != MPI_COMM_NULL) {
			MPI_Comm_size(d, &k);
			CHECK(k == members[s], "%s has %d members", sets[s], k);
			MPI_Comm_rank(d, &k);
			CHECK(k == (members[s] == 1 ? 0 : n - 1 - me), "%s: rank %d becomes %d", sets[s], me, k);
			OK(MPI_Barrier(d));
			OK(MPI_Comm_free(&d));
		}
		OK(MPI_Info_set(i, "mpi_hw_resource_type", "mpi_shared_memory"));
		FAILS(MPI_Comm_split_type(c, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, i, &d), MPI_ERR_INFO);
		OK(MPI_Info_free(&i));
	}
}

int main(int argc, char **argv) {
	char value[8];
	int flag, in = 1, out[2] = {0, 0};
	MPI_Session s;
	MPI_Group g;
	MPI_Comm c;
	MPI_Info i;
	MPI_Request r[2];
	begin(&argc, &argv);
	splits(MPI_COMM_WORLD);
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
	OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &g));
	OK(MPI_Comm_create_from_group(g, "split_sets", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
	splits(c);
	OK(MPI_Group_free(&g));
	OK(MPI_Comm_free(&c));
	OK(MPI_Session_finalize(&s));

	for (int strict = 0; strict < 2; strict++) {
		MPI_Info hint = with("mpi_assert_strict_persistent_collective_ordering", "true");
		OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, strict ? hint : MPI_INFO_NULL, &c));
		OK(MPI_Info_free(&hint));
		OK(MPI_Comm_get_info(c, &i));
		OK(MPI_Info_get(i, "mpi_assert_strict_persistent_collective_ordering", 7, value, &flag));
		CHECK(flag && strcmp(value, strict ? "true" : "false") == 0, "%d %s", flag, value);
		OK(MPI_Info_free(&i));
		for (int k = 0; k < 2; k++) OK(MPI_Allreduce_init(&in, &out[k], 1, MPI_INT, MPI_SUM, c, MPI_INFO_NULL, &r[k]));
		for (int round = 0; round < 100; round++) { /* without the hint ranks start them in different orders */
			int k = strict ? 0 : rank % 2;
			out[0] = out[1] = 0;
			OK(MPI_Start(&r[k]));
			OK(MPI_Start(&r[1 - k]));
			OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
			CHECK(out[0] == size && out[1] == size, "%d and %d of %d", out[0], out[1], size);
		}
		for (int k = 0; k < 2; k++) OK(MPI_Request_free(&r[k]));
		OK(MPI_Comm_free(&c));
	}
	return done();
}
