package sys

import "runtime/debug"

// probeStep is the distance of the bytes that Readable and Writable access: no page is smaller.
const probeStep = 4096

// Readable reports whether all pages of b can be read. Programs pass slices of memory that is not Go's
// and may not be mapped.
func Readable(b []byte) (ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { ok = recover() == nil }()
	readAll(b)
	return
}

// endMax is how many bytes at the beginning of memory ReadableEnds and WritableEnds test: no frame of a fabric
// is longer, so that they test all of the memory of one.
const endMax = 64 << 10

// ReadableEnds is Readable of the first 64 KiB and the last byte of b.
func ReadableEnds(b []byte) bool {
	return Readable(b[:min(len(b), endMax)]) && Readable(b[max(0, len(b)-1):])
}

// WritableEnds is Writable of the first 64 KiB and the last byte of b.
func WritableEnds(b []byte) bool {
	return Writable(b[:min(len(b), endMax)]) && Writable(b[max(0, len(b)-1):])
}

// readAll returns a value that depends on what it reads, so that the compiler keeps the reads.
//
//go:noinline
func readAll(b []byte) (x byte) {
	for i := 0; i < len(b); i += probeStep {
		x ^= b[i]
	}
	if len(b) > 0 {
		x ^= b[len(b)-1]
	}
	return x
}

// Fault accesses memory in which the kernel has found missing pages, so that the process faults as it
// would by an access of its own. It returns if the pages are mapped now.
func Fault(b []byte, write bool) {
	if write {
		writeAll(b)
	} else {
		readAll(b)
	}
}

// Writable reports whether all pages of b can be written. It does not change them, and others may write
// to them at the same time.
func Writable(b []byte) (ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { ok = recover() == nil }()
	writeAll(b)
	return
}

// writeAll writes a byte in each page of b, with the value that it has.
func writeAll(b []byte) {
	for i := 0; i < len(b); i += probeStep {
		touch(&b[i])
	}
	if len(b) > 0 {
		touch(&b[len(b)-1])
	}
}
