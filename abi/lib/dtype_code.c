#include "dtype_code.h"

#include "fast_layout.h"

/* log2 of the size of an element, and whether it is a floating-point number or made of two of them. */
static inline unsigned width_of(uint8_t code, int *floats) {
	unsigned kind = code >> 4, width = code & 7;
	*floats = kind == HALO_CODE_FLOATING || kind == HALO_CODE_COMPLEX;
	if (*floats && width > HALO_CODE_EXTENDED)
		width = HALO_CODE_EXTENDED; /* formats are in the order of their sizes, the last two of one size */
	return width + (kind == HALO_CODE_COMPLEX);
}

int halo_clash(uint8_t sent, uint8_t own) {
	int a, b;
	return width_of(sent, &a) == width_of(own, &b) && a != b;
}
