/* The parts of a status (X-P2P-04): MPI_Status_get_ and MPI_Status_set_, and MPI_Request_get_status_all, _any and _some,
 * which leave the requests, also inactive and null ones, and make progress. Every call that has a status or statuses
 * takes MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE (ST-05). */
#include "check.h"
#include <unistd.h>

enum { longer = 1 << 20 };

static void parts(void) {
	MPI_Status s, t;
	int v = -1;
	for (int k = -2; k < 3; k++) {
		OK(MPI_Status_set_source(&s, k));
		OK(MPI_Status_set_tag(&s, 10 + k));
		OK(MPI_Status_set_error(&s, MPI_ERR_TRUNCATE));
		CHECK(s.MPI_SOURCE == k && s.MPI_TAG == 10 + k && s.MPI_ERROR == MPI_ERR_TRUNCATE, "%d, %d, %d", s.MPI_SOURCE, s.MPI_TAG, s.MPI_ERROR);
		t = s;
		OK(MPI_Status_get_source(&t, &v));
		CHECK(v == k, "source %d, not %d", v, k);
		OK(MPI_Status_get_tag(&t, &v));
		CHECK(v == 10 + k, "tag %d, not %d", v, 10 + k);
		OK(MPI_Status_get_error(&t, &v));
		CHECK(v == MPI_ERR_TRUNCATE, "error %d", v);
	}
	/* the number of elements and the mark of a cancelled operation are kept */
	OK(MPI_Status_set_elements(&s, MPI_INT, 7));
	OK(MPI_Status_set_cancelled(&s, 1));
	OK(MPI_Status_set_source(&s, 5));
	OK(MPI_Status_set_tag(&s, 6));
	OK(MPI_Status_set_error(&s, MPI_SUCCESS));
	OK(MPI_Get_count(&s, MPI_INT, &v));
	CHECK(v == 7, "%d elements", v);
	OK(MPI_Test_cancelled(&s, &v));
	CHECK(v, "not cancelled");
	FAILS(MPI_Status_get_source(&s, NULL), MPI_ERR_ARG);
	/* of a message */
	OK(MPI_Sendrecv(&v, 1, MPI_INT, (rank + 1) % size, 21, &v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s));
	OK(MPI_Status_get_source(&s, &v));
	CHECK(v == (rank + size - 1) % size, "source %d", v);
	OK(MPI_Status_get_tag(&s, &v));
	CHECK(v == 21, "tag %d", v);
}

/* Rank 0 receives from rank 1 three messages, of which the second is long; request 1 is null and request 3 inactive. */
static void several(void) {
	static char one[1], many[longer], three[1], none[1];
	MPI_Request r[5];
	MPI_Status s[5];
	int flag = -1, index = -1, n = -1, list[5], go = 1;
	if (rank > 1) return;
	if (rank == 1) {
		one[0] = 1;
		memset(many, 2, longer);
		OK(MPI_Recv(&go, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		OK(MPI_Send(one, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD));
		OK(MPI_Recv(&go, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		OK(MPI_Send(many, longer, MPI_CHAR, 0, 2, MPI_COMM_WORLD));
		OK(MPI_Send(three, 1, MPI_CHAR, 0, 3, MPI_COMM_WORLD));
		return;
	}
	OK(MPI_Irecv(one, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &r[0]));
	r[1] = MPI_REQUEST_NULL;
	OK(MPI_Irecv(many, longer, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &r[2]));
	OK(MPI_Recv_init(none, 1, MPI_CHAR, 1, 4, MPI_COMM_WORLD, &r[3]));
	OK(MPI_Irecv(three, 1, MPI_CHAR, 1, 3, MPI_COMM_WORLD, &r[4]));
	OK(MPI_Request_get_status_all(5, r, &flag, s));
	CHECK(!flag, "nothing was sent");
	OK(MPI_Request_get_status_any(5, r, &index, &flag, s));
	CHECK(!flag && index == MPI_UNDEFINED, "%d, index %d", flag, index);
	OK(MPI_Request_get_status_some(5, r, &n, list, s));
	CHECK(n == 0, "%d are complete", n);
	OK(MPI_Send(&go, 1, MPI_INT, 1, 9, MPI_COMM_WORLD));
	for (flag = 0; !flag;) OK(MPI_Request_get_status_any(5, r, &index, &flag, s));
	CHECK(index == 0 && s[0].MPI_SOURCE == 1 && s[0].MPI_TAG == 1 && r[0] != MPI_REQUEST_NULL, "index %d, tag %d", index, s[0].MPI_TAG);
	OK(MPI_Request_get_status_some(5, r, &n, list, s));
	CHECK(n == 1 && list[0] == 0 && s[0].MPI_TAG == 1, "%d, first %d", n, list[0]);
	OK(MPI_Request_get_status_all(5, r, &flag, s));
	CHECK(!flag, "two were not sent");
	OK(MPI_Send(&go, 1, MPI_INT, 1, 9, MPI_COMM_WORLD));
	for (flag = 0; !flag;) OK(MPI_Request_get_status_all(5, r, &flag, s)); /* which receives the long one */
	CHECK(s[0].MPI_TAG == 1 && s[2].MPI_TAG == 2 && s[4].MPI_TAG == 3, "tags %d, %d, %d", s[0].MPI_TAG, s[2].MPI_TAG, s[4].MPI_TAG);
	CHECK(s[1].MPI_SOURCE == MPI_ANY_SOURCE && s[1].MPI_TAG == MPI_ANY_TAG && s[3].MPI_SOURCE == MPI_ANY_SOURCE, "no empty statuses");
	OK(MPI_Get_count(&s[2], MPI_CHAR, &n));
	CHECK(n == longer && many[longer - 1] == 2, "%d, %d", n, many[longer - 1]);
	OK(MPI_Request_get_status_some(5, r, &n, list, MPI_STATUSES_IGNORE));
	CHECK(n == 3 && list[0] == 0 && list[1] == 2 && list[2] == 4, "%d: %d, %d, %d", n, list[0], list[1], list[2]);
	OK(MPI_Request_get_status_all(5, r, &flag, MPI_STATUSES_IGNORE));
	CHECK(flag, "all were complete");
	OK(MPI_Request_get_status_any(5, r, &index, &flag, MPI_STATUS_IGNORE));
	CHECK(flag && index == 0, "index %d", index);
	OK(MPI_Waitall(5, r, s)); /* the requests are still there */
	CHECK(s[0].MPI_TAG == 1 && r[0] == MPI_REQUEST_NULL && r[3] != MPI_REQUEST_NULL, "tag %d", s[0].MPI_TAG);
	OK(MPI_Request_get_status_some(5, r, &n, list, s));
	CHECK(n == MPI_UNDEFINED, "%d of none that is active", n);
	OK(MPI_Request_get_status_all(5, r, &flag, s));
	CHECK(flag, "none is active");
	OK(MPI_Request_get_status_any(5, r, &index, &flag, s));
	CHECK(flag && index == MPI_UNDEFINED, "index %d of none that is active", index);
	FAILS(MPI_Request_get_status_all(-1, r, &flag, s), MPI_ERR_ARG);
	OK(MPI_Request_free(&r[3]));
}

static void begun(MPI_Request r[2], int v[2]) {
	for (int k = 0; k < 2; k++) {
		OK(MPI_Isend(&rank, 1, MPI_INT, rank, k, MPI_COMM_WORLD, &r[k]));
		OK(MPI_Recv(&v[k], 1, MPI_INT, rank, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	}
}

static void ignored(void) {
	MPI_Request r[2];
	MPI_Message m;
	MPI_File f;
	int v[2], flag, index, n, list[2];
	char name[64];
	OK(MPI_Sendrecv(&rank, 1, MPI_INT, rank, 0, v, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	OK(MPI_Sendrecv_replace(v, 1, MPI_INT, rank, 0, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	begun(r, v); OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE)); OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
	begun(r, v);
	for (int k = 0; k < 2; k++)
		for (flag = 0; !flag;) OK(MPI_Test(&r[k], &flag, MPI_STATUS_IGNORE));
	begun(r, v); OK(MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE)); OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	begun(r, v);
	for (flag = 0; !flag;) OK(MPI_Testany(2, r, &index, &flag, MPI_STATUS_IGNORE));
	for (flag = 0; !flag;) OK(MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE));
	begun(r, v);
	for (int left = 2; left > 0; left -= n) OK(MPI_Waitsome(2, r, &n, list, MPI_STATUSES_IGNORE));
	begun(r, v);
	for (int left = 2; left > 0; left -= n) OK(MPI_Testsome(2, r, &n, list, MPI_STATUSES_IGNORE));
	begun(r, v);
	OK(MPI_Request_get_status(r[0], &flag, MPI_STATUS_IGNORE));
	OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));

	OK(MPI_Isend(&rank, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &r[0]));
	OK(MPI_Probe(rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	OK(MPI_Iprobe(rank, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
	CHECK(flag, "no message");
	OK(MPI_Mprobe(rank, 5, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE));
	OK(MPI_Mrecv(v, 1, MPI_INT, &m, MPI_STATUS_IGNORE));
	OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
	OK(MPI_Isend(&rank, 1, MPI_INT, rank, 6, MPI_COMM_WORLD, &r[0]));
	for (flag = 0; !flag;) OK(MPI_Improbe(rank, 6, MPI_COMM_WORLD, &flag, &m, MPI_STATUS_IGNORE));
	OK(MPI_Imrecv(v, 1, MPI_INT, &m, &r[1]));
	OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));

	snprintf(name, sizeof name, "/tmp/conformance-status-%d", (int)getpid());
	OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
	OK(MPI_File_write(f, v, 2, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_write_all(f, v, 2, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_write_at(f, 0, v, 2, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_write_at_all(f, 0, v, 2, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_write_shared(f, v, 2, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_write_ordered(f, v, 2, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_write_all_begin(f, v, 2, MPI_INT));
	OK(MPI_File_write_all_end(f, v, MPI_STATUS_IGNORE));
	OK(MPI_File_write_at_all_begin(f, 0, v, 2, MPI_INT));
	OK(MPI_File_write_at_all_end(f, v, MPI_STATUS_IGNORE));
	OK(MPI_File_write_ordered_begin(f, v, 2, MPI_INT));
	OK(MPI_File_write_ordered_end(f, v, MPI_STATUS_IGNORE));
	OK(MPI_File_seek(f, 0, MPI_SEEK_SET));
	OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	OK(MPI_File_read(f, v, 2, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_read_all(f, v, 2, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_read_at(f, 0, v, 2, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_read_at_all(f, 0, v, 2, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_read_shared(f, v, 2, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_read_ordered(f, v, 2, MPI_INT, MPI_STATUS_IGNORE));
	OK(MPI_File_read_all_begin(f, v, 2, MPI_INT));
	OK(MPI_File_read_all_end(f, v, MPI_STATUS_IGNORE));
	OK(MPI_File_read_at_all_begin(f, 0, v, 2, MPI_INT));
	OK(MPI_File_read_at_all_end(f, v, MPI_STATUS_IGNORE));
	OK(MPI_File_read_ordered_begin(f, v, 2, MPI_INT));
	OK(MPI_File_read_ordered_end(f, v, MPI_STATUS_IGNORE));
	OK(MPI_File_close(&f));
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	parts();
	several();
	ignored();
	return done();
}
