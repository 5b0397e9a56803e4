! The statuses of section 16.3.5: between Fortran's two forms and C's, in all directions; the constants
! that stand for no status are those that C knows (LNG-05, LNG-06, CST-09, ST-02, ST-03).
#include "method.inc"
PROGRAM ex_16_3_5
  USE_MPI
  IMPLICIT NONE
  INCLUDE_MPI
  LOGICAL, EXTERNAL :: c_checks_f ! whether C has the same status
  LOGICAL, EXTERNAL :: c_ignores ! whether C knows the addresses of the two constants
  INTEGER :: f(MPI_STATUS_SIZE), ierr, n, numbers(9)
#if defined(METHOD_F08) || defined(METHOD_MPI)
  LOGICAL, EXTERNAL :: c_checks ! whether C has the same status in both forms
  INTEGER :: again(MPI_STATUS_SIZE)
  TYPE(MPI_Status) :: f08
#endif
  T_STATUS :: status
  T_REQUEST :: request
  CALL MPI_Init(ierr)
  numbers = 4
  CALL MPI_Isend(numbers, 9, MPI_INTEGER, 0, 12, MPI_COMM_SELF, request, ierr)
  CALL MPI_Recv(numbers, 9, MPI_INTEGER, 0, 12, MPI_COMM_SELF, status, ierr)
  CALL MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  IF (SOURCE_OF(status) /= 0) ERROR STOP 1
  CALL MPI_Get_count(status, MPI_INTEGER, n, ierr)
  IF (TAG_OF(status) /= 12 .OR. n /= 9) ERROR STOP 2
#if defined(METHOD_F08)
  f08 = status
  CALL MPI_Status_f082f(f08, f, ierr)
#else
  f = status
#endif
  IF (f(MPI_SOURCE) /= 0 .OR. f(MPI_TAG) /= 12) ERROR STOP 3
  IF (.NOT. c_checks_f(f, 9)) ERROR STOP 4
  IF (.NOT. c_ignores(MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE)) ERROR STOP 5
#if defined(METHOD_F08) || defined(METHOD_MPI)
  ! the form of mpi_f08, which mpif.h does not have
  CALL MPI_Status_f2f08(f, f08, ierr)
  IF (ierr /= MPI_SUCCESS .OR. f08%MPI_SOURCE /= 0 .OR. f08%MPI_TAG /= 12) ERROR STOP 6
  CALL MPI_Status_f082f(f08, again, ierr)
  IF (ANY(again /= f)) ERROR STOP 7
  IF (.NOT. c_checks(f, f08, 9)) ERROR STOP 8
#endif
  PRINT '(A)', 'no errors'
  CALL MPI_Finalize(ierr)
END PROGRAM ex_16_3_5
