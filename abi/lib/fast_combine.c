#include "fast_combine.h"

#include <string.h>

#include "datatype.h"

/* A loop for each operation, which the compiler vectorises. */
#define EACH(operation)                                                                                   \
	if (op == (operation)) {                                                                              \
		for (size_t i = 0; i < n; i++)                                                                    \
			to[i] = (__typeof__(to[i]))halo_whole(operation, (uint64_t)a[i], (uint64_t)b[i], a[i] < b[i], b[i] < a[i]); \
		return;                                                                                           \
	}

#define WHOLE(name, type)                                                         \
	static void name(MPI_Op op, type *to, const type *a, const type *b, size_t n) { \
		EACH(MPI_SUM)                                                             \
		EACH(MPI_PROD)                                                            \
		EACH(MPI_MIN)                                                             \
		EACH(MPI_MAX)                                                             \
		EACH(MPI_BAND)                                                            \
		EACH(MPI_BOR)                                                             \
		EACH(MPI_BXOR)                                                            \
	}

/* Returns 0 if Go defines a result: see halo_combine. */
#define FLOATING(name, type)                                                      \
	static int name(MPI_Op op, type *to, const type *a, const type *b, size_t n) { \
		int good = 1;                                                             \
		for (size_t i = 0; i < n; i++) {                                          \
			if (op == MPI_SUM)                                                    \
				to[i] = a[i] + b[i];                                              \
			else if (op == MPI_PROD)                                              \
				to[i] = a[i] * b[i];                                              \
			else if (a[i] < b[i])                                                 \
				to[i] = op == MPI_MIN ? a[i] : b[i];                              \
			else if (b[i] < a[i])                                                 \
				to[i] = op == MPI_MIN ? b[i] : a[i];                              \
			else {                                                                \
				good &= memcmp(&a[i], &b[i], sizeof(type)) == 0;                  \
				to[i] = a[i];                                                     \
			}                                                                     \
			good &= to[i] == to[i];                                               \
		}                                                                         \
		return good;                                                              \
	}

WHOLE(whole_s1, int8_t)
WHOLE(whole_s2, int16_t)
WHOLE(whole_s4, int32_t)
WHOLE(whole_s8, int64_t)
WHOLE(whole_u1, uint8_t)
WHOLE(whole_u2, uint16_t)
WHOLE(whole_u4, uint32_t)
WHOLE(whole_u8, uint64_t)
FLOATING(floating_f4, float)
FLOATING(floating_f8, double)

int halo_combine(int kind, int size, MPI_Op op, void *to, const void *a, const void *b, size_t n) {
	if (kind == HALO_FLOATING)
		return size == 4 ? floating_f4(op, to, a, b, n) : floating_f8(op, to, a, b, n);
	if (kind == HALO_SIGNED)
		switch (size) {
		case 1: whole_s1(op, to, a, b, n); break;
		case 2: whole_s2(op, to, a, b, n); break;
		case 4: whole_s4(op, to, a, b, n); break;
		default: whole_s8(op, to, a, b, n);
		}
	else
		switch (size) {
		case 1: whole_u1(op, to, a, b, n); break;
		case 2: whole_u2(op, to, a, b, n); break;
		case 4: whole_u4(op, to, a, b, n); break;
		default: whole_u8(op, to, a, b, n);
		}
	return 1;
}
