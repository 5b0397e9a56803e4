package dtype

import "sync"

// leaf is the memory of Leaf.
type leaf struct {
	once sync.Once
	t    *Type
}

// Leaf is the predefined type that all elements of t are of, as derived as t may be: nil
// if they are of several, or there are none. Pair types are such types, and are not looked
// into.
func (t *Type) Leaf() *Type {
	switch {
	case t.lay.size == 0:
		return nil
	case t.fixed:
		return t
	}
	t.single.once.Do(func() {
		for _, old := range t.made.types {
			if old.lay.size == 0 {
				continue
			}
			l := old.Leaf()
			if l == nil || t.single.t != nil && t.single.t != l {
				t.single.t = nil
				return
			}
			t.single.t = l
		}
	})
	return t.single.t
}
