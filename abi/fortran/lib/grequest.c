/* grequest.c: generalized requests. Their procedures get the extra_state by value: it is the integer
 * that the program has passed, not the variable. */
#include "byhand.h"

typedef void(query_function)(MPI_Aint *, MPI_Fint *, MPI_Fint *);
typedef void(free_function)(MPI_Aint *, MPI_Fint *);
typedef void(cancel_function)(MPI_Aint *, MPI_Fint *, MPI_Fint *);

struct generalized {
	halo_function *query, *free, *cancel;
	MPI_Aint state;
};

static int query(void *p, MPI_Status *status) {
	struct generalized *g = p;
	MPI_Fint code = MPI_SUCCESS;
	MPI_Aint state = g->state;
	((query_function *)g->query)(&state, (MPI_Fint *)status, &code);
	return code;
}

static int release(void *p) {
	struct generalized *g = p;
	MPI_Fint code = MPI_SUCCESS;
	MPI_Aint state = g->state;
	((free_function *)g->free)(&state, &code);
	free(g);
	return code;
}

static int cancel(void *p, int complete) {
	struct generalized *g = p;
	MPI_Fint code = MPI_SUCCESS, flag = complete != 0;
	MPI_Aint state = g->state;
	((cancel_function *)g->cancel)(&state, &flag, &code);
	return code;
}

void pmpi_grequest_start_(halo_function *query_fn, halo_function *free_fn, halo_function *cancel_fn, MPI_Aint *state, MPI_Fint *request, MPI_Fint *ierror) {
	struct generalized *g = halo_malloc(sizeof *g);
	*g = (struct generalized){query_fn, free_fn, cancel_fn, *state};
	MPI_Request c = MPI_REQUEST_NULL;
	int code = MPI_Grequest_start(query, release, cancel, g, &c);
	if (code != MPI_SUCCESS)
		free(g);
	*request = out_MPI_Request(c);
	HALO_RETURN(code);
}
HALO_NAMES(grequest_start)
