package dtype

import (
	"bytes"
	"reflect"
	"sync"
	"testing"
)

// Any goroutine may use a type and the set: objects that are made on first use are
// made once, and all goroutines get the same one.
func TestConcurrentUse(t *testing.T) {
	set := Predefined()
	inner, err := Vector(40, 1, 2, set.Type(Int16))
	if err != nil {
		t.Fatal(err)
	}
	typ, err := Struct([]int64{2, 1}, []int64{0, 400}, []*Type{inner, set.Type(DoubleInt)})
	if err != nil {
		t.Fatal(err)
	}
	mem := make([]byte, 1000)
	for i := range mem {
		mem[i] = byte(i)
	}
	const n = 8
	var packed [n][]byte
	var made [n][3]*Type
	var wg sync.WaitGroup
	for g := range n {
		wg.Go(func() {
			typ.Commit()
			typ.SetName("shared")
			b, err := Bind(mem, 0, typ, 2)
			if err != nil || b.Overlaps() || typ.Name() != "shared" {
				t.Errorf("goroutine %d: %v", g, err)
				return
			}
			packed[g] = make([]byte, b.Size())
			b.Pack(packed[g], 0)
			if _, err := b.PackExternal(make([]byte, b.Size())); err != nil {
				t.Error(err)
			}
			made[g][0], _ = set.F90Real(10, 100)
			made[g][1], _ = set.ValueIndex(set.Type(Uint16), set.Type(Int64))
			made[g][2], _ = set.Of(reflect.TypeFor[particle]())
		})
	}
	wg.Wait()
	for g := range n {
		if !bytes.Equal(packed[g], packed[0]) || made[g] != made[0] || made[g][2] == nil {
			t.Errorf("goroutine %d differs", g)
		}
	}
}
