package dtype

import (
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/halo-mpi/halo/internal/class"
)

type vec3 struct{ X, Y, Z float64 }

type particle struct {
	ID    int32
	kind  uint8
	At, V vec3
	Tags  [3]uint16
	_     [5]byte
	Alive bool
	Mass  float32
	Phase complex64
	N     int
}

// The datatype of a Go struct has the offsets of the compiler and does not contain padding.
func TestOfGoStruct(t *testing.T) {
	set := Predefined()
	typ, err := set.Of(reflect.TypeFor[particle]())
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := set.Of(reflect.TypeFor[particle]()); again != typ {
		t.Error("a second type was made")
	}
	lb, ex := typ.Extent()
	if lb != 0 || ex != int64(unsafe.Sizeof(particle{})) || typ.Size() != 4+1+48+6+1+4+8+8 || !typ.Committed() || typ.Predefined() {
		t.Errorf("lb %d, extent %d, size %d", lb, ex, typ.Size())
	}
	if typ.Name() != "dtype.particle" {
		t.Errorf("name %q", typ.Name())
	}
	send := make([]particle, 3)
	for i := range send {
		f := float64(i)
		send[i] = particle{ID: int32(i), kind: 7, At: vec3{f, f + 1, f + 2}, V: vec3{-f, 2, 3}, Tags: [3]uint16{1, 2, uint16(i)},
			Alive: i > 0, Mass: 3, Phase: complex(1, float32(i)), N: -i}
	}
	recv := make([]particle, 3)
	bytesOf := func(p []particle) []byte {
		return unsafe.Slice((*byte)(unsafe.Pointer(&p[0])), len(p)*int(unsafe.Sizeof(p[0])))
	}
	from, err := Bind(bytesOf(send), 0, typ, 3)
	if err != nil {
		t.Fatal(err)
	}
	to, _ := Bind(bytesOf(recv), 0, typ, 3)
	wire := make([]byte, from.Size())
	from.Pack(wire, 0)
	to.Unpack(wire, 0)
	for i := range send {
		if send[i] != recv[i] {
			t.Errorf("%d: %+v, want %+v", i, recv[i], send[i])
		}
	}
}

// Basic types of Go map to predefined types; types without gaps are one run.
func TestOfGoBasicTypes(t *testing.T) {
	set := Predefined()
	type celsius float64
	for _, c := range []struct {
		g    reflect.Type
		want ID
	}{
		{reflect.TypeFor[bool](), CBool}, {reflect.TypeFor[int8](), Int8}, {reflect.TypeFor[int16](), Int16},
		{reflect.TypeFor[int32](), Int32}, {reflect.TypeFor[int64](), Int64}, {reflect.TypeFor[uint8](), Uint8},
		{reflect.TypeFor[uint16](), Uint16}, {reflect.TypeFor[uint32](), Uint32}, {reflect.TypeFor[uint64](), Uint64},
		{reflect.TypeFor[float32](), Float}, {reflect.TypeFor[celsius](), Double},
		{reflect.TypeFor[complex64](), CFloatComplex}, {reflect.TypeFor[complex128](), CDoubleComplex},
		{reflect.TypeFor[int](), Int64}, {reflect.TypeFor[uint](), Uint64},
	} {
		if got, err := set.Of(c.g); err != nil || got != set.Type(c.want) {
			t.Errorf("%s: %v, %v", c.g, got, err)
		}
	}
	mem := make([]byte, 24*5)
	v, err := set.Of(reflect.TypeFor[vec3]())
	if err != nil {
		t.Fatal(err)
	}
	b, _ := Bind(mem, 0, v, 5)
	if p, ok := b.Contiguous(); !ok || len(p) != 120 {
		t.Error("an array of dense structs is not contiguous")
	}
	for _, empty := range []reflect.Type{reflect.TypeFor[struct{}](), reflect.TypeFor[[0]int](), reflect.TypeFor[struct{ _ int }]()} {
		if e, err := set.Of(empty); err != nil || e.Size() != 0 {
			t.Errorf("%s: %v, %v", empty, e, err)
		}
	}
}

// A Go type that holds addresses is refused with an error that names the field.
func TestOfGoRefusesAddresses(t *testing.T) {
	set := Predefined()
	type inner struct {
		A int
		P *int
	}
	for _, c := range []struct {
		g    reflect.Type
		path string
	}{
		{reflect.TypeFor[inner](), "dtype.inner.P is a ptr"},
		{reflect.TypeFor[struct {
			X  int
			In [2]inner
		}](), ".In[i].P is a ptr"},
		{reflect.TypeFor[struct{ Name string }](), ".Name is a string"},
		{reflect.TypeFor[struct{ S []int }](), ".S is a slice"},
		{reflect.TypeFor[struct{ M map[int]int }](), ".M is a map"},
		{reflect.TypeFor[struct{ I any }](), ".I is a interface"},
		{reflect.TypeFor[struct{ F func() }](), ".F is a func"},
		{reflect.TypeFor[struct{ C chan int }](), ".C is a chan"},
		{reflect.TypeFor[struct{ U unsafe.Pointer }](), ".U is a unsafe.Pointer"},
		{reflect.TypeFor[struct{ U uintptr }](), ".U is a uintptr"},
		{reflect.TypeFor[struct{ _ *int }](), "._ is a ptr"},
		{reflect.TypeFor[string](), "string is a string"},
		{nil, "nil"},
	} {
		typ, err := set.Of(c.g)
		if typ != nil || classOf(err) != class.Type || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%v: %v, %v", c.g, typ, err)
		}
	}
}
