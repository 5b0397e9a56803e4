/* In a file that is opened with MPI_MODE_SEQUENTIAL only the shared file pointer may be used: each call with an explicit
 * offset, or the individual pointer, is MPI_ERR_UNSUPPORTED_OPERATION, and has no effect (IO-08). */
#include "check.h"
#include <unistd.h>

#define REFUSED(call) FAILS(call, MPI_ERR_UNSUPPORTED_OPERATION)

int main(int argc, char **argv) {
	MPI_File f;
	MPI_Request r;
	MPI_Offset at, bytes;
	MPI_Status s;
	int v[2] = {3, 4}, n;
	char name[64];
	begin(&argc, &argv);
	snprintf(name, sizeof name, "/tmp/conformance-sequential-%d", (int)getpid());
	OK(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD));
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &f));
	REFUSED(MPI_File_write_at(f, 0, v, 2, MPI_INT, &s));
	REFUSED(MPI_File_write_at_all(f, 0, v, 2, MPI_INT, &s));
	REFUSED(MPI_File_iwrite_at(f, 0, v, 2, MPI_INT, &r));
	OK(MPI_File_iwrite_at_all(f, 0, v, 2, MPI_INT, &r)); /* the error of a collective is that of its end */
	REFUSED(MPI_Wait(&r, &s));
	OK(MPI_File_write_at_all_begin(f, 0, v, 2, MPI_INT));
	REFUSED(MPI_File_write_at_all_end(f, v, &s));
	REFUSED(MPI_File_write(f, v, 2, MPI_INT, &s));
	REFUSED(MPI_File_write_all(f, v, 2, MPI_INT, &s));
	REFUSED(MPI_File_seek(f, 0, MPI_SEEK_SET));
	REFUSED(MPI_File_get_position(f, &at));
	REFUSED(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	REFUSED(MPI_File_get_position_shared(f, &at));
	OK(MPI_File_get_size(f, &bytes));
	CHECK(bytes == 0, "%lld bytes were written by calls that were refused", (long long)bytes);
	OK(MPI_File_write_ordered(f, v, 2, MPI_INT, &s));
	OK(MPI_File_close(&f));
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
	REFUSED(MPI_File_read_at(f, 0, v, 2, MPI_INT, &s));
	REFUSED(MPI_File_read_at_all(f, 0, v, 2, MPI_INT, &s));
	REFUSED(MPI_File_iread_at(f, 0, v, 2, MPI_INT, &r));
	OK(MPI_File_iread_at_all(f, 0, v, 2, MPI_INT, &r)); /* the error of a collective is that of its end */
	REFUSED(MPI_Wait(&r, &s));
	OK(MPI_File_read_at_all_begin(f, 0, v, 2, MPI_INT));
	REFUSED(MPI_File_read_at_all_end(f, v, &s));
	REFUSED(MPI_File_read(f, v, 2, MPI_INT, &s));
	REFUSED(MPI_File_read_all(f, v, 2, MPI_INT, &s));
	v[0] = v[1] = -1;
	OK(MPI_File_read_ordered(f, v, 2, MPI_INT, &s));
	OK(MPI_Get_count(&s, MPI_INT, &n));
	CHECK(n == 2 && v[0] == 3 && v[1] == 4, "%d: %d, %d", n, v[0], v[1]);
	OK(MPI_File_close(&f));
	return done();
}
