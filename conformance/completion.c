/* Wait and Test for one, any, some and all requests; inactive and null ones among them. */
#include "check.h"

enum { n = 6 };

int main(int argc, char **argv) {
	begin(&argc, &argv);
	MPI_Request r[n];
	MPI_Status s[n];
	int v[n], index = -1, flag = 0, completed = 0, which[n];
	for (int round = 0; round < 6; round++) {
		if (rank == 1) {
			for (int i = 0; i < n; i++) {
				int w = 100 * round + i;
				OK(MPI_Send(&w, 1, MPI_INT, 0, i, MPI_COMM_WORLD));
			}
			continue;
		}
		if (rank != 0) continue;
		for (int i = 0; i < n; i++) {
			v[i] = -1;
			OK(MPI_Irecv(&v[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &r[i]));
		}
		switch (round) {
		case 0: OK(MPI_Waitall(n, r, s)); break;
		case 1:
			for (flag = 0; !flag;) OK(MPI_Testall(n, r, &flag, s));
			break;
		case 2:
			for (int k = 0; k < n; k++) {
				OK(MPI_Waitany(n, r, &index, &s[0]));
				CHECK(index >= 0 && index < n && s[0].MPI_TAG == index, "index %d, tag %d", index, s[0].MPI_TAG);
			}
			OK(MPI_Waitany(n, r, &index, &s[0]));
			CHECK(index == MPI_UNDEFINED, "index %d of no request", index);
			break;
		case 3:
			for (int k = 0; k < n;) {
				OK(MPI_Testany(n, r, &index, &flag, &s[0]));
				if (flag) k++;
			}
			OK(MPI_Testany(n, r, &index, &flag, &s[0]));
			CHECK(flag && index == MPI_UNDEFINED, "flag %d index %d of no request", flag, index);
			break;
		case 4:
			for (int k = 0; k < n; k += completed) {
				OK(MPI_Waitsome(n, r, &completed, which, s));
				CHECK(completed > 0 && completed <= n - k, "%d done", completed);
				for (int j = 0; j < completed; j++) CHECK(s[j].MPI_TAG == which[j], "tag %d at %d", s[j].MPI_TAG, which[j]);
			}
			OK(MPI_Waitsome(n, r, &completed, which, MPI_STATUSES_IGNORE));
			CHECK(completed == MPI_UNDEFINED, "%d of no requests", completed);
			break;
		case 5:
			for (int k = 0; k < n; k += completed) OK(MPI_Testsome(n, r, &completed, which, s));
			OK(MPI_Testsome(n, r, &completed, which, s));
			CHECK(completed == MPI_UNDEFINED, "%d of no requests", completed);
		}
		for (int i = 0; i < n; i++) {
			CHECK(v[i] == 100 * round + i, "%d in round %d, not %d", v[i], round, 100 * round + i);
			CHECK(r[i] == MPI_REQUEST_NULL, "request %d is left", i);
		}
	}
	/* Without a request the status is empty. */
	MPI_Request none = MPI_REQUEST_NULL;
	int count = -1;
	OK(MPI_Wait(&none, &s[0]));
	OK(MPI_Get_count(&s[0], MPI_INT, &count));
	CHECK(s[0].MPI_SOURCE == MPI_ANY_SOURCE && s[0].MPI_TAG == MPI_ANY_TAG && count == 0, "source %d tag %d count %d", s[0].MPI_SOURCE, s[0].MPI_TAG, count);
	OK(MPI_Test(&none, &flag, MPI_STATUS_IGNORE));
	CHECK(flag, "nothing is not complete");
	OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
	/* MPI_Request_get_status may be followed by MPI_Request_free, for a collective, too. */
	int one = 1, sum = 0;
	OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[0]));
	for (flag = 0; !flag;) OK(MPI_Request_get_status(r[0], &flag, MPI_STATUS_IGNORE));
	OK(MPI_Request_free(&r[0]));
	CHECK(r[0] == MPI_REQUEST_NULL && sum == size, "sum %d", sum);
	return done();
}
