#include "datatype.h"

struct halo_type halo_types[256];

void halo_know_type(uintptr_t handle, int size, int extent, int true_extent, int kind, int code) {
	uintptr_t i = handle - 0x200;
	if (i < 256 && 0 < size && size <= true_extent && true_extent <= extent && extent < 256)
		halo_types[i] = (struct halo_type){(uint8_t)size, (uint8_t)kind, (uint8_t)extent, (uint8_t)true_extent, (uint8_t)code};
}
