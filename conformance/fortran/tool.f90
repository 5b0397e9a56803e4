! E2-09, FTN-10, FTN-11, PMP-03, PMP-05: a tool in Fortran replaces procedures of mpi_f08 by their linker's names
! (tool_f08.f90), and of the module mpi (tool_mpi.f90), and one in C replaces MPI_Send (tool.c). Each
! call goes through the tool of its method, and once through the one in C.
PROGRAM tool
  USE mpi_f08
  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_INT
  IMPLICIT NONE
  INTERFACE
    INTEGER(C_INT) FUNCTION sent_in_c() BIND(C)
      IMPORT :: C_INT
    END FUNCTION sent_in_c
    SUBROUTINE send_by_module(a)
      INTEGER, INTENT(IN) :: a(*)
    END SUBROUTINE send_by_module
    SUBROUTINE add(invec, inoutvec, len, datatype)
      USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_PTR
      USE mpi_f08, ONLY : MPI_Datatype
      TYPE(C_PTR), VALUE :: invec, inoutvec
      INTEGER :: len
      TYPE(MPI_Datatype) :: datatype
    END SUBROUTINE add
  END INTERFACE
  INTEGER :: sends, large, ranks, older, operations
  COMMON /seen/ sends, large, ranks, older, operations
  INTEGER, ASYNCHRONOUS :: a(4, 4), b(2, 4)
  INTEGER :: rank, i, c, d, sent
  TYPE(MPI_Request) :: r
  TYPE(MPI_Op) :: op
  sends = 0
  large = 0
  ranks = 0
  older = 0
  operations = 0
  CALL MPI_Init()
  CALL MPI_Comm_rank(MPI_COMM_SELF, rank)
  IF (ranks /= 1) ERROR STOP 1
  ! The tool passes a section on as it is.
  a = RESHAPE([(i, i = 1, 16)], [4, 4])
  CALL MPI_Irecv(b, 8, MPI_INTEGER, 0, 1, MPI_COMM_SELF, r)
  CALL MPI_Send(a(2:4:2, :), 8, MPI_INTEGER, 0, 1, MPI_COMM_SELF)
  CALL MPI_Wait(r, MPI_STATUS_IGNORE)
  sent = sent_in_c()
  IF (ANY(b /= a(2:4:2, :)) .OR. sends /= 1 .OR. sent /= 1) ERROR STOP 2
  CALL MPI_Irecv(b, 8, MPI_INTEGER, 0, 1, MPI_COMM_SELF, r)
  CALL MPI_Send(a(1:3:2, :), 8_MPI_COUNT_KIND, MPI_INTEGER, 0, 1, MPI_COMM_SELF)
  CALL MPI_Wait(r, MPI_STATUS_IGNORE)
  sent = sent_in_c()
  IF (ANY(b /= a(1:3:2, :)) .OR. sends /= 1 .OR. large /= 1 .OR. sent /= 1) ERROR STOP 3
  CALL MPI_Irecv(b, 8, MPI_INTEGER, 0, 1, MPI_COMM_SELF, r)
  CALL send_by_module(a)
  CALL MPI_Wait(r, MPI_STATUS_IGNORE)
  sent = sent_in_c()
  IF (older /= 1 .OR. sends /= 1 .OR. sent /= 2) ERROR STOP 4
  ! Nobody replaces PMPI_X, which is the library's.
  CALL PMPI_Comm_rank(MPI_COMM_SELF, rank)
  IF (ranks /= 1) ERROR STOP 5
  ! A callback goes through the tool of its method.
  CALL MPI_Op_create(add, .TRUE., op)
  c = 3
  d = 4
  CALL MPI_Reduce_local(c, d, 1, MPI_INTEGER, op)
  CALL MPI_Op_free(op)
  IF (operations /= 1 .OR. d /= 7) ERROR STOP 6
  PRINT '(A)', 'no errors'
  CALL MPI_Finalize()
END PROGRAM tool

SUBROUTINE add(invec, inoutvec, len, datatype)
  USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_PTR, C_F_POINTER
  USE mpi_f08
  IMPLICIT NONE
  TYPE(C_PTR), VALUE :: invec, inoutvec
  INTEGER :: len
  TYPE(MPI_Datatype) :: datatype
  INTEGER, POINTER :: a(:), b(:)
  IF (datatype /= MPI_INTEGER) ERROR STOP 7
  CALL C_F_POINTER(invec, a, [len])
  CALL C_F_POINTER(inoutvec, b, [len])
  b = a + b
END SUBROUTINE add
