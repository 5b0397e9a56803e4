! Examples 16.16 to 16.18 and 16.20: the first row of an array is received while the rest is computed.
! What compilers may do to the array in 16.16 (16.17: fuse the loops over it, 16.18: compute in a copy
! and store all of it) is harmless where row and rest are separate variables, as in 16.20: so they are
! here, as sections, which the nonblocking call receives into directly (FTN-04, FTN-24).
MODULE parts
  USE mpi_f08
  IMPLICIT NONE
CONTAINS
  SUBROUTINE in_loops(halo, inner)
    REAL, ASYNCHRONOUS :: halo(:, :)
    REAL :: inner(:, :)
    TYPE(MPI_Request) :: req
    INTEGER :: i, j
    CALL MPI_Irecv(halo(1, 1:100), 100, MPI_REAL, 0, 1, MPI_COMM_WORLD, req)
    DO j = 1, 100
      DO i = 1, 99
        inner(i, j) = REAL(i + 1 + 1000 * j)
      END DO
    END DO
    CALL MPI_Wait(req, MPI_STATUS_IGNORE)
  END SUBROUTINE in_loops

  SUBROUTINE in_a_copy(halo, inner)
    REAL, ASYNCHRONOUS :: halo(:, :)
    REAL :: inner(:, :)
    REAL :: local(99, 100)
    TYPE(MPI_Request) :: req
    INTEGER :: i, j
    CALL MPI_Irecv(halo(1, 1:100), 100, MPI_REAL, 0, 1, MPI_COMM_WORLD, req)
    local = inner
    DO j = 1, 100
      DO i = 1, 99
        local(i, j) = REAL(i + 1 + 1000 * j)
      END DO
    END DO
    inner = local ! halo is not touched
    CALL MPI_Wait(req, MPI_STATUS_IGNORE)
  END SUBROUTINE in_a_copy
END MODULE parts

PROGRAM ex_16_16
  USE parts
  IMPLICIT NONE
  REAL, ASYNCHRONOUS :: buf(100, 100)
  REAL :: row(100)
  TYPE(MPI_Request) :: req
  INTEGER :: rank, size, i, j, round, other
  CALL MPI_Init()
  CALL MPI_Comm_rank(MPI_COMM_WORLD, rank)
  CALL MPI_Comm_size(MPI_COMM_WORLD, size)
  row = [(REAL(-j), j = 1, 100)]
  DO round = 1, 3
    IF (rank == 0) THEN
      DO other = 1, size - 1
        CALL MPI_Send(row, 100, MPI_REAL, other, 1, MPI_COMM_WORLD)
      END DO
      CYCLE
    END IF
    buf = 0
    SELECT CASE (round)
    CASE (1)
      CALL in_loops(buf(1:1, 1:100), buf(2:100, 1:100))
    CASE (2)
      CALL in_a_copy(buf(1:1, 1:100), buf(2:100, 1:100))
    CASE (3) ! without overlap
      CALL MPI_Irecv(buf(1, 1:100), 100, MPI_REAL, 0, 1, MPI_COMM_WORLD, req)
      CALL MPI_Wait(req, MPI_STATUS_IGNORE)
      DO j = 1, 100
        DO i = 2, 100
          buf(i, j) = REAL(i + 1000 * j)
        END DO
      END DO
    END SELECT
    IF (ANY(NINT(buf(1, :)) /= NINT(row))) ERROR STOP 1
    DO j = 1, 100
      IF (ANY(NINT(buf(2:100, j)) /= [(i + 1000 * j, i = 2, 100)])) ERROR STOP 2
    END DO
  END DO
  CALL MPI_Barrier(MPI_COMM_WORLD)
  IF (rank == 0) PRINT '(A)', 'no errors'
  CALL MPI_Finalize()
END PROGRAM ex_16_16
