/* Procedures that MPI-3.0 removed and the standard ABI does not have are in a library of their own,
 * and do the same as their replacements (DEP-01, DEP-02, DEP-03). Link with -lmpi_compat. */
#include "check.h"
#ifdef MPI_ABI_VERSION
#include <mpi_compat.h>
#endif

static int called;

static void handler(MPI_Comm *comm, int *code, ...) {
	called = *comm == MPI_COMM_SELF && class_of(*code) == MPI_ERR_RANK;
}

static void same(MPI_Datatype old, MPI_Datatype now, int line) {
	MPI_Aint a[4], b[4];
	int x = 0, y = 0;
	OK(MPI_Type_size(old, &x));
	OK(MPI_Type_size(now, &y));
	OK(MPI_Type_get_extent(old, &a[0], &a[1]));
	OK(MPI_Type_get_extent(now, &b[0], &b[1]));
	OK(MPI_Type_get_true_extent(old, &a[2], &a[3]));
	OK(MPI_Type_get_true_extent(now, &b[2], &b[3]));
	CHECK(x == y && memcmp(a, b, sizeof a) == 0, "line %d: the deprecated type is not that of its replacement", line);
	MPI_Aint e, l, u;
	OK(MPI_Type_extent(old, &e));
	OK(MPI_Type_lb(old, &l));
	OK(MPI_Type_ub(old, &u));
	CHECK(e == b[1] && l == b[0] && u == b[0] + b[1], "line %d: extent %ld from %ld to %ld", line, (long)e, (long)l, (long)u);
	OK(MPI_Type_free(&old));
	OK(MPI_Type_free(&now));
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int v[8], lengths[] = {2, 1, 3};
	MPI_Aint one = 0, two = 0, places[] = {16, 0, 40};
	OK(MPI_Address(v, &one));
	OK(MPI_Get_address(v, &two));
	CHECK(one == two, "address %lx, not %lx", (long)one, (long)two);

	MPI_Datatype old, now, types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
	OK(MPI_Type_hvector(3, 2, 20, MPI_INT, &old));
	OK(MPI_Type_create_hvector(3, 2, 20, MPI_INT, &now));
	same(old, now, __LINE__);
	OK(MPI_Type_hindexed(3, lengths, places, MPI_SHORT, &old));
	OK(MPI_Type_create_hindexed(3, lengths, places, MPI_SHORT, &now));
	same(old, now, __LINE__);
	OK(MPI_Type_struct(3, lengths, places, types, &old));
	OK(MPI_Type_create_struct(3, lengths, places, types, &now));
	same(old, now, __LINE__);

	int four[] = {1, 2, 1, 1};
	MPI_Aint at[] = {-8, 0, 12, 64};
	MPI_Datatype marked[] = {MPI_LB, MPI_INT, MPI_CHAR, MPI_UB}, plain;
	OK(MPI_Type_struct(4, four, at, marked, &old));
	OK(MPI_Type_create_struct(2, four + 1, at + 1, marked + 1, &plain));
	OK(MPI_Type_create_resized(plain, -8, 72, &now));
	same(old, now, __LINE__);
	OK(MPI_Type_struct(2, four + 2, at + 2, marked + 2, &old)); /* an upper bound alone */
	OK(MPI_Type_create_struct(1, four + 2, at + 2, marked + 2, &now));
	OK(MPI_Type_free(&plain));
	plain = now;
	OK(MPI_Type_create_resized(plain, 12, 52, &now));
	same(old, now, __LINE__);
	OK(MPI_Type_free(&plain));

	MPI_Datatype lower = MPI_LB;
	MPI_Aint ten = 10, lb, extent;
	int size, length;
	char name[MPI_MAX_OBJECT_NAME];
	OK(MPI_Type_create_struct(1, four, &ten, &lower, &old)); /* only a marker */
	OK(MPI_Type_size(old, &size));
	OK(MPI_Type_get_extent(old, &lb, &extent));
	CHECK(size == 0 && lb == 10 && extent == -10, "size %d, lb %ld, extent %ld", size, (long)lb, (long)extent);
	OK(MPI_Type_free(&old));
	OK(MPI_Type_get_name(MPI_UB, name, &length));
	CHECK(length == 6 && strcmp(name, "MPI_UB") == 0, "MPI_UB is named %s", name);
	OK(MPI_Type_get_name(MPI_SHORT, name, &length));
	CHECK(length == 9 && strcmp(name, "MPI_SHORT") == 0, "MPI_SHORT is named %s", name);
	FAILS(MPI_Type_get_name(MPI_LB, NULL, &length), MPI_ERR_ARG);
	FAILS(MPI_Type_struct(-1, four, at, marked, &old), MPI_ERR_COUNT);
	FAILS(MPI_Type_ub(MPI_INT, NULL), MPI_ERR_ARG);

	MPI_Errhandler h, back;
	OK(MPI_Errhandler_create(handler, &h));
	OK(MPI_Errhandler_set(MPI_COMM_SELF, h));
	OK(MPI_Errhandler_get(MPI_COMM_SELF, &back));
	CHECK(back == h, "another handler came back");
	MPI_Send(v, 1, MPI_INT, 77, 0, MPI_COMM_SELF);
	CHECK(called, "the handler was not called");
	OK(MPI_Errhandler_set(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	OK(MPI_Errhandler_free(&h));
	OK(MPI_Errhandler_free(&back));

	int class, code, gone;
	char text[MPI_MAX_ERROR_STRING];
	OK(MPI_Add_error_class(&class));
	OK(MPI_Add_error_code(class, &code));
	OK(MPI_Add_error_string(code, "a text"));
	OK(MPIX_Delete_error_string(code));
	OK(MPI_Error_string(code, text, &length));
	CHECK(strcmp(text, "a text") != 0, "the text of a code is still there");
	OK(MPIX_Delete_error_code(code));
	OK(MPIX_Delete_error_class(class));
	gone = MPIX_Delete_error_class(class);
	CHECK(gone != MPI_SUCCESS, "a class is removed twice");

	MPI_File f;
	MPIO_Request r = MPIO_REQUEST_NULL;
	OK(MPI_File_open(MPI_COMM_SELF, "/dev/zero", MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
	OK(MPI_File_iread_at(f, 0, &length, 1, MPI_INT, &r));
	OK(MPIO_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(length == 0 && r == MPIO_REQUEST_NULL, "read %d", length);
	OK(MPI_File_close(&f));
	return done();
}
