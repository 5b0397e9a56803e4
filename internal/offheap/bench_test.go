package offheap

import "testing"

func BenchmarkRecord(b *testing.B) {
	for b.Loop() {
		Free(New[[8]uint64]())
	}
}
