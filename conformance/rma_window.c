/* Queries of a window: attributes, group, name, info; and its error handler. */
#include "check.h"

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Win w;
	MPI_Group all, g;
	MPI_Info info;
	MPI_Errhandler h;
	void *base;
	int memory[10], flag, *unit, *flavor, *model, result, len;
	MPI_Aint *bytes;
	char name[MPI_MAX_OBJECT_NAME];
	OK(MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w));
	OK(MPI_Win_get_attr(w, MPI_WIN_BASE, &base, &flag));
	CHECK(flag && base == memory, "base");
	OK(MPI_Win_get_attr(w, MPI_WIN_SIZE, &bytes, &flag));
	CHECK(flag && *bytes == sizeof memory, "size");
	OK(MPI_Win_get_attr(w, MPI_WIN_DISP_UNIT, &unit, &flag));
	CHECK(flag && *unit == 4, "unit");
	OK(MPI_Win_get_attr(w, MPI_WIN_CREATE_FLAVOR, &flavor, &flag));
	CHECK(flag && *flavor == MPI_WIN_FLAVOR_CREATE, "flavor");
	OK(MPI_Win_get_attr(w, MPI_WIN_MODEL, &model, &flag));
	CHECK(flag && (*model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE), "model");
	OK(MPI_Win_get_group(w, &g));
	OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
	OK(MPI_Group_compare(all, g, &result));
	CHECK(result == MPI_IDENT, "%d", result);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_free(&all));
	OK(MPI_Win_set_name(w, "a window"));
	OK(MPI_Win_get_name(w, name, &len));
	CHECK(len == 8 && strcmp(name, "a window") == 0, "%s", name);
	OK(MPI_Win_get_info(w, &info));
	OK(MPI_Win_set_info(w, info));
	OK(MPI_Info_free(&info));
	OK(MPI_Win_get_errhandler(w, &h));
	CHECK(h == MPI_ERRORS_ARE_FATAL, "another handler");
	OK(MPI_Errhandler_free(&h));
	OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	OK(MPI_Win_fence(0, w));
	FAILS(MPI_Put(memory, 1, MPI_INT, size, 0, 1, MPI_INT, w), MPI_ERR_RANK);
	FAILS(MPI_Put(memory, -1, MPI_INT, 0, 0, 1, MPI_INT, w), MPI_ERR_COUNT);
	FAILS(MPI_Put(memory, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, w), MPI_ERR_TYPE);
	OK(MPI_Win_fence(0, w));
	OK(MPI_Win_free(&w));
	return done();
}
