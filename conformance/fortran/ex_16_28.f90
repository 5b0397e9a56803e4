! Example 16.28: an array is sent from Fortran and received in C, by one datatype with its absolute
! address (LNG-12, E2-07).
PROGRAM ex_16_28
  USE mpi_f08
  IMPLICIT NONE
  EXTERNAL c_routine
  REAL, ASYNCHRONOUS :: r(5)
  INTEGER :: ierr, myrank, aoblen(1)
  TYPE(MPI_Datatype) :: aotype(1), dt
  INTEGER(KIND=MPI_ADDRESS_KIND) :: aodisp(1)
  CALL MPI_INIT(ierr)

  ! create an absolute datatype for array r
  aoblen(1) = 5
  CALL MPI_GET_ADDRESS(r, aodisp(1), ierr)
  aotype(1) = MPI_REAL
  CALL MPI_TYPE_CREATE_STRUCT(1, aoblen, aodisp, aotype, dt, ierr)
  CALL MPI_TYPE_COMMIT(dt, ierr)

  CALL MPI_COMM_RANK(MPI_COMM_WORLD, myrank, ierr)
  r = 0
  IF (myrank == 0) r = [1., 2., 3., 4., 5.]
  CALL MPI_F_SYNC_REG(r)
  IF (myrank == 0) THEN
    CALL MPI_SEND(MPI_BOTTOM, 1, dt, 1, 0, MPI_COMM_WORLD, ierr)
  ELSE
    CALL c_routine(dt%MPI_VAL)
  END IF
  CALL MPI_F_SYNC_REG(r)
  IF (ANY(NINT(r) /= [1, 2, 3, 4, 5])) ERROR STOP 1
  CALL MPI_TYPE_FREE(dt, ierr)
  IF (myrank == 0) PRINT '(A)', 'no errors'
  CALL MPI_FINALIZE(ierr)
END PROGRAM ex_16_28
