/* Errors without a file: handles that are none, the default error handler of files, and what the system
 * refuses. */
#include "check.h"
#include <unistd.h>

static int calls, here; /* of the handler, and the class that it got last */

static void on_none(MPI_File *f, int *code, ...) {
	calls++;
	here = class_of(*code);
	CHECK(*f == MPI_FILE_NULL, "a file");
}

int main(int argc, char **argv) {
	char dir[100], name[128];
	int v = 0, before;
	MPI_File f = MPI_FILE_NULL;
	MPI_Errhandler h, got;
	begin(&argc, &argv);
	snprintf(dir, sizeof dir, "/tmp/conformance-errors-%d", (int)getpid());
	OK(MPI_Bcast(dir, sizeof dir, MPI_CHAR, 0, MPI_COMM_WORLD));
	snprintf(name, sizeof name, "%s/x", dir);

	/* The default handler returns errors, until another one is set. It is that of the null file. */
	OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
	CHECK(got == MPI_ERRORS_RETURN, "%p", (void *)got);
	OK(MPI_File_create_errhandler(on_none, &h));
	OK(MPI_File_set_errhandler(MPI_FILE_NULL, h));
	OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
	CHECK(got == h, "another handler");
	OK(MPI_Errhandler_free(&got));
	OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_NO_SPACE));
	CHECK(calls == 1 && here == MPI_ERR_NO_SPACE, "%d calls, class %d", calls, here);
#define NONE(call, class) \
	before = calls; \
	FAILS(call, class); \
	CHECK(calls == before + 1 && here == class, "%d calls, class %d", calls - before, here);
	NONE(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_ERR_NO_SUCH_FILE)
	NONE(MPI_File_open(MPI_COMM_WORLD, "/tmp", MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_ERR_BAD_FILE)
	NONE(MPI_File_open(MPI_COMM_WORLD, "/dev/null/x", MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_ERR_BAD_FILE)
	NONE(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE)
	NONE(MPI_File_read(MPI_FILE_NULL, &v, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_FILE)
	NONE(MPI_File_sync(MPI_FILE_NULL), MPI_ERR_FILE)
	NONE(MPI_File_close(&f), MPI_ERR_FILE)
	OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
	OK(MPI_Errhandler_free(&h));

	/* A disk without room. */
	if (access("/dev/full", W_OK) == 0) {
		OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_RDWR, MPI_INFO_NULL, &f));
		FAILS(MPI_File_write_at(f, 0, &v, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
		OK(MPI_File_close(&f));
	}
	return done();
}
