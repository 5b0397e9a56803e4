package mpi_test

import (
	"reflect"
	"testing"

	"github.com/halo-mpi/halo/mpi"
)

// Win and Untyped are windows: no method of Window has another signature in them.
func TestWindowsHideNoMethod(t *testing.T) {
	window := reflect.TypeFor[*mpi.Window]()
	for _, typ := range []reflect.Type{reflect.TypeFor[mpi.Win[int]](), reflect.TypeFor[mpi.Untyped]()} {
		for i := range window.NumMethod() {
			of := window.Method(i)
			m, found := typ.MethodByName(of.Name)
			if !found {
				t.Errorf("%v has no %s", typ, of.Name)
				continue
			}
			if got, want := signature(m), signature(of); got != want {
				t.Errorf("%v hides %s: %s instead of %s", typ, of.Name, got, want)
			}
		}
	}
}

// signature is the type of a method without its receiver.
func signature(m reflect.Method) string {
	var in, out []reflect.Type
	for i := 1; i < m.Type.NumIn(); i++ {
		in = append(in, m.Type.In(i))
	}
	for i := range m.Type.NumOut() {
		out = append(out, m.Type.Out(i))
	}
	return reflect.FuncOf(in, out, m.Type.IsVariadic()).String()
}
