/* byhand.h: names of the functions that are not generated. */
#ifndef HALO_BYHAND_H
#define HALO_BYHAND_H

#include "glue.h"

/* The other names of the function pmpi_x_: of the methods without large counts and descriptors all. */
#define HALO_NAMES(x) \
	HALO_ALIAS(mpi_##x##_, pmpi_##x##_) \
	HALO_ALIAS(mpi_##x##_f08_, pmpi_##x##_) \
	HALO_ALIAS(pmpi_##x##_f08_, pmpi_##x##_)

/* A procedure of Fortran, of any type. */
typedef void(halo_function)(void);

#endif
