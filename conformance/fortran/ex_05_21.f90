! Example 5.21: the user function of a reduction in the module mpi_f08 (COL-08, E2-06).
MODULE reals
CONTAINS
  SUBROUTINE my_user_function(invec, inoutvec, len, datatype)
    USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_PTR, C_F_POINTER
    USE mpi_f08
    TYPE(C_PTR), VALUE :: invec, inoutvec
    INTEGER :: len
    TYPE(MPI_Datatype) :: datatype
    REAL, POINTER :: invec_r(:), inoutvec_r(:)
    IF (datatype%MPI_VAL == MPI_REAL%MPI_VAL) THEN
      CALL C_F_POINTER(invec, invec_r, (/ len /))
      CALL C_F_POINTER(inoutvec, inoutvec_r, (/ len /))
      inoutvec_r = invec_r + inoutvec_r
    END IF
  END SUBROUTINE my_user_function
END MODULE reals

PROGRAM ex_05_21
  USE mpi_f08
  USE reals
  IMPLICIT NONE
  TYPE(MPI_Op) :: op
  INTEGER :: rank, size, i
  REAL :: mine(100), total(100)
  CALL MPI_Init()
  CALL MPI_Comm_rank(MPI_COMM_WORLD, rank)
  CALL MPI_Comm_size(MPI_COMM_WORLD, size)
  CALL MPI_Op_create(my_user_function, .TRUE., op)
  mine = [(REAL(rank + i), i = 1, 100)]
  CALL MPI_Allreduce(mine, total, 100, MPI_REAL, op, MPI_COMM_WORLD)
  IF (ANY(NINT(total) /= [(size * i + size * (size - 1) / 2, i = 1, 100)])) ERROR STOP 1
  total = 1
  CALL MPI_Reduce_local(mine, total, 100, MPI_REAL, op)
  IF (ANY(NINT(total) /= NINT(mine) + 1)) ERROR STOP 2
  CALL MPI_Op_free(op)
  IF (op /= MPI_OP_NULL) ERROR STOP 3
  IF (rank == 0) PRINT '(A)', 'no errors'
  CALL MPI_Finalize()
END PROGRAM ex_05_21
