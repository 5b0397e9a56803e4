! The part of tool.f90 that replaces a procedure of the module mpi and of mpif.h.
SUBROUTINE MPI_SEND(buf, count, datatype, dest, tag, comm, ierror)
  USE mpi, ONLY : PMPI_SEND
  IMPLICIT NONE
  INTEGER :: buf(*), count, datatype, dest, tag, comm, ierror
  INTEGER :: sends, large, ranks, older, operations
  COMMON /seen/ sends, large, ranks, older, operations
  older = older + 1
  CALL PMPI_SEND(buf, count, datatype, dest, tag, comm, ierror)
END SUBROUTINE MPI_SEND
