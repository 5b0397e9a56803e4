/* Queries of the environment, and classes and texts of errors. The version is a constant for the
 * preprocessor, too (ENV-01, CST-10, E2-01), the call gives the same at any time (ENV-02), and
 * MPI_Pcontrol does nothing (PMP-04). */
#include "check.h"

#if MPI_VERSION < 5 || MPI_SUBVERSION < 0
#error "the version"
#endif

/* constants of the compiler */
static const int constants[] = {MPI_VERSION, MPI_SUBVERSION};

int main(int argc, char **argv) {
	int flag = -1, level = -1, main_ = -1, version, sub, len = -1, code, c, *value;
	MPI_Initialized(&flag);
	CHECK(flag == 0, "initialised before");
	MPI_Get_version(&version, &sub);
	CHECK(version == constants[0] && sub == constants[1], "%d.%d", version, sub);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	CHECK(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE, "%d", level);
	OK(MPI_Query_thread(&flag));
	CHECK(flag == level, "%d, then %d", level, flag);
	OK(MPI_Is_thread_main(&main_));
	CHECK(main_, "this is the main thread");
	OK(MPI_Initialized(&flag));
	CHECK(flag, "not initialised");
	OK(MPI_Finalized(&flag));
	CHECK(!flag, "finalised");
	char name[MPI_MAX_PROCESSOR_NAME], library[MPI_MAX_LIBRARY_VERSION_STRING], text[MPI_MAX_ERROR_STRING];
	OK(MPI_Get_processor_name(name, &len));
	CHECK(len > 0 && (size_t)len == strlen(name), "%d", len);
	OK(MPI_Get_library_version(library, &len));
	CHECK(len > 0 && (size_t)len == strlen(library), "%d", len);
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
	CHECK(flag && *value >= 32767, "largest tag");
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag));
	CHECK(!flag || *value == 0 || *value == 1, "%d", *value);
	for (int k = 0; k < 3; k++) OK(MPI_Pcontrol(k, "further arguments", 7));
	double t = MPI_Wtime();
	CHECK(MPI_Wtime() >= t && MPI_Wtick() > 0 && MPI_Wtick() < 1, "the clock");

	for (int k = MPI_SUCCESS; k <= MPI_ERR_OTHER; k++) {
		if (MPI_Error_string(k, text, &len) != MPI_SUCCESS) continue;
		CHECK(len > 0 && (size_t)len == strlen(text), "%d", len);
		OK(MPI_Error_class(k, &c));
		CHECK(c == k, "class %d of class %d", c, k);
	}
	OK(MPI_Add_error_class(&c));
	CHECK(c > MPI_ERR_LASTCODE, "%d", c);
	OK(MPI_Add_error_code(c, &code));
	OK(MPI_Add_error_string(code, "the milk is off"));
	OK(MPI_Error_string(code, text, &len));
	CHECK(strcmp(text, "the milk is off") == 0, "%s", text);
	CHECK(class_of(code) == c, "%d", class_of(code));
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
	CHECK(flag && *value > MPI_ERR_LASTCODE, "last used code %d", *value);
	FAILS(MPI_Send(&c, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
	FAILS(MPI_Send(&c, 1, MPI_INT, 0, -5, MPI_COMM_WORLD), MPI_ERR_TAG);
	FAILS(MPI_Send(&c, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
	FAILS(MPI_Send(&c, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
	OK(MPI_Send(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, MPI_COMM_WORLD)); /* no elements need no type */
	FAILS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
	OK(MPI_Get_version(&version, &sub));
	CHECK(version == MPI_VERSION && sub == MPI_SUBVERSION, "%d.%d while MPI is initialised", version, sub);
	int status = done();
	version = sub = -1;
	if (MPI_Get_version(&version, &sub) != MPI_SUCCESS || version != MPI_VERSION || sub != MPI_SUBVERSION) {
		fprintf(stderr, "%d.%d after MPI_Finalize\n", version, sub);
		return 1;
	}
	return status;
}
