! The examples of section 16.3.7 of the standard: attributes that C and Fortran set and read, with
! integers of both widths, predefined ones, and functions of keyvals in the convention of the language
! that has registered them (LNG-08, LNG-10, ATT-04, ATT-08).
#include "method.inc"
MODULE functions
  USE_MPI
  IMPLICIT NONE
  INCLUDE_MPI
  INTEGER :: copies = 0, deletions = 0
  INTEGER(KIND=MPI_ADDRESS_KIND) :: copied = 0, deleted = 0
CONTAINS
  SUBROUTINE copy_fn(oldcomm, keyval, extra_state, value_in, value_out, flag, ierror)
    T_COMM :: oldcomm
    INTEGER :: keyval, ierror
    INTEGER(KIND=MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
    LOGICAL :: flag
    IF (oldcomm == MPI_COMM_NULL .OR. keyval == MPI_KEYVAL_INVALID .OR. extra_state /= 99) ERROR STOP 101
    copies = copies + 1
    copied = value_in
    value_out = value_in + 1
    flag = .TRUE.
    ierror = MPI_SUCCESS
  END SUBROUTINE copy_fn

  SUBROUTINE delete_fn(comm, keyval, value, extra_state, ierror)
    T_COMM :: comm
    INTEGER :: keyval, ierror
    INTEGER(KIND=MPI_ADDRESS_KIND) :: value, extra_state
    IF (comm == MPI_COMM_NULL .OR. keyval == MPI_KEYVAL_INVALID .OR. extra_state /= 99) ERROR STOP 102
    deletions = deletions + 1
    deleted = value
    ierror = MPI_SUCCESS
  END SUBROUTINE delete_fn
END MODULE functions

PROGRAM ex_16_3_7
  USE functions
  IMPLICIT NONE
  EXTERNAL c_set ! C sets an attribute to the address of an int
  LOGICAL, EXTERNAL :: c_reads ! whether C reads the address of an MPI_Aint
  LOGICAL, EXTERNAL :: c_reads_int ! whether C reads the address of an int
  EXTERNAL c_keyval ! makes a keyval with functions of C
  LOGICAL, EXTERNAL :: c_has_copied ! whether its copy function was called for a number
  EXTERNAL c_dup_and_free
  INTEGER(KIND=MPI_ADDRESS_KIND), PARAMETER :: big = 2_MPI_ADDRESS_KIND**40 + 7, minus = -3, state = 99
  INTEGER(KIND=MPI_ADDRESS_KIND) :: address, number, room
  INTEGER, TARGET :: memory(10)
  INTEGER :: keyval, of_c, dups, ierr, bytes
  T_COMM :: comm, dup
  T_WIN :: win
  T_DATATYPE :: pair, twin
  LOGICAL :: flag
  CALL MPI_Init(ierr)
  CALL MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  CALL MPI_Comm_create_keyval(copy_fn, delete_fn, keyval, state, ierr)

  ! C sets, Fortran reads the bits of the pointer
  CALL c_set(number_of(comm), keyval, address)
  CALL MPI_Comm_get_attr(comm, keyval, number, flag, ierr)
  IF (.NOT. flag .OR. number /= address) ERROR STOP 1

  ! Fortran sets, C reads the address of the integer
  CALL MPI_Comm_set_attr(comm, keyval, big, ierr)
  IF (deletions /= 1 .OR. deleted /= address) ERROR STOP 2
  CALL MPI_Comm_get_attr(comm, keyval, number, flag, ierr)
  IF (.NOT. flag .OR. number /= big) ERROR STOP 3
  IF (.NOT. c_reads(number_of(comm), keyval, big)) ERROR STOP 24

  ! functions of Fortran are called from C, and get integers
  CALL c_dup_and_free(number_of(comm))
  IF (copies /= 1 .OR. copied /= big .OR. deletions /= 2 .OR. deleted /= big + 1) ERROR STOP 4
  CALL MPI_Comm_dup(comm, dup, ierr)
  IF (.NOT. c_reads(number_of(dup), keyval, big + 1)) ERROR STOP 5
  IF (.NOT. c_reads(number_of(comm), keyval, big)) ERROR STOP 25
  CALL MPI_Comm_free(dup, ierr)

#if !defined(METHOD_F08)
  ! the older functions, with a default INTEGER
  CALL MPI_ATTR_GET(comm, keyval, bytes, flag, ierr)
  IF (.NOT. flag .OR. bytes /= 7) ERROR STOP 6 ! the lower bits
  CALL MPI_ATTR_PUT(comm, keyval, -3, ierr)
  CALL MPI_ATTR_GET(comm, keyval, bytes, flag, ierr)
  IF (.NOT. flag .OR. bytes /= -3) ERROR STOP 7
  CALL MPI_ATTR_DELETE(comm, keyval, ierr)
  CALL MPI_ATTR_GET(comm, keyval, bytes, flag, ierr)
  IF (flag) ERROR STOP 8
  CALL MPI_ATTR_PUT(comm, keyval, -3, ierr)
#else
  CALL MPI_Comm_set_attr(comm, keyval, minus, ierr)
#endif
  CALL MPI_Comm_get_attr(comm, keyval, number, flag, ierr)
  IF (.NOT. flag .OR. number /= minus) ERROR STOP 9 ! the sign is extended
  IF (.NOT. c_reads_int(number_of(comm), keyval, -3)) ERROR STOP 10
  IF (.NOT. c_reads(number_of(comm), keyval, minus)) ERROR STOP 26
  CALL MPI_Comm_delete_attr(comm, keyval, ierr)
  IF (deleted /= -3) ERROR STOP 11
  CALL MPI_Comm_free_keyval(keyval, ierr)
  IF (keyval /= MPI_KEYVAL_INVALID) ERROR STOP 12

  ! functions of C are called from Fortran, and get the address of the integer
  CALL c_keyval(of_c)
  CALL MPI_Comm_set_attr(comm, of_c, big, ierr)
  CALL MPI_Comm_dup(comm, dup, ierr)
  IF (.NOT. c_has_copied(big)) ERROR STOP 13
  CALL MPI_Comm_get_attr(dup, of_c, number, flag, ierr)
  IF (.NOT. flag .OR. number /= big) ERROR STOP 14
  CALL MPI_Comm_free(dup, ierr)
  CALL MPI_Comm_free_keyval(of_c, ierr)

  ! the predefined functions
  CALL MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, dups, state, ierr)
  CALL MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, state, ierr)
  CALL MPI_Comm_set_attr(comm, dups, big, ierr)
  CALL MPI_Comm_set_attr(comm, keyval, big, ierr)
  CALL MPI_Comm_dup(comm, dup, ierr)
  CALL MPI_Comm_get_attr(dup, dups, number, flag, ierr)
  IF (.NOT. flag .OR. number /= big) ERROR STOP 15
  IF (.NOT. c_reads(number_of(dup), dups, big)) ERROR STOP 27
  CALL MPI_Comm_get_attr(dup, keyval, number, flag, ierr)
  IF (flag) ERROR STOP 16
  CALL MPI_Comm_free(dup, ierr)
  CALL MPI_Comm_free_keyval(dups, ierr)
  CALL MPI_Comm_free_keyval(keyval, ierr)
  CALL MPI_Comm_free(comm, ierr)

  ! predefined attributes: values, and the address of a window's memory
  CALL MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, number, flag, ierr)
  IF (.NOT. flag .OR. number < 32767) ERROR STOP 17
  CALL MPI_Type_size(MPI_INTEGER, bytes, ierr)
  room = 10 * bytes
  CALL MPI_Win_create(memory, room, bytes, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  CALL MPI_Win_get_attr(win, MPI_WIN_SIZE, number, flag, ierr)
  IF (.NOT. flag .OR. number /= room) ERROR STOP 18
  CALL MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, number, flag, ierr)
  IF (.NOT. flag .OR. number /= bytes) ERROR STOP 19
  CALL MPI_Win_get_attr(win, MPI_WIN_BASE, number, flag, ierr)
  CALL MPI_Get_address(memory, address, ierr)
  IF (.NOT. flag .OR. number /= address) ERROR STOP 20
  CALL MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, number, flag, ierr)
  IF (.NOT. flag .OR. number /= MPI_WIN_FLAVOR_CREATE) ERROR STOP 21
  CALL MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, keyval, state, ierr)
  CALL MPI_Win_set_attr(win, keyval, big, ierr)
  CALL MPI_Win_get_attr(win, keyval, number, flag, ierr)
  IF (.NOT. flag .OR. number /= big) ERROR STOP 22
  CALL MPI_Win_free_keyval(keyval, ierr)
  CALL MPI_Win_free(win, ierr)

  ! datatypes
  CALL MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, keyval, state, ierr)
  CALL MPI_Type_contiguous(2, MPI_REAL, pair, ierr)
  CALL MPI_Type_set_attr(pair, keyval, minus, ierr)
  CALL MPI_Type_dup(pair, twin, ierr)
  CALL MPI_Type_get_attr(twin, keyval, number, flag, ierr)
  IF (.NOT. flag .OR. number /= minus) ERROR STOP 23
  CALL MPI_Type_free(pair, ierr)
  CALL MPI_Type_free(twin, ierr)
  CALL MPI_Type_free_keyval(keyval, ierr)
  PRINT '(A)', 'no errors'
  CALL MPI_Finalize(ierr)
CONTAINS
  INTEGER FUNCTION number_of(c)
    T_COMM, INTENT(IN) :: c
#if defined(METHOD_F08)
    number_of = c%MPI_VAL
#else
    number_of = c
#endif
  END FUNCTION number_of
END PROGRAM ex_16_3_7
