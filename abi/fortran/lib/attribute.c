/*
 * attribute.c: attributes and keyvals. An attribute of Fortran is an INTEGER(KIND=MPI_ADDRESS_KIND), or
 * an INTEGER with the deprecated MPI_ATTR_PUT; one of C is a pointer. The library of the ABI knows which
 * is which if it has MPIX_X_set_attr_as_fortran; otherwise the integer is stored as if it were a pointer,
 * which is right for programs that set and read their attributes in Fortran.
 */
#include "byhand.h"
#include "halo_fortran.h"

typedef void(copy_function)(MPI_Fint *, MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Aint *, MPI_Fint *, MPI_Fint *);
typedef void(delete_function)(MPI_Fint *, MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Fint *);
typedef void(narrow_copy_function)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
typedef void(narrow_delete_function)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);

/* What a keyval of Fortran passes to the trampolines. */
struct keyval {
	halo_function *copy, *delete;
	MPI_Aint state;
	int narrow; /* the procedures are those of MPI_KEYVAL_CREATE, whose integers are INTEGER */
};

static int copied(const struct keyval *k, MPI_Fint object, MPI_Fint number, void *in, void *out, int *flag) {
	MPI_Fint code = MPI_SUCCESS, keep = 0;
	MPI_Aint state = k->state, old = (MPI_Aint)in, new = old;
	if (k->narrow) {
		MPI_Fint narrow_state = (MPI_Fint)state, narrow_old = (MPI_Fint)old, narrow_new = narrow_old;
		((narrow_copy_function *)k->copy)(&object, &number, &narrow_state, &narrow_old, &narrow_new, &keep, &code);
		new = narrow_new;
	} else
		((copy_function *)k->copy)(&object, &number, &state, &old, &new, &keep, &code);
	*flag = keep != 0;
	if (*flag)
		*(void **)out = (void *)new;
	return code;
}

static int deleted(const struct keyval *k, MPI_Fint object, MPI_Fint number, void *value) {
	MPI_Fint code = MPI_SUCCESS;
	MPI_Aint state = k->state, old = (MPI_Aint)value;
	if (k->narrow) {
		MPI_Fint narrow_state = (MPI_Fint)state, narrow_old = (MPI_Fint)old;
		((narrow_delete_function *)k->delete)(&object, &number, &narrow_old, &narrow_state, &code);
	} else
		((delete_function *)k->delete)(&object, &number, &old, &state, &code);
	return code;
}

/* The predefined functions, which programs can also call themselves: for each kind of object those of
 * mpif.h and the module mpi, and the names that gfortran and flang give to those of mpi_f08. */
#define PREDEFINED(x, integer) \
	void mpi_##x##null_copy_fn_(MPI_Fint *object, MPI_Fint *keyval, integer *state, integer *in, integer *out, MPI_Fint *flag, MPI_Fint *ierror) { \
		(void)object, (void)keyval, (void)state, (void)in, (void)out; \
		*flag = 0; \
		*ierror = MPI_SUCCESS; \
	} \
	void mpi_##x##dup_fn_(MPI_Fint *object, MPI_Fint *keyval, integer *state, integer *in, integer *out, MPI_Fint *flag, MPI_Fint *ierror) { \
		(void)object, (void)keyval, (void)state; \
		*out = *in; \
		*flag = 1; \
		*ierror = MPI_SUCCESS; \
	} \
	void mpi_##x##null_delete_fn_(MPI_Fint *object, MPI_Fint *keyval, integer *value, integer *state, MPI_Fint *ierror) { \
		(void)object, (void)keyval, (void)value, (void)state; \
		*ierror = MPI_SUCCESS; \
	}
PREDEFINED(comm_, MPI_Aint)
PREDEFINED(type_, MPI_Aint)
PREDEFINED(win_, MPI_Aint)
PREDEFINED(, MPI_Fint)

#define IS(f, x) (f == (halo_function *)mpi_##x##_ || f == __mpi_f08_MOD_mpi_##x || f == _QMmpi_f08Pmpi_##x)
#define WEAK(x) \
	extern halo_function __mpi_f08_MOD_mpi_##x __attribute__((weak)), _QMmpi_f08Pmpi_##x __attribute__((weak));

/* The keyvals and attributes of one kind of object. */
#define KIND(type, name, x, X) \
	WEAK(x##_null_copy_fn) \
	WEAK(x##_dup_fn) \
	WEAK(x##_null_delete_fn) \
	static int copy_##x(type object, int keyval, void *state, void *in, void *out, int *flag) { \
		return copied(state, out_##type(object), keyval, in, out, flag); \
	} \
	static int delete_##x(type object, int keyval, void *value, void *state) { \
		return deleted(state, out_##type(object), keyval, value); \
	} \
	static int create_##x(halo_function *copy, halo_function *delete, MPI_Fint *keyval, MPI_Aint state, int narrow) { \
		struct keyval *k = halo_malloc(sizeof *k); \
		*k = (struct keyval){copy, delete, state, narrow}; \
		MPI_##name##_copy_attr_function *c = IS(copy, x##_null_copy_fn) || copy == (halo_function *)mpi_null_copy_fn_ ? MPI_##X##_NULL_COPY_FN \
			: IS(copy, x##_dup_fn) || copy == (halo_function *)mpi_dup_fn_ ? MPI_##X##_DUP_FN : copy_##x; \
		MPI_##name##_delete_attr_function *d = IS(delete, x##_null_delete_fn) || delete == (halo_function *)mpi_null_delete_fn_ ? MPI_##X##_NULL_DELETE_FN : delete_##x; \
		int number = MPI_KEYVAL_INVALID, code; \
		if (MPIX_##name##_create_keyval_as_fortran) \
			code = MPIX_##name##_create_keyval_as_fortran(c, d, free, &number, k); \
		else /* k stays as long as the program: attributes outlive the keyval */ \
			code = MPI_##name##_create_keyval(c, d, &number, k); \
		if (code == MPI_SUCCESS) \
			*keyval = number; \
		else \
			free(k); \
		return code; \
	} \
	void pmpi_##x##_create_keyval_(halo_function *copy, halo_function *delete, MPI_Fint *keyval, MPI_Aint *state, MPI_Fint *ierror) { \
		int code = create_##x(copy, delete, keyval, *state, 0); \
		HALO_RETURN(code); \
	} \
	HALO_NAMES(x##_create_keyval) \
	static int set_##x(type object, MPI_Fint keyval, MPI_Aint value) { \
		if (MPIX_##name##_set_attr_as_fortran) \
			return MPIX_##name##_set_attr_as_fortran(object, keyval, (void *)value); \
		return MPI_##name##_set_attr(object, keyval, (void *)value); \
	} \
	static int get_##x(type object, MPI_Fint keyval, MPI_Aint *value, int *flag) { \
		if (MPIX_##name##_get_attr_as_fortran) \
			return MPIX_##name##_get_attr_as_fortran(object, keyval, value, flag); \
		void *stored = NULL; \
		int code = MPI_##name##_get_attr(object, keyval, &stored, flag); \
		if (code == MPI_SUCCESS && *flag) \
			*value = behind(keyval, stored); \
		return code; \
	} \
	void pmpi_##x##_set_attr_(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *ierror) { \
		int code = set_##x(in_##type(*object), *keyval, *value); \
		HALO_RETURN(code); \
	} \
	HALO_NAMES(x##_set_attr) \
	void pmpi_##x##_get_attr_(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *ierror) { \
		int code = get_##x(in_##type(*object), *keyval, value, flag); \
		HALO_RETURN(code); \
	} \
	HALO_NAMES(x##_get_attr)

/* The value of an attribute that C returns as a pointer. Those of predefined keyvals but MPI_WIN_BASE
 * are behind it. */
static MPI_Aint behind(MPI_Fint keyval, void *stored) {
	switch (keyval) {
	case MPI_TAG_UB:
	case MPI_IO:
	case MPI_HOST:
	case MPI_WTIME_IS_GLOBAL:
	case MPI_APPNUM:
	case MPI_LASTUSEDCODE:
	case MPI_UNIVERSE_SIZE:
	case MPI_WIN_DISP_UNIT:
	case MPI_WIN_CREATE_FLAVOR:
	case MPI_WIN_MODEL:
		return *(int *)stored;
	case MPI_WIN_SIZE:
		return *(MPI_Aint *)stored;
	}
	return (MPI_Aint)stored;
}

KIND(MPI_Comm, Comm, comm, COMM)
KIND(MPI_Datatype, Type, type, TYPE)
KIND(MPI_Win, Win, win, WIN)

void pmpi_keyval_create_(halo_function *copy, halo_function *delete, MPI_Fint *keyval, MPI_Fint *state, MPI_Fint *ierror) {
	int code = create_comm(copy, delete, keyval, *state, 1);
	HALO_RETURN(code);
}
HALO_ALIAS(mpi_keyval_create_, pmpi_keyval_create_)

void pmpi_attr_put_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *ierror) {
	int code = set_comm(in_MPI_Comm(*comm), *keyval, *value);
	HALO_RETURN(code);
}
HALO_ALIAS(mpi_attr_put_, pmpi_attr_put_)

void pmpi_attr_get_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *flag, MPI_Fint *ierror) {
	MPI_Aint wide = 0;
	int code = get_comm(in_MPI_Comm(*comm), *keyval, &wide, flag);
	if (code == MPI_SUCCESS && *flag)
		*value = (MPI_Fint)wide;
	HALO_RETURN(code);
}
HALO_ALIAS(mpi_attr_get_, pmpi_attr_get_)
