package shm

// Unmap takes away the memory that the end of a process would: tests open
// many fabrics in one. Nobody may use f any more.
func (f *Fabric) Unmap() error {
	m := f.node.(*mapped)
	for _, mem := range m.maps {
		if err := mem.Release(); err != nil {
			return err
		}
	}
	m.maps = nil
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closeBells()
}
