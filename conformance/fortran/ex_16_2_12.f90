! The examples of sections 16.2.12 and 16.2.13: a nonblocking call receives into a section with a stride,
! which is not copied; a scalar is passed on to a subroutine that starts a receive; a vector subscript
! is legal in a blocking call (FTN-04, FTN-05, FTN-20).
SUBROUTINE user1(buf, request)
  USE mpi_f08
  IMPLICIT NONE
  REAL, ASYNCHRONOUS :: buf
  TYPE(MPI_Request) :: request
  CALL MPI_Irecv(buf, 1, MPI_REAL, MPI_ANY_SOURCE, 2, MPI_COMM_SELF, request)
END SUBROUTINE user1

PROGRAM ex_16_2_12
  USE mpi_f08
  IMPLICIT NONE
  INTERFACE
    SUBROUTINE user1(buf, request)
      USE mpi_f08
      IMPLICIT NONE
      REAL, ASYNCHRONOUS :: buf
      TYPE(MPI_Request) :: request
    END SUBROUTINE user1
  END INTERFACE
  REAL, ASYNCHRONOUS :: a(100), one
  REAL :: b(50), c(5)
  TYPE(MPI_Request) :: request
  TYPE(MPI_Status) :: status
  INTEGER :: i, n
  CALL MPI_Init()
  a = 0
  b = [(REAL(i), i = 1, 50)]
  CALL MPI_Irecv(a(1:100:2), 50, MPI_REAL, 0, 1, MPI_COMM_SELF, request)
  CALL MPI_Send(b, 50, MPI_REAL, 0, 1, MPI_COMM_SELF)
  CALL MPI_Wait(request, status)
  CALL MPI_Get_count(status, MPI_REAL, n)
  IF (n /= 50 .OR. ANY(NINT(a(1:100:2)) /= NINT(b)) .OR. ANY(NINT(a(2:100:2)) /= 0)) ERROR STOP 1

  one = 0
  CALL user1(one, request)
  CALL MPI_Send(b(7), 1, MPI_REAL, 0, 2, MPI_COMM_SELF)
  CALL MPI_Wait(request, MPI_STATUS_IGNORE)
  IF (NINT(one) /= 7) ERROR STOP 2

  CALL MPI_Irecv(c, 5, MPI_REAL, 0, 3, MPI_COMM_SELF, request)
  a = [(REAL(i), i = 1, 100)]
  CALL MPI_Send(a((/ 7, 9, 23, 81, 82 /)), 5, MPI_REAL, 0, 3, MPI_COMM_SELF)
  CALL MPI_Wait(request, MPI_STATUS_IGNORE)
  IF (ANY(NINT(c) /= [7, 9, 23, 81, 82])) ERROR STOP 3
  PRINT '(A)', 'no errors'
  CALL MPI_Finalize()
END PROGRAM ex_16_2_12
