/* Random numbers of programs that use check.h: one sequence is the same on all ranks, so that each of
 * them knows what all do, and one is of this rank. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>
#include <stdlib.h>

static uint64_t shared, own;

static inline uint64_t next(uint64_t *s) {
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s >> 20;
}

/* below returns a number from 0 to n-1 that is the same on all ranks, own_below one of this rank. */
static inline int below(int n) { return (int)(next(&shared) % (uint64_t)n); }
static inline int own_below(int n) { return (int)(next(&own) % (uint64_t)n); }

/* seed begins both sequences with the seed in the first argument of the program, or else with 1. MPI has
 * begun. */
static inline void seed(int argc, char **argv) {
	shared = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1) * 2654435761u + 88172645463325252u;
	own = shared + (uint64_t)rank * 1234567;
}

#endif
