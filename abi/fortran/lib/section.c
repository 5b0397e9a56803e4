/*
 * section.c: sections of arrays as buffers. A call of MPI with a section acts as if the section were
 * copied to a contiguous buffer, and count and datatype described that. Three ways lead there:
 *
 * - a datatype that describes the elements where they are (compose.c): for calls with one count and
 *   datatype, also if they use the buffer after they have returned;
 * - a datatype whose extent steps through the section, for calls with several blocks: these find their
 *   blocks by multiples of the extent, if the section has one dimension, or elements are whole columns;
 * - a copy, for all others, among them reductions, where the operation must see the datatype that the
 *   program passes. If the call is not over when it returns, its request moves the data (later.c).
 */
#include "section.h"

void halo_simplify(struct section *s, const halo_descriptor *d) {
	s->length = halo_length(d);
	s->rank = 0;
	s->total = s->length;
	for (int k = 0; k < halo_rank(d); k++) {
		ptrdiff_t n = halo_extent(d, k), stride = halo_stride(d, k);
		int last = s->rank - 1;
		s->total *= n;
		if (n == 1)
			continue;
		if (last < 0 && stride == s->length)
			s->length *= n;
		else if (last >= 0 && stride == s->stride[last] * s->n[last])
			s->n[last] *= n;
		else {
			s->n[s->rank] = n;
			s->stride[s->rank++] = stride;
		}
	}
}

ptrdiff_t halo_place(const struct section *s, ptrdiff_t at) {
	ptrdiff_t piece = at / s->length, byte = at % s->length;
	if (byte < 0) {
		byte += s->length;
		piece--;
	}
	for (int k = 0; k < s->rank - 1; k++) {
		byte += piece % s->n[k] * s->stride[k];
		piece /= s->n[k];
	}
	return byte + piece * s->stride[s->rank - 1];
}

/* Copies dimensions 0 to k of a section from or to contiguous memory, until nothing is left, and
 * returns where that ends. */
static char *rows(const struct section *s, int k, char *at, char *memory, int out, ptrdiff_t *left) {
	for (ptrdiff_t i = 0; i < s->n[k] && *left > 0; i++, at += s->stride[k]) {
		if (k > 0) {
			memory = rows(s, k - 1, at, memory, out, left);
			continue;
		}
		ptrdiff_t n = s->length < *left ? s->length : *left;
		if (out)
			memcpy(at, memory, n);
		else
			memcpy(memory, at, n);
		memory += n;
		*left -= n;
	}
	return memory;
}

void halo_move(const struct section *s, char *first, char *memory, ptrdiff_t bytes, int out) {
	rows(s, s->rank - 1, first, memory, out, &bytes);
}

void *halo_refuse(struct halo_view *v) {
	v->code = MPI_ERR_BUFFER;
	return NULL;
}

MPI_Count halo_needed(MPI_Count count, MPI_Datatype type) {
	MPI_Count lb, extent, low, size;
	if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_get_extent_c(type, &lb, &extent) != MPI_SUCCESS || PMPI_Type_get_true_extent_c(type, &low, &size) != MPI_SUCCESS)
		return 0;
	return low + (count - 1) * (extent > 0 ? extent : 0) + size;
}

void *halo_copy(struct halo_view *v, const halo_descriptor *d, int flow, MPI_Count needed) {
	struct section s;
	if (flow & HALO_LATER && !(flow & HALO_REQUEST && halo_can_wait()))
		return halo_refuse(v);
	halo_simplify(&s, d);
	if (needed > s.total)
		return halo_refuse(v);
	v->used = 1;
	v->section = d;
	v->flow = flow;
	v->bytes = needed > 0 ? needed : s.total;
	v->copy = halo_malloc(s.total);
	/* Also what the call will overwrite: it may leave parts as they are. */
	halo_move(&s, halo_first(d), v->copy, v->bytes, 0);
	return v->copy;
}

/* Up to this size a copy takes less time than to make a datatype. */
#define SMALL 16384

/* Whether elements of a datatype follow each other without gaps, which a copy would write back as they
 * were before the call: another thread may write there meanwhile. */
static int dense(MPI_Datatype type, MPI_Count *size) {
	MPI_Count lb, extent;
	return (uintptr_t)type < 0x1000 && PMPI_Type_size_c(type, size) == MPI_SUCCESS && PMPI_Type_get_extent_c(type, &lb, &extent) == MPI_SUCCESS && *size == extent;
}

void *halo_one(struct halo_view *v, const halo_descriptor *d, int flow, MPI_Count count, MPI_Datatype *type) {
	MPI_Count size;
	struct section s;
	if (count <= 0 || *type == MPI_DATATYPE_NULL)
		return halo_base(d); /* the call of C says what is wrong */
	halo_simplify(&s, d);
	if (!(flow & HALO_LATER) && s.total <= SMALL && dense(*type, &size))
		return halo_copy(v, d, flow, count * size);
	if (!halo_compose(&s, *type, count, &v->type))
		return halo_copy(v, d, flow, halo_needed(count, *type));
	v->used = v->mapped = 1;
	*type = v->type;
	return halo_base(d);
}

void *halo_many(struct halo_view *v, const halo_descriptor *d, int flow, MPI_Datatype *type) {
	struct section s;
	if (*type == MPI_DATATYPE_NULL)
		return halo_base(d);
	halo_simplify(&s, d);
	if (!halo_compose_block(&s, *type, 1, &v->type))
		return halo_copy(v, d, flow, 0);
	v->used = v->mapped = 1;
	*type = v->type;
	return halo_base(d);
}

void *halo_parts(struct halo_view *v, const halo_descriptor *d, MPI_Count *count, MPI_Datatype *type) {
	struct section s;
	if (*count <= 0 || *type == MPI_DATATYPE_NULL)
		return halo_base(d);
	halo_simplify(&s, d);
	/* Elements one by one make the smaller datatype. */
	if (!halo_compose_block(&s, *type, 1, &v->type)) {
		if (!halo_compose_block(&s, *type, *count, &v->type))
			return halo_refuse(v);
		*count = 1;
	}
	v->used = v->mapped = 1;
	*type = v->type;
	return halo_base(d);
}

void halo_view_end(struct halo_view *v) {
	if (v->mapped)
		PMPI_Type_free(&v->type);
	if (v->copy && v->flow & HALO_OUT) {
		struct section s;
		halo_simplify(&s, v->section);
		halo_move(&s, halo_first(v->section), v->copy, v->bytes, 1);
	}
	free(v->copy);
}
