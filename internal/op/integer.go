package op

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

func whole[T integer](o Op, dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	switch o {
	case Sum:
		for i := range dst {
			dst[i] = a[i] + b[i]
		}
	case Prod:
		for i := range dst {
			dst[i] = a[i] * b[i]
		}
	case Min:
		for i := range dst {
			dst[i] = min(a[i], b[i])
		}
	case Max:
		for i := range dst {
			dst[i] = max(a[i], b[i])
		}
	case Band:
		for i := range dst {
			dst[i] = a[i] & b[i]
		}
	case Bor:
		for i := range dst {
			dst[i] = a[i] | b[i]
		}
	case Bxor:
		for i := range dst {
			dst[i] = a[i] ^ b[i]
		}
	default:
		logical(o, dst, a, b)
	}
}

// logical also processes bool, as bytes: memory that other processes write may hold values that
// Go does not allow in a bool.
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
