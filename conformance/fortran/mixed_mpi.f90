! The part of mixed.f90 that uses the module mpi.
SUBROUTINE by_module(comm, datatype, request, buffer, n)
  USE mpi
  IMPLICIT NONE
  INTEGER, INTENT(INOUT) :: comm, datatype, request
  INTEGER, INTENT(IN) :: n
  INTEGER, INTENT(INOUT), ASYNCHRONOUS :: buffer(n)
  TYPE(MPI_Comm) :: f08
  INTEGER :: code, rank, size
  LOGICAL :: begun
  CALL MPI_INITIALIZED(flag=begun, ierror=code)
  IF (.NOT. begun .OR. code /= MPI_SUCCESS) ERROR STOP 11
  f08%MPI_VAL = MPI_COMM_WORLD
  CALL MPI_COMM_DUP(f08%MPI_VAL, comm, code)
  CALL MPI_COMM_RANK(comm, rank, code)
  CALL MPI_COMM_SIZE(comm, size, code)
  CALL MPI_TYPE_VECTOR(3, 1, 2, MPI_INTEGER, datatype, code)
  CALL MPI_TYPE_COMMIT(datatype, code)
  CALL MPI_IRECV(buffer(2), 1, datatype, MODULO(rank - 1, size), 7, comm, request, code)
  IF (code /= MPI_SUCCESS) ERROR STOP 12
END SUBROUTINE by_module
