! BRD-08: in checking mode reports name the lines of calls in Fortran, by each method. The argument names the mistake; each
! call that a report must name stands on a line with a comment (Halo).
#include "method.inc"
PROGRAM check_sites
  USE_MPI
  IMPLICIT NONE
  INCLUDE_MPI
  CHARACTER(LEN=16) :: mistake
  INTEGER :: code, rank, i, numbers(4)
  DOUBLE PRECISION :: reals(4)
  T_REQUEST :: request
  T_STATUS :: status
  CALL MPI_INIT(code)
  CALL MPI_COMM_RANK(MPI_COMM_WORLD, rank, code)
  CALL GET_COMMAND_ARGUMENT(1, mistake)
  numbers = [(i, i = 1, 4)]
  reals = 0
  SELECT CASE (mistake)
  CASE ('types')
    IF (rank == 0) THEN
      CALL MPI_SEND(numbers, 4, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, code) ! first
    ELSE
      CALL MPI_RECV(reals, 4, MPI_DOUBLE_PRECISION, 0, 7, MPI_COMM_WORLD, status, code) ! second
    END IF
  CASE ('count')
    IF (rank == 0) THEN
      CALL MPI_SEND(numbers, 4, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, code) ! first
    ELSE
      CALL MPI_RECV(numbers, 3, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, status, code) ! second
    END IF
  CASE ('calls')
    IF (rank == 0) THEN
      CALL MPI_BCAST(numbers, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, code) ! first
    ELSE
      CALL MPI_BARRIER(MPI_COMM_WORLD, code) ! second
    END IF
  CASE ('roots')
    IF (rank == 0) THEN
      CALL MPI_BCAST(numbers, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, code) ! first
    ELSE
      CALL MPI_BCAST(numbers, 4, MPI_INTEGER, 1, MPI_COMM_WORLD, code) ! second
    END IF
  CASE ('operations')
    IF (rank == 0) THEN
      CALL MPI_ALLREDUCE(MPI_IN_PLACE, numbers, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code) ! first
    ELSE
      CALL MPI_ALLREDUCE(MPI_IN_PLACE, numbers, 4, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, code) ! second
    END IF
  CASE ('lengths')
    IF (rank == 0) THEN
      CALL MPI_ALLREDUCE(MPI_IN_PLACE, numbers, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code) ! first
    ELSE
      CALL MPI_ALLREDUCE(MPI_IN_PLACE, numbers, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code) ! second
    END IF
  CASE ('changed')
    request = MPI_REQUEST_NULL
    IF (rank == 1) THEN
      CALL MPI_BARRIER(MPI_COMM_WORLD, code)
      CALL MPI_RECV(numbers, 4, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, status, code)
    ELSE
      CALL MPI_ISSEND(numbers, 4, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, request, code) ! first
      numbers(2) = 9
      CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    END IF
    CALL MPI_WAIT(request, MPI_STATUS_IGNORE, code) ! second
  CASE ('posted')
    IF (rank == 0) THEN
      CALL MPI_SEND(numbers, 4, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, code) ! first
      CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    ELSE
      CALL MPI_IRECV(reals, 4, MPI_INTEGER, 0, 8, MPI_COMM_WORLD, request, code) ! second
      CALL MPI_BARRIER(MPI_COMM_WORLD, code)
    END IF
  CASE ('unreceived')
    IF (rank == 0) THEN
      CALL MPI_SEND(numbers, 4, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, code) ! first
    END IF
  END SELECT
  CALL MPI_FINALIZE(code)
END PROGRAM check_sites
