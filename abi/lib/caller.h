/* caller.h: see caller.c. */
#ifndef HALO_CALLER_H
#define HALO_CALLER_H

#include <stdint.h>

#include "compiler.h"

/* The code of the Fortran library in this process; low is 0 if there is none, or outside of checking mode. */
HALO_HIDDEN extern uintptr_t halo_fortran_low, halo_fortran_high;

static inline int halo_in_fortran(uintptr_t at) {
	uintptr_t low = __atomic_load_n(&halo_fortran_low, __ATOMIC_ACQUIRE);
	return low != 0 && at >= low && at < halo_fortran_high;
}

/* Looks for the Fortran library. */
HALO_HIDDEN void halo_find_fortran(void);

/* The return address of the program's call of a procedure in Fortran that has called the C procedure with this
 * return address. */
HALO_HIDDEN void *halo_caller_in_fortran(void *caller);

#endif
