package shmfmt

import (
	"math"
	"sync"
	"testing"
)

// Each number below CountersMax has a counter of its own, in one of the chunks.
func TestCounterNumbersFillTheChunks(t *testing.T) {
	all := make(map[[2]int]bool)
	for i := range CountersMax {
		chunk, at := CounterChunk(i)
		if chunk < 0 || chunk >= CounterChunks || at < 0 || at >= CounterChunkLen(chunk) || all[[2]int{chunk, at}] {
			t.Fatalf("counter %d is number %d of chunk %d", i, at, chunk)
		}
		all[[2]int{chunk, at}] = true
	}
	for chunk := range CounterChunks {
		for at := range CounterChunkLen(chunk) {
			if !all[[2]int{chunk, at}] {
				t.Fatalf("no counter is number %d of chunk %d", at, chunk)
			}
		}
	}
	for _, end := range []int{0, CountersMax - 1} {
		if chunk, at := CounterChunk(end); at != 0 || CounterChunkLen(chunk) != countersFirst {
			t.Errorf("counter %d, at an end, is number %d of a chunk of %d", end, at, CounterChunkLen(chunk))
		}
	}
}

// CounterChunkAt returns the offset of a chunk, 0 too, once the target has stored it. Memory that is too
// short or not aligned is an error.
func TestCounterChunksAreFound(t *testing.T) {
	w := heapWindow(t, 3)
	for chunk := range CounterChunks {
		if off, ok := w.CounterChunkAt(chunk); ok {
			t.Fatalf("chunk %d is at %d before it is made", chunk, off)
		}
		w.SetCounterChunk(chunk, int64(chunk)<<40)
	}
	for chunk := range CounterChunks {
		if off, ok := w.CounterChunkAt(chunk); !ok || off != int64(chunk)<<40 {
			t.Errorf("chunk %d is at %#x, %v", chunk, off, ok)
		}
	}
	mem := heapMemory(CounterChunkSize(2) + Line)
	if _, err := OpenCounters(mem[:CounterChunkSize(2)-1], 2); err == nil {
		t.Error("a chunk in memory that is too short")
	}
	if _, err := OpenCounters(mem[8:], 2); err == nil {
		t.Error("a chunk in the middle of a line")
	}
}

// Add reports exactly from when on the wanted value is reached, also to each of several goroutines that
// add at the same time.
func TestCounterTellsWhoReachesIt(t *testing.T) {
	list, err := FormatCounters(heapMemory(CounterChunkSize(0)), 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &list[5]
	if _, reached := c.Add(1 << 40); reached {
		t.Error("somebody waits for a new counter")
	}
	c.Want(3)
	if !c.Set(3) || c.Set(2) {
		t.Error("Set does not tell that it reaches 3, or tells that 2 does")
	}
	c.Set(math.MinInt64)
	c.Want(math.MinInt64 + 500)
	told := make([]int, 8)
	var all sync.WaitGroup
	for g := range told {
		all.Go(func() {
			for range 100 {
				if _, reached := c.Add(1); reached {
					told[g]++
				}
			}
		})
	}
	all.Wait()
	sum := 0
	for _, n := range told {
		sum += n
	}
	if c.Value() != math.MinInt64+800 || sum != 301 {
		t.Errorf("value %d over the least, %d were told; want 800 and 301", c.Value()-math.MinInt64, sum)
	}
	for i := range list {
		if i != 5 && (list[i].Value() != 0 || list[i].Set(1<<62)) {
			t.Errorf("counter %d has changed", i)
		}
	}
}
