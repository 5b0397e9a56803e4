! Example 8.2: memory that MPI allocates, through the non-standard pointers of Cray, which are integers
! (MEM-08, MEM-09, DEP-04).
PROGRAM ex_08_2
  USE mpi
  IMPLICIT NONE
  REAL :: a
  POINTER (p, a(100, 100)) ! no memory is allocated
  INTEGER(KIND=MPI_ADDRESS_KIND) :: size
  INTEGER :: ierr
  CALL MPI_INIT(ierr)
  size = 4 * 100 * 100
  CALL MPI_ALLOC_MEM(size, MPI_INFO_NULL, p, ierr)
  ! memory is allocated
  a = 1
  a(3, 5) = 2.71
  IF (SUM(a) < 10001.7 .OR. SUM(a) > 10001.72) ERROR STOP 1
  CALL MPI_FREE_MEM(a, ierr) ! memory is freed
  IF (ierr /= MPI_SUCCESS) ERROR STOP 2
  PRINT '(A)', 'no errors'
  CALL MPI_FINALIZE(ierr)
END PROGRAM ex_08_2
