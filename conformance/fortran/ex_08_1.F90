! Example 8.1: memory that MPI allocates, through TYPE(C_PTR) (MEM-08, MEM-09, CHG-03).
#include "method.inc"
PROGRAM ex_08_1
  USE_MPI
  USE, INTRINSIC :: ISO_C_BINDING
  IMPLICIT NONE
  INCLUDE_MPI
  TYPE(C_PTR) :: p
  REAL, DIMENSION(:, :), POINTER :: a ! no memory is allocated
  INTEGER, DIMENSION(2) :: shape
  INTEGER(KIND=MPI_ADDRESS_KIND) :: size
  INTEGER :: ierr
  CALL MPI_Init(ierr)
  shape = (/ 100, 100 /)
  size = 4 * shape(1) * shape(2) ! assuming 4 bytes per REAL
  CALL MPI_Alloc_mem(size, MPI_INFO_NULL, p, ierr) ! memory is allocated and
  CALL C_F_POINTER(p, a, shape) ! now accessible via a(i,j)
  a = 1
  a(3, 5) = 2.71
  IF (SUM(a) < 10001.7 .OR. SUM(a) > 10001.72) ERROR STOP 1
  CALL MPI_Free_mem(a, ierr) ! memory is freed
  IF (ierr /= MPI_SUCCESS) ERROR STOP 2
  PRINT '(A)', 'no errors'
  CALL MPI_Finalize(ierr)
END PROGRAM ex_08_1
