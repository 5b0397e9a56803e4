package op

import (
	"runtime"
	"strings"
	"testing"
)

// A kernel that C may call is the assembly function that Go calls for the same operation on the
// same type. conformance/fast_long.c compares the results of both.
func TestFunctionIsTheKernel(t *testing.T) {
	what := map[Op]string{Sum: "add", Prod: "mul", Min: "min", Max: "max", Band: "and", Bor: "or", Bxor: "xor"}
	for _, k := range Kernels() {
		for o := Op(0); int(o) <= Ops; o++ {
			for _, typ := range append(All(), 0, Handle) {
				at := k.Function(o, typ)
				if here := runtime.GOARCH == "amd64" && k.Covers(o, typ); here != (at != 0) {
					t.Errorf("%v has vectors for %v of %v: %v, the address of the kernel is %#x", k, o, typ, here, at)
				}
				if at == 0 {
					continue
				}
				f := runtime.FuncForPC(at)
				_, name, _ := strings.Cut(f.Name(), "/op.")
				if f.Entry() != at || !strings.HasPrefix(name, what[o]) || !strings.HasSuffix(name, strings.ToUpper(k.String())) {
					t.Errorf("%v for %v of %v is %s at %#x, the address is %#x", k, o, typ, name, f.Entry(), at)
				}
				kind := map[Type]string{Complex64: "Float32", Complex128: "Float64"}[typ]
				if kind == "" {
					kind = strings.ToUpper(typ.String()[:1]) + typ.String()[1:]
				}
				lane := strings.TrimSuffix(strings.TrimPrefix(name, what[o]), strings.ToUpper(k.String()))
				if !strings.HasSuffix(kind, lane) || lane == "" != (o == Band || o == Bor || o == Bxor) {
					t.Errorf("%v for %v of %v is %s", k, o, typ, name)
				}
			}
		}
	}
}
