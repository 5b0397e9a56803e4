! FTN-04, FTN-18: sections at the edge of what a descriptor can say: none of their elements, one of them many times, strides of
! any sign, more dimensions than one; odd_sections.c makes those that no section in Fortran has.
PROGRAM odd_sections
  USE mpi_f08
  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_INT
  IMPLICIT NONE
  INTERFACE
    INTEGER(C_INT) FUNCTION odd_descriptors() BIND(C)
      IMPORT C_INT
    END FUNCTION odd_descriptors
  END INTERFACE
  INTEGER, ASYNCHRONOUS :: a(6, 6), b(6, 6), none(0)
  INTEGER :: i, n, low, high, bad
  TYPE(MPI_Status) :: status
  TYPE(MPI_Request) :: r
  CALL MPI_Init()
  a = RESHAPE([(i, i = 1, 36)], [6, 6])
  b = -1
  ! Sections without elements, also where the compiler does not know it, and by calls that return early.
  low = 5
  high = 4
  CALL MPI_Irecv(b(low:high, ::2), 0, MPI_INTEGER, 0, 1, MPI_COMM_SELF, r)
  CALL MPI_Send(a(::2, low:high), 0, MPI_INTEGER, 0, 1, MPI_COMM_SELF)
  CALL MPI_Wait(r, status)
  CALL MPI_Get_count(status, MPI_INTEGER, n)
  IF (n /= 0 .OR. ANY(b /= -1)) ERROR STOP 1
  CALL MPI_Allreduce(a(low:high:2, 1), b(low:high:2, 1), 0, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF)
  CALL MPI_Bcast(none, 0, MPI_INTEGER, 0, MPI_COMM_SELF)
  CALL MPI_Gather(none, 0, MPI_INTEGER, b(low:high, ::3), 0, MPI_INTEGER, 0, MPI_COMM_SELF)
  IF (ANY(b /= -1)) ERROR STOP 2
  ! A section with elements, and a count of none.
  CALL MPI_Sendrecv(a(::2, 1), 0, MPI_INTEGER, 0, 1, b(::3, ::2), 6, MPI_INTEGER, 0, 1, MPI_COMM_SELF, status)
  IF (ANY(b /= -1)) ERROR STOP 3
  ! Fewer elements than the section has, to one of negative strides in both dimensions.
  CALL MPI_Sendrecv(a(::2, 1), 3, MPI_INTEGER, 0, 1, b(6:1:-4, 5:2:-3), 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF, status)
  IF (b(6, 5) /= 1 .OR. b(2, 5) /= 3 .OR. b(6, 2) /= 5 .OR. b(2, 2) /= -1 .OR. COUNT(b /= -1) /= 3) ERROR STOP 4
  ! One column backwards, in place of the other order.
  b = a
  CALL MPI_Sendrecv(a(6:1:-1, 6:1:-1), 36, MPI_INTEGER, 0, 1, b, 36, MPI_INTEGER, 0, 1, MPI_COMM_SELF, status)
  IF (ANY(b /= a(6:1:-1, 6:1:-1))) ERROR STOP 5
  bad = odd_descriptors()
  IF (bad /= 0) THEN
    PRINT *, 'descriptor', bad
    ERROR STOP 6
  END IF
  PRINT '(A)', 'no errors'
  CALL MPI_Finalize()
END PROGRAM odd_sections
