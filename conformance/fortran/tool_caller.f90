! The part of tool.f90 that calls the module mpi.
SUBROUTINE send_by_module(a)
  USE mpi
  IMPLICIT NONE
  INTEGER, INTENT(IN) :: a(*)
  INTEGER :: ierror
  CALL MPI_SEND(a, 8, MPI_INTEGER, 0, 1, MPI_COMM_SELF, ierror)
END SUBROUTINE send_by_module
