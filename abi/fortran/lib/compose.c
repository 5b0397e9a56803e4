/*
 * compose.c: the datatype for elements of a datatype in a section of an array. Its basic elements are
 * those of the datatype, in the same order, so that the signature is the same; each is at the place
 * that the section has for its displacement. A datatype of vectors around the program's datatype would
 * be wrong for datatypes with gaps and for counts that do not fill the section.
 */
#include "section.h"

/* The blocks of basic elements that have been found. */
struct blocks {
	const struct section *s;
	int bounded; /* elements must be inside of the section */
	size_t n, room;
	MPI_Count *lengths, *places;
	MPI_Datatype *types;
};

static void add(struct blocks *b, MPI_Datatype type, MPI_Count length, MPI_Count place) {
	if (b->n == b->room) {
		b->room = b->room ? 2 * b->room : 64;
		b->lengths = realloc(b->lengths, b->room * sizeof *b->lengths);
		b->places = realloc(b->places, b->room * sizeof *b->places);
		b->types = realloc(b->types, b->room * sizeof *b->types);
		if (!b->lengths || !b->places || !b->types)
			abort();
	}
	b->lengths[b->n] = length;
	b->places[b->n] = place;
	b->types[b->n++] = type;
}

/* Adds count basic elements of `size` bytes, `step` bytes apart in the virtual buffer. */
static int basics(struct blocks *b, MPI_Datatype type, MPI_Count size, MPI_Count step, MPI_Count count, MPI_Count at) {
	const struct section *s = b->s;
	while (count > 0) {
		if (b->bounded && (at < 0 || at + size > s->total))
			return 0;
		MPI_Count byte = ((at % s->length) + s->length) % s->length;
		if (byte + size > s->length)
			return 0;
		MPI_Count k = size == step ? (s->length - byte) / size : 1;
		if (k > count)
			k = count;
		if (b->bounded && at + k * size > s->total)
			k = (s->total - at) / size;
		MPI_Count place = halo_place(s, at);
		size_t last = b->n - 1;
		if (b->n > 0 && size == step && b->types[last] == type && b->places[last] + b->lengths[last] * size == place)
			b->lengths[last] += k;
		else
			add(b, type, k, place);
		at += k * step;
		count -= k;
	}
	return 1;
}

static int walk(struct blocks *b, MPI_Datatype type, MPI_Count count, MPI_Count at);

/* Whether a datatype has no contents. */
static int named(int combiner) {
	return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX
		|| combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_VALUE_INDEX;
}

/* Adds `count` blocks of the same length, a stride apart. */
static int vector(struct blocks *b, MPI_Datatype type, MPI_Count count, MPI_Count length, MPI_Count stride, MPI_Count at) {
	for (MPI_Count k = 0; k < count; k++)
		if (!walk(b, type, length, at + k * stride))
			return 0;
	return 1;
}

/* Adds a subarray: v has the number of dimensions, sizes, subsizes and starts, then the order. */
static int subarray(struct blocks *b, MPI_Datatype type, MPI_Count extent, const MPI_Count *v, MPI_Count at) {
	int n = (int)v[0];
	const MPI_Count *sizes = v + 1, *subsizes = sizes + n, *starts = subsizes + n;
	int fortran = v[1 + 3 * n] == MPI_ORDER_FORTRAN;
	MPI_Count rows = 1;
	for (int k = 1; k < n; k++)
		rows *= subsizes[fortran ? k : n - 1 - k];
	for (MPI_Count row = 0; row < rows; row++) {
		MPI_Count rest = row, place = 0, unit = 1;
		for (int k = 0; k < n; k++) {
			int d = fortran ? k : n - 1 - k;
			MPI_Count index = starts[d];
			if (k > 0) {
				index += rest % subsizes[d];
				rest /= subsizes[d];
			}
			place += index * unit;
			unit *= sizes[d];
		}
		if (!walk(b, type, subsizes[fortran ? 0 : n - 1], at + place * extent))
			return 0;
	}
	return 1;
}

/* Adds one element of a derived datatype. v holds its counts, lengths and displacements in the order
 * of the arguments of its constructor. */
static int element(struct blocks *b, int combiner, const MPI_Count *v, const MPI_Datatype *types, MPI_Count at) {
	MPI_Count lb, extent = 0, n = v[0];
	if (types[0] != MPI_DATATYPE_NULL)
		PMPI_Type_get_extent_c(types[0], &lb, &extent);
	switch (combiner) {
	case MPI_COMBINER_DUP:
	case MPI_COMBINER_RESIZED:
		return walk(b, types[0], 1, at);
	case MPI_COMBINER_CONTIGUOUS:
		return walk(b, types[0], n, at);
	case MPI_COMBINER_VECTOR:
		return vector(b, types[0], n, v[1], v[2] * extent, at);
	case MPI_COMBINER_HVECTOR:
		return vector(b, types[0], n, v[1], v[2], at);
	case MPI_COMBINER_SUBARRAY:
		return subarray(b, types[0], extent, v, at);
	case MPI_COMBINER_INDEXED:
	case MPI_COMBINER_HINDEXED:
	case MPI_COMBINER_STRUCT:
		for (MPI_Count k = 0; k < n; k++)
			if (!walk(b, types[combiner == MPI_COMBINER_STRUCT ? k : 0], v[1 + k], at + v[1 + n + k] * (combiner == MPI_COMBINER_INDEXED ? extent : 1)))
				return 0;
		return 1;
	case MPI_COMBINER_INDEXED_BLOCK:
	case MPI_COMBINER_HINDEXED_BLOCK:
		for (MPI_Count k = 0; k < n; k++)
			if (!walk(b, types[0], v[1], at + v[2 + k] * (combiner == MPI_COMBINER_INDEXED_BLOCK ? extent : 1)))
				return 0;
		return 1;
	}
	return 0; /* a distributed array */
}

/* Adds count elements of a datatype. */
static int walk(struct blocks *b, MPI_Datatype type, MPI_Count count, MPI_Count at) {
	MPI_Count ni, na, nl, nt, lb, extent, low, size;
	int combiner;
	if (PMPI_Type_get_envelope_c(type, &ni, &na, &nl, &nt, &combiner) != MPI_SUCCESS || PMPI_Type_get_extent_c(type, &lb, &extent) != MPI_SUCCESS)
		return 0;
	if (named(combiner)) {
		PMPI_Type_get_true_extent_c(type, &low, &size);
		return basics(b, type, size, extent, count, at);
	}
	int *integers = halo_malloc(ni * sizeof *integers);
	MPI_Aint *addresses = halo_malloc(na * sizeof *addresses);
	MPI_Count *large = halo_malloc(nl * sizeof *large), *v = halo_malloc((ni + na + nl + 1) * sizeof *v);
	MPI_Datatype *types = halo_malloc((nt + 1) * sizeof *types);
	types[0] = MPI_DATATYPE_NULL; /* stays so for a structure without blocks */
	v[0] = 0;
	int ok = PMPI_Type_get_contents_c(type, ni, na, nl, nt, integers, addresses, large, types) == MPI_SUCCESS;
	if (ok) {
		/* The small constructors have integers and then addresses, the large ones counts only; but
		 * the number of dimensions and the order of a subarray are always integers. */
		MPI_Count k = 0, i = 0;
		if (combiner == MPI_COMBINER_SUBARRAY && nl > 0)
			v[k++] = integers[i++];
		for (MPI_Count j = 0; j < nl; j++)
			v[k++] = large[j];
		for (; i < ni; i++)
			v[k++] = integers[i];
		for (MPI_Count j = 0; j < na; j++)
			v[k++] = addresses[j];
		for (MPI_Count j = 0; ok && j < count; j++)
			ok = element(b, combiner, v, types, at + j * extent);
		for (MPI_Count j = 0; j < nt; j++) {
			int inner;
			if (PMPI_Type_get_envelope_c(types[j], &ni, &na, &nl, &low, &inner) == MPI_SUCCESS && !named(inner))
				PMPI_Type_free(&types[j]);
		}
	}
	free(integers);
	free(addresses);
	free(large);
	free(v);
	free(types);
	return ok;
}

/* Makes the datatype of the blocks. */
static int finish(struct blocks *b, int ok, MPI_Datatype *made) {
	ok = ok && PMPI_Type_create_struct_c(b->n, b->lengths, b->places, b->types, made) == MPI_SUCCESS;
	free(b->lengths);
	free(b->places);
	free(b->types);
	return ok;
}

/* The datatype of the first `bytes` bytes of dimensions 0 to k, which are elements of a basic type. */
static int nest(const struct section *s, int k, ptrdiff_t bytes, MPI_Datatype basic, MPI_Count size, MPI_Datatype *made) {
	if (k < 0)
		return PMPI_Type_contiguous_c(bytes / size, basic, made) == MPI_SUCCESS;
	ptrdiff_t row = s->length;
	for (int j = 0; j < k; j++)
		row *= s->n[j];
	ptrdiff_t rows = bytes / row, rest = bytes % row;
	MPI_Datatype inner, parts[2];
	if (rows > 0) {
		if (!nest(s, k - 1, row, basic, size, &inner))
			return 0;
		int ok = PMPI_Type_create_hvector_c(rows, 1, s->stride[k], inner, rest ? &parts[0] : made) == MPI_SUCCESS;
		PMPI_Type_free(&inner);
		if (!ok || !rest)
			return ok;
	}
	if (!nest(s, k - 1, rest, basic, size, rows > 0 ? &parts[1] : made))
		return 0;
	if (rows == 0)
		return 1;
	MPI_Count ones[2] = {1, 1}, places[2] = {0, rows * s->stride[k]};
	int ok = PMPI_Type_create_struct_c(2, ones, places, parts, made) == MPI_SUCCESS;
	PMPI_Type_free(&parts[0]);
	PMPI_Type_free(&parts[1]);
	return ok;
}

/* Makes the datatype for count elements of a datatype, which must be inside of the section if bounded. */
static int compose(const struct section *s, MPI_Datatype type, MPI_Count count, int bounded, MPI_Datatype *made) {
	MPI_Count ni, na, nl, nt, lb, extent, size;
	int combiner;
	if (PMPI_Type_get_envelope_c(type, &ni, &na, &nl, &nt, &combiner) != MPI_SUCCESS)
		return 0;
	PMPI_Type_get_extent_c(type, &lb, &extent);
	PMPI_Type_size_c(type, &size);
	if (size == 0)
		return PMPI_Type_contiguous_c(0, MPI_BYTE, made) == MPI_SUCCESS;
	if (named(combiner) && size == extent && s->length % size == 0)
		return count <= s->total / size && nest(s, s->rank - 1, count * size, type, size, made);
	struct blocks b = {.s = s, .bounded = bounded};
	return finish(&b, walk(&b, type, count, 0), made);
}

int halo_compose(const struct section *s, MPI_Datatype type, MPI_Count count, MPI_Datatype *made) {
	return compose(s, type, count, 1, made) && PMPI_Type_commit(made) == MPI_SUCCESS;
}

int halo_compose_block(const struct section *s, MPI_Datatype type, MPI_Count count, MPI_Datatype *made) {
	MPI_Count lb, extent, column = s->length;
	MPI_Datatype inner;
	for (int k = 0; k < s->rank - 1; k++)
		column *= s->n[k];
	if (PMPI_Type_get_extent_c(type, &lb, &extent) != MPI_SUCCESS || column == 0 || count * extent % column != 0)
		return 0;
	if (!compose(s, type, count, 0, &inner))
		return 0;
	int ok = PMPI_Type_create_resized_c(inner, 0, count * extent / column * s->stride[s->rank - 1], made) == MPI_SUCCESS;
	PMPI_Type_free(&inner);
	return ok && PMPI_Type_commit(made) == MPI_SUCCESS;
}
