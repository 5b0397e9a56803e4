! FTN-19: buffers that a call cannot take as sections, and sections at the edge of what there is: the
! class of the error, what the handler learns, and that nothing has been done.
PROGRAM bad_sections
  USE mpi_f08
  IMPLICIT NONE
  INTEGER :: code, class, n, i
  INTEGER, ASYNCHRONOUS :: a(10, 10), b(10, 10)
  TYPE(MPI_Win) :: win
  TYPE(MPI_Errhandler) :: handler
  INTEGER(KIND=MPI_ADDRESS_KIND) :: first, second
  CHARACTER(LEN=MPI_MAX_ERROR_STRING) :: text
  INTERFACE
    SUBROUTINE told(comm, error_code)
      USE mpi_f08, ONLY : MPI_Comm
      TYPE(MPI_Comm) :: comm
      INTEGER :: error_code
    END SUBROUTINE told
    SUBROUTINE assumed(x, n)
      INTEGER, INTENT(IN) :: n
      INTEGER, INTENT(INOUT) :: x(*)
    END SUBROUTINE assumed
  END INTERFACE
  INTEGER :: last
  COMMON /what/ last
  CALL MPI_Init()
  CALL MPI_Comm_create_errhandler(told, handler)
  CALL MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler)
  CALL MPI_Comm_set_errhandler(MPI_COMM_SELF, handler)
  a = RESHAPE([(i, i = 1, 100)], [10, 10])
  ! Memory of windows and attached buffers is used as it is.
  CALL MPI_Win_create(a(::2, :), 200_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
  IF (code /= MPI_ERR_BUFFER .OR. win /= MPI_WIN_NULL) ERROR STOP 1
  CALL MPI_Error_string(last, text, n)
  IF (INDEX(text, 'MPI_Win_create: base is a section of an array that is not contiguous') == 0) ERROR STOP 2
  CALL MPI_Error_class(last, class)
  IF (class /= MPI_ERR_BUFFER) ERROR STOP 3
  CALL MPI_Buffer_attach(a(1, ::2), 100, code)
  IF (code /= MPI_ERR_BUFFER) ERROR STOP 4
  ! The address of a section is that of its first element; one of a single column is contiguous.
  CALL MPI_Get_address(a(3::2, 4:), first)
  CALL MPI_Get_address(a(3, 4), second)
  IF (first /= second) ERROR STOP 5
  CALL MPI_Win_create(a(2:9, 4), 32_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, win, code)
  IF (code /= MPI_SUCCESS) ERROR STOP 6
  CALL MPI_Win_free(win)
  ! More elements than the section has.
  CALL MPI_Send(a(::2, 1), 6, MPI_INTEGER, 0, 0, MPI_COMM_SELF, code)
  IF (code /= MPI_ERR_BUFFER) ERROR STOP 7
  CALL MPI_Allreduce(MPI_IN_PLACE, a(::2, 1), 6, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, code)
  IF (code /= MPI_ERR_BUFFER) ERROR STOP 16
  ! A negative count and a null datatype have the errors that they have without sections.
  CALL MPI_Send(a(::2, 1), -1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, code)
  IF (code /= MPI_ERR_COUNT) ERROR STOP 8
  CALL MPI_Send(a(::2, 1), 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_SELF, code)
  IF (code /= MPI_ERR_TYPE) ERROR STOP 9
  ! Elements that a datatype tears: pairs of integers in a section with single ones are copied.
  b = -1
  CALL MPI_Sendrecv(a(::2, 1:4), 4, MPI_2INTEGER, 0, 0, b(:, ::3), 8, MPI_INTEGER, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE, code)
  IF (code /= MPI_SUCCESS .OR. ANY(b(1:8, 1) /= [1, 3, 5, 7, 9, 11, 13, 15]) .OR. ANY(b(:, 2) /= -1)) ERROR STOP 10
  ! The content of a constant that is recognised by its address is no count.
  CALL MPI_Send(a, MPI_IN_PLACE, MPI_INTEGER, 0, 0, MPI_COMM_SELF, code)
  IF (code /= MPI_ERR_COUNT) ERROR STOP 17
  CALL MPI_Send(a, 1, MPI_INTEGER, MPI_BOTTOM, 0, MPI_COMM_SELF, code)
  IF (code /= MPI_ERR_RANK) ERROR STOP 18
  ! Strides of any sign, and a stride of no section of an array: a component.
  CALL components()
  ! An assumed-size array has no end; it is contiguous.
  CALL assumed(b, 100)
  IF (ANY(b /= a)) ERROR STOP 11
  CALL MPI_Errhandler_free(handler)
  PRINT '(A)', 'no errors'
  CALL MPI_Finalize()

CONTAINS

  SUBROUTINE components()
    TYPE :: particle
      INTEGER :: kind
      REAL(KIND=8) :: place(3)
    END TYPE particle
    TYPE(particle), ASYNCHRONOUS :: p(6)
    REAL(KIND=8) :: x(6)
    INTEGER :: kinds(6)
    INTEGER, POINTER :: q(:)
    INTEGER, TARGET :: t(12)
    TYPE(MPI_Request) :: r
    DO i = 1, 6
      p(i)%kind = i
      p(i)%place = [1, 2, 3] * i
    END DO
    CALL MPI_Isend(p(:)%place(2), 6, MPI_REAL8, 0, 1, MPI_COMM_SELF, r)
    CALL MPI_Recv(x, 6, MPI_REAL8, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    CALL MPI_Wait(r, MPI_STATUS_IGNORE)
    IF (ANY(NINT(x) /= [2, 4, 6, 8, 10, 12])) ERROR STOP 12
    CALL MPI_Isend(p(6:1:-1)%kind, 6, MPI_INTEGER, 0, 2, MPI_COMM_SELF, r)
    CALL MPI_Recv(kinds, 6, MPI_INTEGER, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    CALL MPI_Wait(r, MPI_STATUS_IGNORE)
    IF (ANY(kinds /= [6, 5, 4, 3, 2, 1])) ERROR STOP 13
    t = [(i, i = 1, 12)]
    q => t(12:2:-2)
    CALL MPI_Isend(q, 6, MPI_INTEGER, 0, 3, MPI_COMM_SELF, r)
    CALL MPI_Recv(kinds, 6, MPI_INTEGER, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    CALL MPI_Wait(r, MPI_STATUS_IGNORE)
    IF (ANY(kinds /= [12, 10, 8, 6, 4, 2])) ERROR STOP 14
    CALL MPI_Irecv(q, 6, MPI_INTEGER, 0, 4, MPI_COMM_SELF, r)
    CALL MPI_Send(kinds(6:1:-1), 6, MPI_INTEGER, 0, 4, MPI_COMM_SELF)
    CALL MPI_Wait(r, MPI_STATUS_IGNORE)
    IF (ANY(t /= [1, 12, 3, 10, 5, 8, 7, 6, 9, 4, 11, 2])) ERROR STOP 15
  END SUBROUTINE components

END PROGRAM bad_sections

SUBROUTINE told(comm, error_code)
  USE mpi_f08
  IMPLICIT NONE
  TYPE(MPI_Comm) :: comm
  INTEGER :: error_code
  INTEGER :: last
  COMMON /what/ last
  IF (comm == MPI_COMM_NULL) ERROR STOP 20
  last = error_code
END SUBROUTINE told

SUBROUTINE assumed(x, n)
  USE mpi_f08
  IMPLICIT NONE
  INTEGER, INTENT(IN) :: n
  INTEGER, INTENT(INOUT) :: x(*)
  INTEGER :: there(n), i
  there = [(i, i = 1, n)]
  CALL MPI_Sendrecv(there, n, MPI_INTEGER, 0, 0, x, n, MPI_INTEGER, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE)
END SUBROUTINE assumed
