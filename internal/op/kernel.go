package op

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type float interface{ float32 | float64 }

type number interface {
	integer | float | complex64 | complex128
}

type ordered interface{ integer | float }

func integers[T integer](o Op, dst, a, b []T) {
	switch o {
	case Sum, Prod:
		numbers(o, dst, a, b)
	case Min:
		least(dst, a, b)
	case Max:
		greatest(dst, a, b)
	case Land, Lor, Lxor:
		logical(o, dst, a, b)
	case Band:
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			dst[i] = a[i] & b[i]
		}
	case Bor:
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			dst[i] = a[i] | b[i]
		}
	case Bxor:
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			dst[i] = a[i] ^ b[i]
		}
	}
}

func floats[T float](o Op, dst, a, b []T) {
	switch o {
	case Sum, Prod:
		numbers(o, dst, a, b)
	case Min:
		least(dst, a, b)
	case Max:
		greatest(dst, a, b)
	}
}

func numbers[T number](o Op, dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	if o == Sum {
		for i := range dst {
			dst[i] = a[i] + b[i]
		}
		return
	}
	for i := range dst {
		dst[i] = a[i] * b[i]
	}
}

func least[T ordered](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = min(a[i], b[i])
	}
}

func greatest[T ordered](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = max(a[i], b[i])
	}
}

// logical serves bool, too, as bytes: memory that others write need not hold
// what Go allows in a bool.
func logical[T integer](o Op, dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	switch o {
	case Land:
		for i := range dst {
			dst[i] = truth[T](a[i] != 0 && b[i] != 0)
		}
	case Lor:
		for i := range dst {
			dst[i] = truth[T](a[i]|b[i] != 0)
		}
	case Lxor:
		for i := range dst {
			dst[i] = truth[T]((a[i] != 0) != (b[i] != 0))
		}
	}
}

func truth[T integer](b bool) T {
	if b {
		return 1
	}
	return 0
}
