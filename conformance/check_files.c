/* What checking mode finds about files: data of other types than the view has (IO-19), and ends of split accesses
 * with another buffer, or by another thread, than their begin (IO-13). Without it there are no such errors
 * (Halo). */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

static MPI_File f;
static int buf[4], other[4], checks;

static void *ends(void *class) {
	*(int *)class = class_of(MPI_File_write_all_end(f, buf, MPI_STATUS_IGNORE));
	return NULL;
}

int main(int argc, char **argv) {
	char name[128];
	int provided, class = -1;
	double d = 0;
	pthread_t thread;
	MPI_Request r;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	checks = getenv("HALO_CHECK") != NULL;
	snprintf(name, sizeof name, "/tmp/conformance-check-%d", (int)getpid());
	OK(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD));
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));

	/* Bytes match any type. */
	OK(MPI_File_write_at(f, 0, &d, 1, MPI_DOUBLE, MPI_STATUS_IGNORE));
	OK(MPI_File_set_view(f, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
	OK(MPI_File_write_at(f, 0, &d, 1, MPI_DOUBLE, MPI_STATUS_IGNORE));
	OK(MPI_File_write_at(f, 0, &d, 8, MPI_BYTE, MPI_STATUS_IGNORE));
	class = class_of(MPI_File_write_at(f, 0, buf, 2, MPI_INT, MPI_STATUS_IGNORE));
	CHECK(class == (checks ? MPI_ERR_TYPE : MPI_SUCCESS), "class %d", class);
	class = class_of(MPI_File_read_all(f, buf, rank ? 2 : 1, rank ? MPI_INT : MPI_DOUBLE, MPI_STATUS_IGNORE));
	CHECK(class == (checks ? MPI_ERR_TYPE : MPI_SUCCESS), "class %d", class);
	OK(MPI_File_iread_at(f, 0, &d, 1, MPI_DOUBLE, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));

	/* Each family has its ends. */
	OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
#define PAIR(begin, end) \
	OK(begin); \
	if (checks) { \
		FAILS(end(f, other, MPI_STATUS_IGNORE), MPI_ERR_BUFFER); \
		FAILS(MPI_File_close(&f), MPI_ERR_REQUEST); \
	} \
	OK(end(f, buf, MPI_STATUS_IGNORE));
	PAIR(MPI_File_write_all_begin(f, buf, 4, MPI_INT), MPI_File_write_all_end)
	PAIR(MPI_File_write_at_all_begin(f, 4, buf, 4, MPI_INT), MPI_File_write_at_all_end)
	PAIR(MPI_File_write_ordered_begin(f, buf, 4, MPI_INT), MPI_File_write_ordered_end)
	PAIR(MPI_File_read_all_begin(f, buf, 4, MPI_INT), MPI_File_read_all_end)
	PAIR(MPI_File_read_at_all_begin(f, 0, buf, 4, MPI_INT), MPI_File_read_at_all_end)
	PAIR(MPI_File_read_ordered_begin(f, buf, 4, MPI_INT), MPI_File_read_ordered_end)

	/* The end of another access does not end this one, and a begin that fails changes nothing. */
	OK(MPI_File_write_all_begin(f, buf, 4, MPI_INT));
	FAILS(MPI_File_read_all_end(f, buf, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
	FAILS(MPI_File_write_all_begin(f, other, 4, MPI_INT), MPI_ERR_REQUEST);
	pthread_create(&thread, NULL, ends, &class);
	pthread_join(thread, NULL);
	CHECK(class == (checks ? MPI_ERR_OTHER : MPI_SUCCESS), "class %d", class);
	if (checks)
		OK(MPI_File_write_all_end(f, buf, MPI_STATUS_IGNORE));
	FAILS(MPI_File_write_all_end(f, buf, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
	OK(MPI_File_close(&f));
	return done();
}
