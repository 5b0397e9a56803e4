/*
 * attr_languages: attributes of communicators, datatypes and windows between C and Fortran (LNG-10,
 * ATT-04; MPI-5, 19.3.7). What Fortran sets is an integer, which C reads behind a pointer; of what C
 * sets Fortran reads the bits. Predefined attributes are values in Fortran. Functions of a key get
 * attributes in the form of their language, and destructors are called once.
 */
#include "check.h"

#include <stdint.h>

#define BIG ((MPI_Aint)0x123456789abc)

static int ended, copies, deletions;
static MPI_Aint seen, seen_in_c;

static void end(void *extra) { ended += *(int *)extra; }

/* Functions of a key of Fortran: they get integers. */
static int copy(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
	(void)c, (void)key, (void)extra;
	copies++;
	seen = (MPI_Aint)in;
	*(MPI_Aint *)out = (MPI_Aint)in + (seen % 2); /* odd values are changed, even ones are not */
	*flag = 1;
	return MPI_SUCCESS;
}

static int delete(MPI_Comm c, int key, void *value, void *extra)
{
	(void)c, (void)key, (void)extra;
	deletions++;
	seen = (MPI_Aint)value;
	return MPI_SUCCESS;
}

/* Functions of a key of C: they get pointers. */
static int copy_in_c(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
	(void)c, (void)key, (void)extra;
	seen_in_c = *(MPI_Aint *)in;
	*(void **)out = in;
	*flag = 1;
	return MPI_SUCCESS;
}

static int delete_in_c(MPI_Comm c, int key, void *value, void *extra)
{
	(void)c, (void)key, (void)extra;
	seen_in_c = *(MPI_Aint *)value;
	return MPI_SUCCESS;
}

static void communicators(void)
{
	int key, key_of_c, flag, one = 1, old;
	MPI_Aint value, *at, *copied;
	void *p;
	MPI_Comm a, b;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &a));
	OK(MPIX_Comm_create_keyval_as_fortran(copy, delete, end, &key, &one));
	OK(MPIX_Comm_get_attr_as_fortran(a, key, &value, &flag));
	CHECK(!flag);

	/* Fortran sets, C reads: both widths. */
	OK(MPIX_Comm_set_attr_as_fortran(a, key, (void *)BIG));
	OK(MPI_Comm_get_attr(a, key, &at, &flag));
	CHECK(flag && *at == BIG);
	OK(MPIX_Comm_get_attr_as_fortran(a, key, &value, &flag));
	CHECK(flag && value == BIG);
	OK(MPIX_Comm_set_attr_as_fortran(a, key, (void *)(intptr_t)-7));
	CHECK(deletions == 1 && seen == BIG);
	OK(MPI_Comm_get_attr(a, key, &p, &flag));
	CHECK(flag && *(int *)p == -7 && *(MPI_Aint *)p == -7);

	/* Copies have values of their own. */
	OK(MPI_Comm_dup(a, &b)); /* -7 is odd */
	CHECK(copies == 1 && seen == -7);
	OK(MPI_Comm_get_attr(b, key, &copied, &flag));
	CHECK(flag && *copied == -8 && (void *)copied != p);
	OK(MPI_Comm_free(&b));
	CHECK(deletions == 2 && seen == -8);
	OK(MPIX_Comm_set_attr_as_fortran(a, key, (void *)(intptr_t)40));
	OK(MPI_Comm_dup(a, &b)); /* 40 is even: the copy is what the original is */
	OK(MPI_Comm_get_attr(a, key, &at, &flag));
	OK(MPI_Comm_get_attr(b, key, &copied, &flag));
	CHECK(flag && *copied == 40 && copied != at);
	OK(MPI_Comm_free(&b));

	/* C sets, Fortran reads the bits; a copy by Fortran of the same value is a pointer again. */
	static int object[2];
	OK(MPI_Comm_set_attr(a, key, object));
	OK(MPIX_Comm_get_attr_as_fortran(a, key, &value, &flag));
	CHECK(flag && value == (MPI_Aint)object);
	OK(MPI_Comm_dup(a, &b));
	OK(MPI_Comm_get_attr(b, key, &p, &flag));
	CHECK(flag && p == object && seen == (MPI_Aint)object);
	OK(MPI_Comm_free(&b));

	/* Functions of C get the address of what Fortran has set. */
	OK(MPI_Comm_create_keyval(copy_in_c, delete_in_c, &key_of_c, NULL));
	OK(MPIX_Comm_set_attr_as_fortran(a, key_of_c, (void *)BIG));
	OK(MPI_Comm_dup(a, &b));
	CHECK(seen_in_c == BIG);
	OK(MPIX_Comm_set_attr_as_fortran(a, key_of_c, (void *)(intptr_t)5));
	OK(MPIX_Comm_get_attr_as_fortran(b, key_of_c, &value, &flag));
	CHECK(flag && value == BIG);
	seen_in_c = 0;
	OK(MPI_Comm_free(&b));
	CHECK(seen_in_c == BIG);
	OK(MPI_Comm_delete_attr(a, key_of_c));
	CHECK(seen_in_c == 5);
	OK(MPI_Comm_free_keyval(&key_of_c));

	/* The key ends with its last attribute, and so its destructor is called. */
	old = key;
	OK(MPI_Comm_free_keyval(&key));
	CHECK(key == MPI_KEYVAL_INVALID && ended == 0);
	OK(MPI_Comm_delete_attr(a, old));
	CHECK(ended == 1);

	/* The predefined functions, by which Fortran's are the same in C. */
	OK(MPIX_Comm_create_keyval_as_fortran(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, end, &key, &one));
	OK(MPIX_Comm_create_keyval_as_fortran(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, NULL, &old, NULL));
	OK(MPIX_Comm_set_attr_as_fortran(a, key, (void *)BIG));
	OK(MPIX_Comm_set_attr_as_fortran(a, old, (void *)BIG));
	OK(MPI_Comm_dup(a, &b));
	OK(MPIX_Comm_get_attr_as_fortran(b, key, &value, &flag));
	CHECK(flag && value == BIG);
	OK(MPIX_Comm_get_attr_as_fortran(b, old, &value, &flag));
	CHECK(!flag);
	OK(MPI_Comm_free(&a));
	OK(MPI_Comm_free(&b));
	OK(MPI_Comm_free_keyval(&old));
	OK(MPI_Comm_free_keyval(&key));
	CHECK(ended == 2);
}

static void types_and_windows(void)
{
	int key, flag, one = 1, *unit;
	MPI_Aint value, *at;
	MPI_Datatype t, u;
	MPI_Win w;
	double mem[3] = {0};
	ended = 0;
	OK(MPIX_Type_create_keyval_as_fortran(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, end, &key, &one));
	OK(MPI_Type_contiguous(2, MPI_INT, &t));
	OK(MPIX_Type_set_attr_as_fortran(t, key, (void *)BIG));
	OK(MPI_Type_dup(t, &u));
	OK(MPI_Type_free(&t));
	OK(MPI_Type_get_attr(u, key, &at, &flag));
	CHECK(flag && *at == BIG);
	OK(MPIX_Type_get_attr_as_fortran(u, key, &value, &flag));
	CHECK(flag && value == BIG);
	OK(MPI_Type_free(&u));
	OK(MPI_Type_free_keyval(&key));
	CHECK(ended == 1);

	OK(MPI_Win_create(mem, sizeof mem, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &w));
	OK(MPIX_Win_create_keyval_as_fortran(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, end, &key, &one));
	OK(MPIX_Win_set_attr_as_fortran(w, key, (void *)(intptr_t)-1));
	OK(MPI_Win_get_attr(w, key, &unit, &flag));
	CHECK(flag && *unit == -1);

	/* Predefined attributes: values in Fortran, and the address of the memory. */
	OK(MPIX_Win_get_attr_as_fortran(w, MPI_WIN_BASE, &value, &flag));
	CHECK(flag && value == (MPI_Aint)mem);
	OK(MPIX_Win_get_attr_as_fortran(w, MPI_WIN_SIZE, &value, &flag));
	CHECK(flag && value == sizeof mem);
	OK(MPIX_Win_get_attr_as_fortran(w, MPI_WIN_DISP_UNIT, &value, &flag));
	CHECK(flag && value == sizeof(double));
	OK(MPIX_Win_get_attr_as_fortran(w, MPI_WIN_CREATE_FLAVOR, &value, &flag));
	CHECK(flag && value == MPI_WIN_FLAVOR_CREATE);
	OK(MPIX_Win_get_attr_as_fortran(w, MPI_WIN_MODEL, &value, &flag));
	CHECK(flag && value == MPI_WIN_UNIFIED);
	OK(MPI_Win_free_keyval(&key));
	CHECK(ended == 1);
	OK(MPI_Win_free(&w));
	CHECK(ended == 2);
}

static void predefined(void)
{
	static const int keys[] = {MPI_TAG_UB, MPI_IO, MPI_HOST, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_LASTUSEDCODE, MPI_UNIVERSE_SIZE};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		int *c, flag, flag_of_fortran;
		MPI_Aint value = 99;
		OK(MPI_Comm_get_attr(MPI_COMM_WORLD, keys[i], &c, &flag));
		OK(MPIX_Comm_get_attr_as_fortran(MPI_COMM_WORLD, keys[i], &value, &flag_of_fortran));
		CHECK(flag == flag_of_fortran && (!flag || value == *c), "attribute %d: %ld in Fortran", keys[i], (long)value);
	}
	FAILS(MPIX_Comm_set_attr_as_fortran(MPI_COMM_WORLD, MPI_TAG_UB, (void *)1), MPI_ERR_KEYVAL);
}

static void refused(void)
{
	int key = 7, flag;
	MPI_Aint value;
	FAILS(MPIX_Comm_set_attr_as_fortran(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, NULL), MPI_ERR_KEYVAL);
	FAILS(MPIX_Comm_set_attr_as_fortran(MPI_COMM_NULL, MPI_KEYVAL_INVALID, NULL), MPI_ERR_COMM);
	FAILS(MPIX_Type_set_attr_as_fortran(MPI_DATATYPE_NULL, MPI_KEYVAL_INVALID, NULL), MPI_ERR_TYPE);
	FAILS(MPIX_Win_get_attr_as_fortran(MPI_WIN_NULL, MPI_WIN_BASE, &value, &flag), MPI_ERR_WIN);
	FAILS(MPIX_Comm_get_attr_as_fortran(MPI_COMM_WORLD, MPI_TAG_UB, NULL, &flag), MPI_ERR_ARG);
	FAILS(MPIX_Comm_get_attr_as_fortran(MPI_COMM_WORLD, MPI_TAG_UB, &value, NULL), MPI_ERR_ARG);
	FAILS(MPIX_Comm_create_keyval_as_fortran(copy, delete, (MPIX_Destructor_function *)8, &key, NULL), MPI_ERR_ARG);
	FAILS(MPIX_Comm_create_keyval_as_fortran(copy, delete, NULL, NULL, NULL), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	communicators();
	types_and_windows();
	predefined();
	refused();
	return done();
}
