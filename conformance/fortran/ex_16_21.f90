! Example 16.21: MPI_TYPE_COMMIT by way of a function of C, which converts the handle (LNG-03).
PROGRAM ex_16_21
  USE mpi
  IMPLICIT NONE
  EXTERNAL x_type_commit
  INTEGER :: datatype, ierr, numbers(6)
  CALL MPI_INIT(ierr)
  CALL MPI_TYPE_VECTOR(3, 1, 2, MPI_INTEGER, datatype, ierr)
  CALL x_type_commit(datatype, ierr)
  IF (ierr /= MPI_SUCCESS) ERROR STOP 1
  numbers = [1, 2, 3, 4, 5, 6]
  CALL MPI_SENDRECV(numbers(2), 1, datatype, 0, 1, numbers(1), 1, datatype, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierr)
  IF (ANY(numbers /= [2, 2, 4, 4, 6, 6])) ERROR STOP 2
  CALL MPI_TYPE_FREE(datatype, ierr)
  PRINT '(A)', 'no errors'
  CALL MPI_FINALIZE(ierr)
END PROGRAM ex_16_21
