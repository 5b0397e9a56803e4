package dtype

import "sync"

// leaf caches the result of Leaf.
type leaf struct {
	once sync.Once
	t    *Type
}

// Leaf is the predefined type of all elements of t, however deeply t is derived. It is nil
// if the elements have several types, or if there are none. A pair type counts as one type.
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
