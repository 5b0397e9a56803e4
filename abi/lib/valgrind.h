#ifndef HALO_VALGRIND_H
#define HALO_VALGRIND_H

#include "compiler.h"

/* Whether the process runs under valgrind. */
HALO_HIDDEN int halo_on_valgrind(void);

#endif
