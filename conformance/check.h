/* Declarations for the programs of this folder, which print errors or "no errors", and run on any
 * MPI. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size; /* set by begin */
static int wrong;      /* number of errors of this rank */

static inline void found(const char *file, int line, const char *what, const char *format, ...) {
	va_list values;
	int me = rank, begun, ended; /* in a session there is no world */
	if (wrong++ >= 10) return;
	MPI_Initialized(&begun);
	MPI_Finalized(&ended);
	if (begun && !ended) MPI_Comm_rank(MPI_COMM_WORLD, &me);
	fprintf(stderr, "%s:%d: rank %d: not so: %s", file, line, me, what);
	va_start(values, format);
	vfprintf(stderr, format, values);
	va_end(values);
	fputc('\n', stderr);
}

static inline int class_of(int code) {
	int c = -1;
	MPI_Error_class(code, &c);
	return c;
}

/* CHECK reports an error if a condition is false, with a format and values, and continues. */
#define CHECK(...) CHECK_(__VA_ARGS__, "", 0)
#define CHECK_(what, ...) CHECK__(what, #what, __VA_ARGS__)
#define CHECK__(what, text, format, ...) \
	do { \
		if (!(what)) found(__FILE__, __LINE__, text, " " format, __VA_ARGS__); \
	} while (0)

/* OK checks that a call succeeds, FAILS that it fails with an error of the class. */
#define OK(call) \
	do { \
		int code_ = (call); \
		if (code_ != MPI_SUCCESS) found(__FILE__, __LINE__, #call, ": code %d, class %d", code_, class_of(code_)); \
	} while (0)
#define FAILS(call, class) \
	do { \
		int class_ = class_of(call); \
		if (class_ != (class)) found(__FILE__, __LINE__, #call, ": class %d, not " #class, class_); \
	} while (0)

/* begin initialises MPI and makes errors return. */
static inline void begin(int *argc, char ***argv) {
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

/* done prints the result of all ranks, finalises MPI, and returns the exit status. */
static inline int done(void) {
	int me, all = 0;
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (me == 0 && all == 0) puts("no errors");
	if (me == 0 && all != 0) printf("%d errors\n", all);
	fflush(stdout);
	OK(MPI_Finalize());
	return all != 0 || wrong != 0;
}

#endif
