/*
 * glue.h: what the C functions behind Fortran's procedures share. A function converts its arguments,
 * calls the procedure of C, and converts the results. An INTEGER is an int and a status of Fortran is
 * one of C; a LOGICAL is an int that is 0 or 1.
 *
 * The functions have the names pmpi_x_, and weak ones mpi_x_, so that a tool can replace the latter
 * and call the former. Both call MPI_X: a tool in C sees each call once.
 */
#ifndef HALO_GLUE_H
#define HALO_GLUE_H

#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "descriptor.h"

#define HALO_HIDDEN __attribute__((visibility("hidden")))
#define HALO_ALIAS(name, function) extern __typeof__(function) name __attribute__((weak, alias(#function)));

/* Ends a function. ierror is OPTIONAL in mpi_f08. */
#define HALO_RETURN(code) \
	do { \
		if (ierror) \
			*ierror = (code); \
		return; \
	} while (0)

/* The constants that are recognised by their addresses: sentinel.c. */
#define SENTINEL(name, symbol, cells) extern MPI_Fint symbol[cells];
#include "sentinels.h"
#undef SENTINEL

/* Handles: the ABI's integers. Predefined handles are below 4096, and are the same in both. */
#define HALO_HANDLE(type, to, from) \
	static inline type in_##type(MPI_Fint h) { \
		return (unsigned)h < 0x1000 ? (type)(uintptr_t)(unsigned)h : from(h); \
	} \
	static inline MPI_Fint out_##type(type h) { \
		return (uintptr_t)h < 0x1000 ? (MPI_Fint)(uintptr_t)h : to(h); \
	}
HALO_HANDLE(MPI_Comm, MPI_Comm_toint, MPI_Comm_fromint)
HALO_HANDLE(MPI_Datatype, MPI_Type_toint, MPI_Type_fromint)
HALO_HANDLE(MPI_Errhandler, MPI_Errhandler_toint, MPI_Errhandler_fromint)
HALO_HANDLE(MPI_File, MPI_File_toint, MPI_File_fromint)
HALO_HANDLE(MPI_Group, MPI_Group_toint, MPI_Group_fromint)
HALO_HANDLE(MPI_Info, MPI_Info_toint, MPI_Info_fromint)
HALO_HANDLE(MPI_Message, MPI_Message_toint, MPI_Message_fromint)
HALO_HANDLE(MPI_Op, MPI_Op_toint, MPI_Op_fromint)
HALO_HANDLE(MPI_Request, MPI_Request_toint, MPI_Request_fromint)
HALO_HANDLE(MPI_Session, MPI_Session_toint, MPI_Session_fromint)
HALO_HANDLE(MPI_Win, MPI_Win_toint, MPI_Win_fromint)

/* No handle has this value: an element of an array that a call has not stored. */
#define HALO_UNSET(type) ((type)(intptr_t)-1)

/*
 * Room for few elements is on the stack, unless the call may use the array after it has returned: then
 * HALO_ARRAY_LATER leaves the array, since nobody says when it is no longer used. Halo copies what it
 * is given; another library of the ABI need not.
 */
#define HALO_FEW 32
#define HALO_ARRAY(type, name, n, over) \
	size_t n_##name = halo_count(n); \
	type few_##name[HALO_FEW], *name = n_##name <= HALO_FEW && (over) ? few_##name : halo_malloc((n_##name + 1) * sizeof(type)); \
	name[0] = 0
#define HALO_ARRAY_END(name) \
	if (name != few_##name) \
		free(name)
#define HALO_ARRAY_LATER(name) \
	if (halo_can_wait() && name != few_##name) \
		free(name)

/* 0 for a negative count, which the call of C reports. */
static inline size_t halo_count(MPI_Count n) { return n > 0 ? (size_t)n : 0; }

/* malloc, which ends the program if there is no memory. */
HALO_HIDDEN void *halo_malloc(size_t bytes);

/* The number of processes to which this one sends, or from which it receives, in a collective; in a
 * neighbourhood collective that of neighbours. */
enum { HALO_TO, HALO_FROM };
HALO_HIDDEN int halo_peers(MPI_Fint comm, int way);
HALO_HIDDEN int halo_neighbors(MPI_Fint comm, int way);

/* Whether the calling process is the root of a collective. */
HALO_HIDDEN int halo_root(MPI_Fint comm, MPI_Fint root);

/* An address that may be that of MPI_BOTTOM, MPI_IN_PLACE or MPI_BUFFER_AUTOMATIC. */
static inline void *halo_buffer(void *address) {
	if (address == mpi_fortran_in_place_)
		return MPI_IN_PLACE;
	if (address == mpi_fortran_bottom_)
		return MPI_BOTTOM;
	return address == mpi_fortran_buffer_automatic_ ? MPI_BUFFER_AUTOMATIC : address;
}
static inline void *halo_base(const halo_descriptor *d) { return halo_buffer(halo_first(d)); }

static inline MPI_Status *halo_status(MPI_Fint *status) {
	return status == mpi_fortran_status_ignore_ ? MPI_STATUS_IGNORE : (MPI_Status *)status;
}
static inline MPI_Status *halo_statuses(MPI_Fint *statuses) {
	return statuses == mpi_fortran_statuses_ignore_ ? MPI_STATUSES_IGNORE : (MPI_Status *)statuses;
}
static inline int *halo_weights(MPI_Fint *weights) {
	if (weights == mpi_fortran_unweighted_)
		return MPI_UNWEIGHTED;
	return weights == mpi_fortran_weights_empty_ ? MPI_WEIGHTS_EMPTY : weights;
}

/* Strings of Fortran have a length and end with blanks. */
#define HALO_STRING 256

/* Copies a string without the blanks at its end to room, or to memory of its own if it is longer. */
HALO_HIDDEN char *halo_string(char room[HALO_STRING], const char *text, size_t n);
/* The same without the blanks at both ends. */
HALO_HIDDEN char *halo_stripped(char room[HALO_STRING], const char *text, size_t n);
/* Room for a string of C with `size` bytes, which holds "". */
HALO_HIDDEN char *halo_room(char room[HALO_STRING], size_t size);
/* Copies a string of C to one of Fortran: the rest of it are blanks, and what does not fit is cut. */
HALO_HIDDEN void halo_pad(char *text, size_t n, const char *c);
static inline void halo_string_end(char *room, char *c) {
	if (c != room)
		free(c);
}

/* What C gets for a section of an array that is not contiguous: see section.c. */
struct halo_view {
	int used, mapped, code, flow;
	void *copy;
	ptrdiff_t bytes; /* of the section that are copied */
	const halo_descriptor *section;
	MPI_Datatype type;
};
enum {
	HALO_IN = 1,
	HALO_OUT = 2,
	HALO_LATER = 4,   /* the call uses the buffer after it has returned */
	HALO_REQUEST = 8, /* and a request tells when it no longer does */
};
enum { HALO_NONE, HALO_COMM, HALO_WIN, HALO_FILE };

/* A section that a call of C accesses as count elements of a datatype. If the view is then mapped, C
 * gets one element of the datatype that is stored instead. */
HALO_HIDDEN void *halo_one(struct halo_view *v, const halo_descriptor *d, int flow, MPI_Count count, MPI_Datatype *type);
/* A section that a call of C accesses as blocks of elements of a datatype, whose places are multiples
 * of its extent. */
HALO_HIDDEN void *halo_many(struct halo_view *v, const halo_descriptor *d, int flow, MPI_Datatype *type);
/* A section that a call of C accesses as partitions of count elements of a datatype. Partitions are filled and read
 * while the operation goes on, so that a copy would be too early or too late: what no datatype describes is refused. */
HALO_HIDDEN void *halo_parts(struct halo_view *v, const halo_descriptor *d, MPI_Count *count, MPI_Datatype *type);
/* A section of which C gets a copy. It must have as many bytes as the call needs; 0: that is not known. */
HALO_HIDDEN void *halo_copy(struct halo_view *v, const halo_descriptor *d, int flow, MPI_Count needed);
/* The bytes from the beginning of a contiguous buffer to the end of count elements of a datatype. */
HALO_HIDDEN MPI_Count halo_needed(MPI_Count count, MPI_Datatype type);
/* A section that the call cannot take. */
HALO_HIDDEN void *halo_refuse(struct halo_view *v);
HALO_HIDDEN void halo_view_end(struct halo_view *v);
/* Ends the views, of which the second may be NULL, of a call with a request: now, or when the
 * operation is complete. */
HALO_HIDDEN void halo_view_later(int code, MPI_Request request, int persistent, struct halo_view *a, struct halo_view *b);
/* Whether requests can have functions that they call. */
HALO_HIDDEN int halo_can_wait(void);

/* Raises an error on a communicator or window, and returns its class. */
HALO_HIDDEN int halo_raise(int kind, MPI_Fint handle, int class, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same for a section that a call cannot take. */
HALO_HIDDEN int halo_refused(int kind, MPI_Fint handle, int class, const char *call, const char *argument);
static inline int halo_views(int kind, MPI_Fint handle, int class, const char *call, const char *argument) {
	return __builtin_expect(class, MPI_SUCCESS) == MPI_SUCCESS ? MPI_SUCCESS : halo_refused(kind, handle, class, call, argument);
}

#endif
