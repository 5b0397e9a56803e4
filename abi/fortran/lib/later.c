/*
 * later.c: copies of sections for operations that go on after the call. The request moves the data by
 * hooks: into the copies before each start, if it is persistent, and out of them when the operation is
 * complete. The sections must stay where they are until then, as any buffer.
 */
#include "section.h"
#include "halo_fortran.h"

struct later {
	int views;
	struct halo_view view[2];
	struct section section[2];
	char *first[2];
};

static void start(void *p) {
	struct later *l = p;
	for (int k = 0; k < l->views; k++)
		halo_move(&l->section[k], l->first[k], l->view[k].copy, l->view[k].bytes, 0);
}

static void complete(void *p) {
	struct later *l = p;
	for (int k = 0; k < l->views; k++)
		if (l->view[k].flow & HALO_OUT)
			halo_move(&l->section[k], l->first[k], l->view[k].copy, l->view[k].bytes, 1);
}

static void end(void *p) {
	struct later *l = p;
	for (int k = 0; k < l->views; k++)
		free(l->view[k].copy);
	free(l);
}

int halo_can_wait(void) { return MPIX_Request_add_hooks != NULL; }

void halo_view_later(int code, MPI_Request request, int persistent, struct halo_view *a, struct halo_view *b) {
	struct halo_view *both[2] = {a, b};
	struct later *l = NULL;
	for (int k = 0; k < 2; k++) {
		struct halo_view *v = both[k];
		if (!v || !v->used || !v->copy) {
			if (v && v->used)
				halo_view_end(v);
			continue;
		}
		if (!l) {
			l = halo_malloc(sizeof *l);
			l->views = 0;
		}
		/* The descriptor is gone when the call returns. */
		halo_simplify(&l->section[l->views], v->section);
		l->first[l->views] = halo_first(v->section);
		l->view[l->views++] = *v;
	}
	if (!l)
		return;
	if (code != MPI_SUCCESS)
		end(l);
	else if (request == MPI_REQUEST_NULL || MPIX_Request_add_hooks(request, persistent ? start : NULL, complete, end, l) != MPI_SUCCESS) {
		complete(l);
		end(l);
	}
}
