package dtype

import (
	"runtime"
	"unsafe"
)

// pointerSize is the size of MPI_Aint, intptr_t in the ABI.
const pointerSize = int64(unsafe.Sizeof(uintptr(0)))

// cLong is the size of long in C: that of a pointer, except on Windows.
func cLong() int64 {
	if runtime.GOOS == "windows" {
		return 4
	}
	return pointerSize
}

// cWide is the size of wchar_t.
func cWide() int64 {
	if runtime.GOOS == "windows" {
		return 2
	}
	return 4
}

// cLongDouble is the representation of long double in C.
func cLongDouble() Format {
	switch {
	case runtime.GOOS == "windows", runtime.GOOS == "darwin" && runtime.GOARCH == "arm64":
		return Double64
	case runtime.GOARCH == "amd64":
		return Extended
	}
	return Quad
}
