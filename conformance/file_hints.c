/* INF-04: hints of the file that the environment variable ROMIO_HINTS names, which the program itself sets and unsets
 * after MPI_Init. Of equal keys the first counts, and keys of the program take precedence. */
#include "check.h"
#include <unistd.h>

static char name[64], hints[80], variable[96];

/* The value of a hint of a file that is opened now; "" if it has none. */
static const char *value(const char *key, MPI_Info given) {
	static char v[MPI_MAX_INFO_VAL];
	MPI_File f;
	MPI_Info info;
	int there, length = sizeof v;
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, given, &f));
	OK(MPI_File_get_info(f, &info));
	OK(MPI_Info_get_string(info, key, &length, v, &there));
	OK(MPI_Info_free(&info));
	OK(MPI_File_close(&f));
	return there ? v : "";
}

static void expect(const char *key, MPI_Info given, const char *want) {
	const char *got = value(key, given);
	CHECK(strcmp(got, want) == 0, "%s is %s, want %s", key, got, want);
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Info info;
	snprintf(name, sizeof name, "/tmp/conformance-hints-%d", (int)getpid());
	OK(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD));
	snprintf(hints, sizeof hints, "%s.hints", name);
	snprintf(variable, sizeof variable, "ROMIO_HINTS=%s", hints);
	if (rank == 0) {
		FILE *f = fopen(hints, "w");
		CHECK(f != NULL, "no file %s", hints);
		fputs("# cb_nodes 9\ncb_nodes 2\nstriping_unit 512\ncb_nodes 1\nromio_no_indep_rw true\n", f);
		fclose(f);
	}
	/* each value comes back */
	static const char *const keys[] = {"romio_ds_read", "romio_ds_write", "romio_cb_read", "romio_cb_write"};
	static const char *const values[] = {"enable", "disable", "automatic"};
	for (int k = 0; k < 4; k++)
		for (int v = 0; v < 3; v++) {
			OK(MPI_Info_create(&info));
			OK(MPI_Info_set(info, keys[k], values[v]));
			expect(keys[k], info, values[v]);
			OK(MPI_Info_free(&info));
		}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	expect("striping_unit", MPI_INFO_NULL, "");
	CHECK(setenv("ROMIO_HINTS", hints, 1) == 0, "setenv");
	expect("striping_unit", MPI_INFO_NULL, "512");
	expect("cb_nodes", MPI_INFO_NULL, "2");
	expect("romio_cb_write", MPI_INFO_NULL, "enable");
	expect("romio_cb_read", MPI_INFO_NULL, "enable");
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "cb_nodes", "1"));
	OK(MPI_Info_set(info, "romio_cb_write", "disable")); /* which romio_no_indep_rw overrules */
	expect("cb_nodes", info, "1");
	expect("romio_cb_write", info, "enable");
	OK(MPI_Info_set(info, "romio_no_indep_rw", "false"));
	expect("romio_cb_write", info, "disable");
	OK(MPI_Info_free(&info));
	CHECK(unsetenv("ROMIO_HINTS") == 0, "unsetenv");
	expect("striping_unit", MPI_INFO_NULL, "");
	CHECK(putenv(variable) == 0, "putenv");
	expect("striping_unit", MPI_INFO_NULL, "512");
	OK(MPI_Barrier(MPI_COMM_WORLD));
	if (rank == 0)
		unlink(hints);
	return done();
}
