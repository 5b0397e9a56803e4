#ifndef HALO_FAST_FILE_H
#define HALO_FAST_FILE_H

/*
 * Accesses of files at explicit offsets: see fast_file.c. Each function returns whether it has done all
 * of the call of that name, as those of fast.h.
 */

HALO_HIDDEN int halo_fast_file_write_at(MPI_File file, MPI_Offset offset, const void *buf, int64_t count, MPI_Datatype datatype, MPI_Status *status);
HALO_HIDDEN int halo_fast_file_read_at(MPI_File file, MPI_Offset offset, void *buf, int64_t count, MPI_Datatype datatype, MPI_Status *status);

#endif
