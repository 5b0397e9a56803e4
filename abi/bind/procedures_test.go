package bind

import (
	"reflect"
	"strings"
	"testing"

	"github.com/halo-mpi/halo/abi"
)

// The table of procedures contains no pointers: the loader would relocate them, and each
// process would have its own copy of the table.
func TestProceduresHaveNoPointers(t *testing.T) {
	typ := reflect.TypeFor[procedure]()
	for i := range typ.NumField() {
		if k := typ.Field(i).Type.Kind(); k != reflect.Bool && (k < reflect.Int || k > reflect.Uint64) {
			t.Errorf("field %s is a %v", typ.Field(i).Name, k)
		}
	}
}

// The generated texts contain the names of the procedures and of their parameters.
func TestProcedureTexts(t *testing.T) {
	list, err := abi.Procedures()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		of := &procedures[p.Number]
		if of.String() != p.Name {
			t.Errorf("procedure %d is %s, not %s", p.Number, of, p.Name)
		}
		for i, name := range strings.Fields(of.addresses()) {
			if name != "-" && p.Params[i].Name != name {
				t.Errorf("parameter %d of %s is %s, not %s", i, of, p.Params[i].Name, name)
			}
		}
	}
}
