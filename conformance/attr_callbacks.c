/*
 * attr_callbacks: attributes of communicators, datatypes and windows (MPI-5, 7.7): callbacks
 * for copies and deletions get the specified arguments, their results take effect, predefined
 * attributes exist, and a keyval that was freed exists until its last attribute is deleted. A keyval that was made is not the invalid one (E2-16).
 */
#include "check.h"

#include <stdint.h>

static int copies, deletions, refuse;
static void *extra_seen;
static int key_seen;
static char state;

static int copy(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
	(void)c;
	copies++;
	extra_seen = extra;
	key_seen = key;
	*(void **)out = (char *)in + 1;
	*flag = (intptr_t)in % 2 == 0; /* copies even values only */
	return refuse;
}

static int delete(MPI_Comm c, int key, void *value, void *extra)
{
	(void)c, (void)key, (void)value;
	extra_seen = extra;
	deletions++;
	return refuse;
}

static int copy_type(MPI_Datatype d, int key, void *extra, void *in, void *out, int *flag)
{
	(void)d, (void)key, (void)extra;
	copies++;
	*(void **)out = in;
	*flag = 1;
	return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype d, int key, void *value, void *extra)
{
	(void)d, (void)key, (void)value, (void)extra;
	deletions++;
	return MPI_SUCCESS;
}

static MPI_Win deleted_of;

static int delete_win(MPI_Win w, int key, void *value, void *extra)
{
	(void)key, (void)value, (void)extra;
	deletions++;
	deleted_of = w;
	return MPI_SUCCESS;
}

static void communicators(void)
{
	int key, again, flag;
	void *value;
	MPI_Comm a, b;
	MPI_Comm_dup(MPI_COMM_WORLD, &a);
	MPI_Comm_create_keyval(copy, delete, &key, &state);
	CHECK(key != MPI_KEYVAL_INVALID);
	MPI_Comm_get_attr(a, key, &value, &flag);
	CHECK(!flag);
	MPI_Comm_set_attr(a, key, (void *)40);
	MPI_Comm_get_attr(a, key, &value, &flag);
	CHECK(flag && value == (void *)40);
	MPI_Comm_set_attr(a, key, (void *)42); /* deletes the old value */
	CHECK(deletions == 1 && extra_seen == &state);
	MPI_Comm_dup(a, &b);
	CHECK(copies == 1 && key_seen == key);
	MPI_Comm_get_attr(b, key, &value, &flag);
	CHECK(flag && value == (void *)43);
	again = key;
	MPI_Comm_free_keyval(&key);
	CHECK(key == MPI_KEYVAL_INVALID);
	MPI_Comm_delete_attr(b, again); /* the keyval still exists */
	CHECK(deletions == 2);
	MPI_Comm_get_attr(b, again, &value, &flag);
	CHECK(!flag);
	MPI_Comm_free(&b);
	CHECK(deletions == 2);
	refuse = MPI_ERR_OTHER;
	CHECK(MPI_Comm_dup(a, &b) != MPI_SUCCESS && b == MPI_COMM_NULL);
	CHECK(MPI_Comm_free(&a) != MPI_SUCCESS && a != MPI_COMM_NULL);
	refuse = 0;
	deletions = 0;
	MPI_Comm_free(&a);
	CHECK(deletions == 1);
	FAILS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &state), MPI_ERR_KEYVAL);

	/* The predefined functions. */
	MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &again, NULL);
	MPI_Comm_dup(MPI_COMM_WORLD, &a);
	MPI_Comm_set_attr(a, key, &key);
	MPI_Comm_set_attr(a, again, &again);
	MPI_Comm_dup(a, &b);
	MPI_Comm_get_attr(b, key, &value, &flag);
	CHECK(flag && value == &key);
	MPI_Comm_get_attr(b, again, &value, &flag);
	CHECK(!flag);
	MPI_Comm_free(&a);
	MPI_Comm_free(&b);
	MPI_Comm_free_keyval(&key);
	MPI_Comm_free_keyval(&again);
}

static void predefined(void)
{
	int flag, *v;
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &v, &flag);
	CHECK(flag && *v >= 32767);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &v, &flag);
	CHECK(flag && (*v == 0 || *v == 1));
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &v, &flag);
	CHECK(flag);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &v, &flag);
	CHECK(!flag || *v >= 1);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &v, &flag);
	CHECK(!flag || *v >= 0);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &v, &flag);
	CHECK(flag && *v >= MPI_ERR_LASTCODE);
	FAILS(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB), MPI_ERR_KEYVAL);
}

static void types(void)
{
	int key, flag;
	void *value;
	MPI_Datatype d, e;
	copies = deletions = 0;
	MPI_Type_create_keyval(copy_type, delete_type, &key, NULL);
	CHECK(key != MPI_KEYVAL_INVALID);
	MPI_Type_contiguous(3, MPI_INT, &d);
	MPI_Type_set_attr(d, key, &state);
	MPI_Type_dup(d, &e);
	MPI_Type_get_attr(e, key, &value, &flag);
	CHECK(flag && value == &state && copies == 1);
	MPI_Type_free(&d);
	MPI_Type_free(&e);
	CHECK(deletions == 2);
	MPI_Type_free_keyval(&key);
}

static void windows(void)
{
	int key, flag, *unit, *flavor, *model;
	void *value, *base;
	MPI_Aint *size;
	MPI_Win w;
	double mem[8];
	copies = deletions = 0;
	MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, &key, NULL);
	CHECK(key != MPI_KEYVAL_INVALID);
	MPI_Win_create(mem, sizeof mem, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	MPI_Win_set_attr(w, key, &state);
	MPI_Win_get_attr(w, key, &value, &flag);
	CHECK(flag && value == &state);
	MPI_Win_get_attr(w, MPI_WIN_BASE, &base, &flag);
	CHECK(flag && base == mem);
	MPI_Win_get_attr(w, MPI_WIN_SIZE, &size, &flag);
	CHECK(flag && *size == sizeof mem);
	MPI_Win_get_attr(w, MPI_WIN_DISP_UNIT, &unit, &flag);
	CHECK(flag && *unit == sizeof(double));
	MPI_Win_get_attr(w, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
	CHECK(flag && *flavor == MPI_WIN_FLAVOR_CREATE);
	MPI_Win_get_attr(w, MPI_WIN_MODEL, &model, &flag);
	CHECK(flag && (*model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE));
	MPI_Win was = w;
	MPI_Win_free(&w);
	CHECK(deletions == 1 && deleted_of == was && w == MPI_WIN_NULL);
	MPI_Win_free_keyval(&key);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	communicators();
	predefined();
	types();
	windows();
	return done();
}
