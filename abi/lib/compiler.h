/* What the compiler is told of functions, symbols and conditions. */
#ifndef HALO_COMPILER_H
#define HALO_COMPILER_H

/* A symbol that only the library itself uses. */
#define HALO_HIDDEN __attribute__((visibility("hidden")))

/* MPI_X is a weak name of PMPI_X. */
#define HALO_ALIAS(name) extern __typeof__(P##name) name __attribute__((weak, alias("P" #name)));

/* Inlined even into large functions. */
#define HALO_INLINE static inline __attribute__((always_inline))

/* A condition that is nearly always false. */
#define HALO_UNLIKELY(x) __builtin_expect(!!(x), 0)

#endif
