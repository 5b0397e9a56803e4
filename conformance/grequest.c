/* A generalized request calls its functions: query and free once, cancel when asked. What the query
 * function stores as the error of the status is ignored (GRQ-07), and the call
 * that completes it takes the handle by value (E2-17). */
#include "check.h"

static int queried, freed, cancels;
static int query(void *state, MPI_Status *s) {
	queried++;
	MPI_Status_set_elements(s, MPI_INT, *(int *)state);
	MPI_Status_set_cancelled(s, 0);
	s->MPI_SOURCE = MPI_UNDEFINED;
	s->MPI_TAG = MPI_UNDEFINED;
	s->MPI_ERROR = MPI_ERR_TRUNCATE;
	return MPI_SUCCESS;
}
static int release(void *state) {
	(void)state;
	freed++;
	return MPI_SUCCESS;
}
static int cancel(void *state, int complete) {
	(void)state;
	(void)complete;
	cancels++;
	return MPI_SUCCESS;
}

int main(int argc, char **argv) {
	begin(&argc, &argv);
	int elements = 7, flag = 1, count = 0;
	MPI_Request r;
	MPI_Status s;
	OK(MPI_Grequest_start(query, release, cancel, &elements, &r));
	OK(MPI_Test(&r, &flag, &s));
	CHECK(!flag, "complete without being completed");
	OK(MPI_Cancel(&r));
	CHECK(cancels == 1, "%d cancels", cancels);
	OK(MPI_Grequest_complete(r));
	s.MPI_ERROR = MPI_ERR_TAG;
	OK(MPI_Wait(&r, &s));
	CHECK(s.MPI_ERROR == MPI_ERR_TAG, "the error of the status is %d", s.MPI_ERROR);
	OK(MPI_Get_count(&s, MPI_INT, &count));
	CHECK(count == 7 && queried == 1 && freed == 1 && r == MPI_REQUEST_NULL, "count %d, %d queries, %d frees", count, queried, freed);
	return done();
}
