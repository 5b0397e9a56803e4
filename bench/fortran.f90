! The loops of halobench.c in Fortran, with mpi_f08. fortran.h declares them for C.
MODULE loops
  USE mpi_f08
  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_DOUBLE, C_INT, C_INTPTR_T, C_LONG, C_SIGNED_CHAR
  IMPLICIT NONE
  PRIVATE
  REAL(C_DOUBLE), ALLOCATABLE :: a(:, :) ! twice as many rows and columns as the section
  TYPE(MPI_Datatype) :: elements
  INTEGER :: side
CONTAINS

  ! n round trips between two ranks
  SUBROUTINE latency(n, rank, size, sendbuf, recvbuf) BIND(C, NAME='fortran_latency')
    INTEGER(C_LONG), VALUE :: n, size
    INTEGER(C_INT), VALUE :: rank
    INTEGER(C_SIGNED_CHAR) :: sendbuf(size), recvbuf(size)
    INTEGER(C_LONG) :: i
    DO i = 1, n
      IF (rank == 0) THEN
        CALL MPI_Send(sendbuf, INT(size), MPI_BYTE, 1, 1, MPI_COMM_WORLD)
        CALL MPI_Recv(recvbuf, INT(size), MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      ELSE
        CALL MPI_Recv(recvbuf, INT(size), MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        CALL MPI_Send(sendbuf, INT(size), MPI_BYTE, 0, 1, MPI_COMM_WORLD)
      END IF
    END DO
  END SUBROUTINE latency

  SUBROUTINE allreduce(n, count, sendbuf, recvbuf) BIND(C, NAME='fortran_allreduce')
    INTEGER(C_LONG), VALUE :: n
    INTEGER(C_INT), VALUE :: count
    REAL(C_DOUBLE) :: sendbuf(count), recvbuf(count)
    INTEGER(C_LONG) :: i
    DO i = 1, n
      CALL MPI_Allreduce(sendbuf, recvbuf, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    END DO
  END SUBROUTINE allreduce

  ! n puts to rank 1, each flushed
  SUBROUTINE put(n, size, sendbuf, base, handle) BIND(C, NAME='fortran_put')
    INTEGER(C_LONG), VALUE :: n
    INTEGER(C_INT), VALUE :: size, handle
    INTEGER(C_SIGNED_CHAR), ASYNCHRONOUS :: sendbuf(size)
    INTEGER(C_INTPTR_T), VALUE :: base
    INTEGER(C_LONG) :: i
    TYPE(MPI_Win) :: win
    win%MPI_VAL = handle
    DO i = 1, n
      CALL MPI_Put(sendbuf, size, MPI_BYTE, 1, base, size, MPI_BYTE, win)
      CALL MPI_Win_flush(1, win)
    END DO
  END SUBROUTINE put

  SUBROUTINE section_begin(n) BIND(C, NAME='fortran_section_begin')
    INTEGER(C_LONG), VALUE :: n
    TYPE(MPI_Datatype) :: column
    side = INT(n)
    ALLOCATE (a(2 * side, 2 * side))
    a = 0
    CALL MPI_Type_vector(side, 1, 2, MPI_DOUBLE_PRECISION, column)
    CALL MPI_Type_create_hvector(side, 1, 32_MPI_ADDRESS_KIND * side, column, elements)
    CALL MPI_Type_commit(elements)
    CALL MPI_Type_free(column)
  END SUBROUTINE section_begin

  ! n round trips of every second element of every second column
  SUBROUTINE section(n, rank, typed) BIND(C, NAME='fortran_section')
    INTEGER(C_LONG), VALUE :: n
    INTEGER(C_INT), VALUE :: rank, typed
    INTEGER(C_LONG) :: i
    INTEGER :: turn
    DO i = 1, n
      DO turn = 0, 1
        IF (rank == turn .AND. typed == 0) THEN
          CALL MPI_Send(a(::2, ::2), side**2, MPI_DOUBLE_PRECISION, 1 - rank, 1, MPI_COMM_WORLD)
        ELSE IF (rank == turn) THEN
          CALL MPI_Send(a, 1, elements, 1 - rank, 1, MPI_COMM_WORLD)
        ELSE IF (typed == 0) THEN
          CALL MPI_Recv(a(::2, ::2), side**2, MPI_DOUBLE_PRECISION, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        ELSE
          CALL MPI_Recv(a, 1, elements, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        END IF
      END DO
    END DO
  END SUBROUTINE section

  SUBROUTINE section_end() BIND(C, NAME='fortran_section_end')
    CALL MPI_Type_free(elements)
    DEALLOCATE (a)
  END SUBROUTINE section_end

END MODULE loops
