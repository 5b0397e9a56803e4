/* The names of the procedures of the table, which procedures.c has. */
#ifndef HALO_NAMES_H
#define HALO_NAMES_H

#include "compiler.h"

HALO_HIDDEN extern const char *const halo_names[];

#endif
