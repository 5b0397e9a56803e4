package vet

import (
	"fmt"
	"go/types"
)

// A finding is what the rule for plain data says about a type.
type finding struct {
	path, kind string             // of the first part that is no plain data; empty if all is
	params     []*types.TypeParam // type parameters that must be plain data, too
}

// String is the text of the error at run time.
func (f finding) String() string {
	return fmt.Sprintf("%s is a %s: memory of this process, which means nothing to another%s", f.path, f.kind, advice(f.kind))
}

// advice says what to send in place of elements of a kind. Package dtype has the same texts.
func advice(kind string) string {
	switch kind {
	case "string":
		return "; send []byte(s), or have an array of bytes"
	case "slice":
		return "; flatten [][]T to []T, or have an array"
	}
	return ""
}

// examine applies the rule for plain data, which is that of dtype.Set.Of at run time: booleans,
// numbers but for uintptr, and arrays and structs of them, blank fields included. A type parameter
// is wrong only if all types that its constraint allows are. path is how a program would write
// what is examined.
func examine(t types.Type, path string) finding {
	if p, ok := types.Unalias(t).(*types.TypeParam); ok {
		if f := excluded(p.Constraint(), path); f.kind != "" {
			return f
		}
		return finding{params: []*types.TypeParam{p}}
	}
	var params []*types.TypeParam
	switch u := t.Underlying().(type) {
	case *types.Array:
		return examine(u.Elem(), path+"[i]")
	case *types.Struct:
		for field := range u.Fields() {
			f := examine(field.Type(), path+"."+field.Name())
			if f.kind != "" {
				return f
			}
			params = append(params, f.params...)
		}
		return finding{params: params}
	case *types.Basic:
		switch u.Kind() {
		case types.String, types.Uintptr:
			return finding{path: path, kind: u.Name()}
		case types.UnsafePointer:
			return finding{path: path, kind: "unsafe.Pointer"}
		}
		return finding{}
	case *types.Pointer:
		return finding{path: path, kind: "ptr"}
	case *types.Slice:
		return finding{path: path, kind: "slice"}
	case *types.Map:
		return finding{path: path, kind: "map"}
	case *types.Chan:
		return finding{path: path, kind: "chan"}
	case *types.Signature:
		return finding{path: path, kind: "func"}
	case *types.Interface:
		return finding{path: path, kind: "interface"}
	}
	return finding{}
}

// excluded is what is wrong with all types that a constraint allows; of no kind if one of them may
// be plain data. A type must satisfy all that an interface embeds, so one part that allows no plain
// data is enough, and one term of a union, so all its terms must allow none.
func excluded(constraint types.Type, path string) finding {
	switch c := types.Unalias(constraint).(type) {
	case *types.Union:
		var first finding
		for term := range c.Terms() {
			f := excluded(term.Type(), path)
			if f.kind == "" {
				return finding{}
			}
			if first.kind == "" {
				first = f
			}
		}
		return first
	default:
		i, ok := constraint.Underlying().(*types.Interface)
		if !ok {
			return examine(constraint, path)
		}
		for part := range i.EmbeddedTypes() {
			if f := excluded(part, path); f.kind != "" {
				return f
			}
		}
	}
	return finding{}
}
