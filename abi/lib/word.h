/* The arguments of a call to Go. */
#ifndef HALO_WORD_H
#define HALO_WORD_H

#include <stdint.h>

/* An argument of a call to Go: numbers are extended to 64 bits. */
typedef uintptr_t word;

#define W(x) ((word)(intptr_t)(x))

#endif
