! FTN-13, FTN-16: what the methods take for granted of a compiler: scalars, simply contiguous arrays, strings and
! variables of derived types are passed by reference to arguments of any type, and one procedure gets
! buffers of several types, scalars and arrays alike.
#include "method.inc"
PROGRAM compiler
  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_FLOAT, C_INT
  USE_MPI
  IMPLICIT NONE
  INCLUDE_MPI
  TYPE :: sequential
    SEQUENCE
    INTEGER :: kind
    REAL(KIND=8) :: place
  END TYPE sequential
  TYPE, BIND(C) :: interoperable
    INTEGER(C_INT) :: kind
    REAL(C_FLOAT) :: place
  END TYPE interoperable
  TYPE(sequential), ASYNCHRONOUS :: s(3), s2(3)
  TYPE(interoperable), ASYNCHRONOUS :: b, b2
  INTEGER, ASYNCHRONOUS :: scalar, other, a(4, 4), part(4)
  REAL, ASYNCHRONOUS :: real_array(2), real_back(2)
  COMPLEX, ASYNCHRONOUS :: c, c2
  LOGICAL, ASYNCHRONOUS :: l, l2
  CHARACTER(LEN=5) :: text, back
  INTEGER(KIND=MPI_ADDRESS_KIND) :: at(4)
  INTEGER, ALLOCATABLE, ASYNCHRONOUS :: heap(:)
  INTEGER, POINTER, ASYNCHRONOUS :: view(:)
  INTEGER, TARGET, ASYNCHRONOUS :: t(4)
  INTEGER :: code, i
  T_REQUEST :: r
  CALL MPI_INIT(code)
  ! The address of what a call gets is that of the variable, also in a nonblocking call.
  CALL MPI_GET_ADDRESS(a, at(1), code)
  CALL MPI_GET_ADDRESS(a(1, 1), at(2), code)
  CALL MPI_GET_ADDRESS(a(:, 2), at(3), code)
  CALL MPI_GET_ADDRESS(a(1:4, 3:4), at(4), code)
  IF (at(1) /= at(2) .OR. at(3) /= at(1) + 16 .OR. at(4) /= at(1) + 32) ERROR STOP 1
  a = RESHAPE([(i, i = 1, 16)], [4, 4])
  CALL MPI_IRECV(part, 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF, r, code)
  CALL MPI_SEND(a(:, 3), 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF, code)
  CALL MPI_WAIT(r, MPI_STATUS_IGNORE, code)
  IF (ANY(part /= a(:, 3))) ERROR STOP 2
  scalar = 0
  CALL MPI_IRECV(scalar, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, r, code)
  other = 42
  CALL MPI_SEND(other, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, code)
  CALL MPI_WAIT(r, MPI_STATUS_IGNORE, code)
  IF (scalar /= 42) ERROR STOP 3
  ALLOCATE (heap(4))
  heap = 0
  t = [1, 2, 3, 4]
  view => t
  CALL MPI_IRECV(heap, 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF, r, code)
  CALL MPI_SEND(view, 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF, code)
  CALL MPI_WAIT(r, MPI_STATUS_IGNORE, code)
  IF (ANY(heap /= t)) ERROR STOP 4
  ! Expressions and constants are valid where nothing is stored.
  CALL MPI_IRECV(scalar, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, r, code)
  CALL MPI_SEND(2 * other + 1, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, code)
  CALL MPI_WAIT(r, MPI_STATUS_IGNORE, code)
  IF (scalar /= 85) ERROR STOP 5
  ! Other types: strings have their lengths behind all arguments.
  text = 'halo!'
  CALL MPI_SENDRECV(text, 5, MPI_CHARACTER, 0, 1, back, 5, MPI_CHARACTER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, code)
  IF (back /= text) ERROR STOP 6
  CALL MPI_SENDRECV(text(2:4), 3, MPI_CHARACTER, 0, 1, back, 3, MPI_CHARACTER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, code)
  IF (back /= 'alo' // 'o!') ERROR STOP 7
  real_array = [1.5, 2.5]
  CALL MPI_SENDRECV(real_array, 2, MPI_REAL, 0, 1, real_back, 2, MPI_REAL, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, code)
  IF (ANY(NINT(2 * real_back) /= [3, 5])) ERROR STOP 8
  c = (1, 2)
  CALL MPI_SENDRECV(c, 1, MPI_COMPLEX, 0, 1, c2, 1, MPI_COMPLEX, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, code)
  IF (NINT(AIMAG(c2)) /= 2) ERROR STOP 9
  l = .TRUE.
  l2 = .FALSE.
  CALL MPI_ALLREDUCE(l, l2, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_SELF, code)
  IF (.NOT. l2) ERROR STOP 10
  DO i = 1, 3
    s(i) = sequential(i, 0.5D0 * i)
  END DO
  b = interoperable(7, 3.5)
  i = STORAGE_SIZE(s) / 8
  CALL MPI_SENDRECV(s, 3 * i, MPI_BYTE, 0, 1, s2, 3 * i, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, code)
  IF (s2(3)%kind /= 3 .OR. NINT(2 * s2(3)%place) /= 3) ERROR STOP 11
  i = STORAGE_SIZE(b) / 8
  CALL MPI_SENDRECV(b, i, MPI_BYTE, 0, 1, b2, i, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, code)
  IF (b2%kind /= 7 .OR. NINT(2 * b2%place) /= 7) ERROR STOP 12
  PRINT '(A)', 'no errors'
  CALL MPI_FINALIZE(code)
END PROGRAM compiler
