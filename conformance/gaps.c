/* What the reports of others name as their gaps to MPI-5 (X-CONF-01): counts beyond INT_MAX in the
 * functions of statuses and of packed data (ompi#13989, ompi#13991), pairs of any types (ompi#13991), exscan on
 * an intercommunicator (ompi#13992), resources of the hardware (ompi#13994), hints of a window with their
 * defaults (ompi#13996), numbers of handles and the version of the ABI (ompi#14000), the version of MPI
 * (ompi#14001). */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int version, sub, flag, n = 0;
	OK(MPI_Get_version(&version, &sub));
	CHECK(version == 5 && MPI_VERSION == 5, "version %d", version);
	OK(MPI_Abi_get_version(&version, &sub));
	CHECK(version == MPI_ABI_VERSION && sub == MPI_ABI_SUBVERSION, "ABI %d.%d", version, sub);
	CHECK(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)) == MPI_COMM_WORLD, "the number of the world");

	MPI_Status s;
	MPI_Count large = 3000000000, got = 0;
	memset(&s, 0, sizeof s);
	OK(MPI_Status_set_elements_c(&s, MPI_INT, large));
	OK(MPI_Get_count_c(&s, MPI_INT, &got));
	CHECK(got == large, "%lld elements", (long long)got);
	OK(MPI_Get_count(&s, MPI_INT, &n));
	CHECK(n == MPI_UNDEFINED, "%d elements", n);
	OK(MPI_Get_elements_c(&s, MPI_INT, &got));
	CHECK(got == large, "%lld basic elements", (long long)got);
	OK(MPI_Pack_size_c(large, MPI_INT, MPI_COMM_WORLD, &got));
	CHECK(got >= 4 * large, "%lld bytes", (long long)got);
	OK(MPI_Pack_external_size_c("external32", large, MPI_INT, &got));
	CHECK(got == 4 * large, "%lld bytes", (long long)got);

	MPI_Datatype pair;
	int sizes[3], combiner;
	OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT64_T, &pair));
	CHECK(pair != MPI_DATATYPE_NULL, "no pair");
	if (pair != MPI_DATATYPE_NULL) {
		OK(MPI_Type_get_envelope(pair, &sizes[0], &sizes[1], &sizes[2], &combiner));
		CHECK(combiner == MPI_COMBINER_VALUE_INDEX, "combiner %d", combiner);
		struct { double value; int64_t place; } mine = {rank % 2, rank}, best;
		OK(MPI_Allreduce(&mine, &best, 1, pair, MPI_MAXLOC, MPI_COMM_WORLD));
		CHECK(best.value == 1 && best.place == 1, "%g at %lld", best.value, (long long)best.place);
	}

	MPI_Comm half, both;
	OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
	OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both));
	MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
	FAILS(MPI_Exscan(&rank, &n, 1, MPI_INT, MPI_SUM, both), MPI_ERR_COMM);
	FAILS(MPI_Scan(&rank, &n, 1, MPI_INT, MPI_SUM, both), MPI_ERR_COMM);
	OK(MPI_Comm_free(&both));
	OK(MPI_Comm_free(&half));

	MPI_Info info;
	OK(MPI_Get_hw_resource_info(&info));
	OK(MPI_Info_get_nkeys(info, &n));
	CHECK(n > 0, "no resources");
	OK(MPI_Info_free(&info));

	MPI_Win w;
	OK(MPI_Win_create(&n, sizeof n, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w));
	OK(MPI_Win_get_info(w, &info));
	const char *keys[] = {"no_locks", "accumulate_ordering", "accumulate_ops", "same_size", "same_disp_unit"};
	for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
		char value[64];
		int room = sizeof value;
		OK(MPI_Info_get_string(info, keys[k], &room, value, &flag));
		CHECK(flag, "no %s", keys[k]);
	}
	OK(MPI_Info_free(&info));
	OK(MPI_Win_free(&w));
	return done();
}
