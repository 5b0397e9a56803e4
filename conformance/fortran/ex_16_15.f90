! Examples 16.15 and 16.19: halos by nonblocking communication, which ASYNCHRONOUS protects: without
! overlap on one variable, and with overlap where halos and the inner part are separate ones (FTN-05, FTN-24,
! CHG-04).
MODULE halos
  USE mpi_f08
  IMPLICIT NONE
  TYPE(MPI_Comm) :: ring
CONTAINS
  PURE REAL FUNCTION mean(a, b, c)
    REAL, INTENT(IN) :: a, b, c
    mean = (a + 2 * b + c) / 4
  END FUNCTION mean

  ! 16.15, case (a)
  SUBROUTINE without_overlap(b, bnew)
    REAL, ASYNCHRONOUS :: b(0:101) ! elements 0 and 101 are halo cells
    REAL :: bnew(0:101)
    TYPE(MPI_Request) :: req(4)
    INTEGER :: left, right, i
    CALL MPI_Cart_shift(ring, 0, 1, left, right)
    CALL MPI_Irecv(b(0), 1, MPI_REAL, left, 1, ring, req(1))
    CALL MPI_Irecv(b(101), 1, MPI_REAL, right, 2, ring, req(2))
    CALL MPI_Isend(b(1), 1, MPI_REAL, left, 2, ring, req(3))
    CALL MPI_Isend(b(100), 1, MPI_REAL, right, 1, ring, req(4))
    CALL MPI_Waitall(4, req, MPI_STATUSES_IGNORE)
    DO i = 1, 100 ! compute all new local data
      bnew(i) = mean(b(i - 1), b(i), b(i + 1))
    END DO
  END SUBROUTINE without_overlap

  ! 16.19
  SUBROUTINE with_overlap(b, bnew)
    REAL :: b(0:101), bnew(0:101)
    INTEGER :: i
    CALL separated_sections(b(0:0), b(1:100), b(101:101), bnew(0:101))
    i = 1 ! compute leftmost element
    bnew(i) = mean(b(i - 1), b(i), b(i + 1))
    i = 100 ! compute rightmost element
    bnew(i) = mean(b(i - 1), b(i), b(i + 1))
  END SUBROUTINE with_overlap

  SUBROUTINE separated_sections(b_lefthalo, b_inner, b_righthalo, bnew)
    REAL, ASYNCHRONOUS :: b_lefthalo(0:0), b_inner(1:100), b_righthalo(101:101)
    REAL :: bnew(0:101)
    TYPE(MPI_Request) :: req(4)
    INTEGER :: left, right, i
    CALL MPI_Cart_shift(ring, 0, 1, left, right)
    CALL MPI_Irecv(b_lefthalo(0), 1, MPI_REAL, left, 1, ring, req(1))
    CALL MPI_Irecv(b_righthalo(101), 1, MPI_REAL, right, 2, ring, req(2))
    CALL MPI_Isend(b_inner(1), 1, MPI_REAL, left, 2, ring, req(3))
    CALL MPI_Isend(b_inner(100), 1, MPI_REAL, right, 1, ring, req(4))
    DO i = 2, 99 ! compute only elements for which halo data is not needed
      bnew(i) = mean(b_inner(i - 1), b_inner(i), b_inner(i + 1))
    END DO
    CALL MPI_Waitall(4, req, MPI_STATUSES_IGNORE)
  END SUBROUTINE separated_sections
END MODULE halos

PROGRAM ex_16_15
  USE halos
  IMPLICIT NONE
  REAL :: b(0:101), c(0:101), bnew(0:101), cnew(0:101)
  INTEGER :: rank, size, i, left, right
  CALL MPI_Init()
  CALL MPI_Comm_size(MPI_COMM_WORLD, size)
  CALL MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.TRUE.], .FALSE., ring)
  CALL MPI_Comm_rank(ring, rank)
  left = MODULO(rank - 1, size)
  right = MODULO(rank + 1, size)
  b(1:100) = [(REAL(1000 * rank + i), i = 1, 100)]
  b(0) = -1
  b(101) = -1
  c = b
  CALL without_overlap(b, bnew)
  CALL with_overlap(c, cnew)
  IF (NINT(b(0)) /= 1000 * left + 100 .OR. NINT(b(101)) /= 1000 * right + 1) ERROR STOP 1
  IF (ANY(ABS(b - c) > 0) .OR. ANY(ABS(bnew(1:100) - cnew(1:100)) > 0)) ERROR STOP 2
  DO i = 1, 100
    IF (ABS(bnew(i) - mean(b(i - 1), b(i), b(i + 1))) > 0) ERROR STOP 3
  END DO
  CALL MPI_Comm_free(ring)
  IF (rank == 0) PRINT '(A)', 'no errors'
  CALL MPI_Finalize()
END PROGRAM ex_16_15
