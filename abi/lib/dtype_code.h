/* Codes of elements (dtype.Code), which messages carry. */
#ifndef HALO_DTYPE_CODE_H
#define HALO_DTYPE_CODE_H

#include <stdint.h>

#include "compiler.h"

/* clashes of dtype.Code, for a code of which C has made one. */
HALO_HIDDEN int halo_clash(uint8_t sent, uint8_t own);

/* Whether a message of n bytes, with this aux, has other elements than a receive: Go then makes the error. */
static inline int halo_differ(uint32_t aux, uint64_t n, uint8_t own) {
	uint8_t sent = (uint8_t)aux;
	return HALO_UNLIKELY(sent != own) && n > 0 && sent != 0 && own != 0 && halo_clash(sent, own);
}

#endif
