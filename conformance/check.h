/* Declarations for the programs of this folder, which print what is wrong, or "no errors", and run
 * on any MPI. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size; /* after begin */
static int wrong;      /* what has been found here */

static inline void found(const char *file, int line, const char *what, const char *format, ...) {
	va_list values;
	int me;
	if (wrong++ >= 10) return;
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
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

/* CHECK notes that something is not so, with what a format and its values tell, and goes on. */
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

/* begin initialises; errors return from then on. */
static inline void begin(int *argc, char ***argv) {
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

/* done tells what all ranks have found, finalises, and returns the status to exit with. */
static inline int done(void) {
	int me, all = 0;
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (me == 0 && all == 0) puts("no errors");
	if (me == 0 && all != 0) printf("%d errors\n", all);
	fflush(stdout);
	MPI_Finalize();
	return all != 0;
}

#endif
