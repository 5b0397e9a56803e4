package sys

import "runtime/debug"

// probeStep is the distance of the bytes that Readable and Writable try: no page is smaller.
const probeStep = 4096

// Readable reports whether all pages of b can be read: programs take slices of memory that is not
// Go's, and that need not be there.
func Readable(b []byte) (ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { ok = recover() == nil }()
	readAll(b)
	return
}

// readAll returns something of what it reads, so that the reads are not left out.
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

// Fault is called with memory in which the kernel has found pages missing. It accesses them, so
// that the process faults there, as it would without the kernel; it returns if they are there now.
func Fault(b []byte, write bool) {
	if write {
		writeAll(b)
	} else {
		readAll(b)
	}
}

// Writable reports whether all pages of b can be written. Nothing in them changes; somebody else
// may write to them at the same time.
func Writable(b []byte) (ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { ok = recover() == nil }()
	writeAll(b)
	return
}

// writeAll writes a byte in each page of b as it is.
func writeAll(b []byte) {
	for i := 0; i < len(b); i += probeStep {
		touch(&b[i])
	}
	if len(b) > 0 {
		touch(&b[len(b)-1])
	}
}
