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
  CALL partitions()
  bad = odd_descriptors()
  IF (bad /= 0) THEN
    PRINT *, 'descriptor', bad
    ERROR STOP 6
  END IF
  PRINT '(A)', 'no errors'
  CALL MPI_Finalize()

CONTAINS

  ! Partitions are columns, or parts of a section with one stride: each is sent as it is when it is marked ready, and is
  ! in the section when it has arrived. What ends within a column would need a copy, and is refused.
  SUBROUTINE partitions()
    TYPE(MPI_Request) :: pair(2), none
    LOGICAL :: flag
    INTEGER :: k, turn, code
    INTEGER(KIND=MPI_COUNT_KIND), PARAMETER :: two = 2, three = 3, four = 4
    CALL MPI_Psend_init(a(2:5, 1:3), 3, four, MPI_INTEGER, 0, 2, MPI_COMM_SELF, MPI_INFO_NULL, pair(1))
    CALL MPI_Precv_init(b(2:3, :), 6, two, MPI_INTEGER, 0, 2, MPI_COMM_SELF, MPI_INFO_NULL, pair(2))
    DO turn = 1, 2
      b = -1
      a = 0
      CALL MPI_Startall(2, pair)
      DO k = 3, 1, -1
        a(:, k) = [(100 * turn + 10 * k + i, i = 1, 6)]
        CALL MPI_Pready(k - 1, pair(1))
      END DO
      flag = .FALSE.
      DO WHILE (.NOT. flag)
        CALL MPI_Parrived(pair(2), 5, flag)
      END DO
      IF (ANY(b(2:3, 6) /= a(4:5, 3))) ERROR STOP 7
      CALL MPI_Waitall(2, pair, MPI_STATUSES_IGNORE)
      IF (ANY(RESHAPE(b(2:3, :), [12]) /= RESHAPE(a(2:5, 1:3), [12])) .OR. COUNT(b /= -1) /= 12) ERROR STOP 8
    END DO
    CALL MPI_Request_free(pair(1))
    CALL MPI_Request_free(pair(2))
    CALL MPI_Psend_init(a(::2, :), 6, three, MPI_INTEGER, 0, 2, MPI_COMM_SELF, MPI_INFO_NULL, pair(1))
    CALL MPI_Precv_init(b(::3, :), 4, three, MPI_INTEGER, 0, 2, MPI_COMM_SELF, MPI_INFO_NULL, pair(2), code)
    IF (code /= MPI_SUCCESS) ERROR STOP 9
    CALL MPI_Request_free(pair(1))
    CALL MPI_Request_free(pair(2))
    CALL MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    CALL MPI_Psend_init(a(2:5, 1:3), 4, three, MPI_INTEGER, 0, 2, MPI_COMM_SELF, MPI_INFO_NULL, none, code)
    IF (code /= MPI_ERR_BUFFER .OR. none /= MPI_REQUEST_NULL) ERROR STOP 10
    CALL MPI_Precv_init(b(2:5, 1:3), 4, three, MPI_INTEGER, 0, 2, MPI_COMM_SELF, MPI_INFO_NULL, none, code)
    IF (code /= MPI_ERR_BUFFER .OR. none /= MPI_REQUEST_NULL) ERROR STOP 11
    CALL MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
  END SUBROUTINE partitions

END PROGRAM odd_sections
