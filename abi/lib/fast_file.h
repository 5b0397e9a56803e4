/* MPI_File_write_at and MPI_File_read_at of short contiguous data: see fast.go. */
#ifndef HALO_FAST_FILE_H
#define HALO_FAST_FILE_H

#include <stdint.h>

#include "../include/mpi.h"
#include "compiler.h"

HALO_HIDDEN int halo_fast_file_write_at(MPI_File file, MPI_Offset offset, const void *buf, int64_t count, MPI_Datatype datatype, MPI_Status *status);
HALO_HIDDEN int halo_fast_file_read_at(MPI_File file, MPI_Offset offset, void *buf, int64_t count, MPI_Datatype datatype, MPI_Status *status);

#endif
