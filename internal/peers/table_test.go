package peers

import (
	"slices"
	"testing"
)

// TestTableMakesEntriesOnDemand: an entry is made with its page, initialised once, and stays where
// it is while the table grows.
func TestTableMakesEntriesOnDemand(t *testing.T) {
	made := map[int]int{}
	table := Make(100, func(n int, v *int) { made[n]++; *v = n })
	if table.Find(40) != nil || table.Find(1<<20) != nil || table.Find(-1) != nil {
		t.Fatal("Find returns entries that nobody has asked for")
	}
	forty := table.At(40)
	if *forty != 40 || table.Find(40) != forty || table.Find(47) == nil || table.Find(48) != nil {
		t.Fatalf("the entry of 40 is %d", *forty)
	}
	*forty = -1
	if far := table.At(5000); *far != 5000 {
		t.Fatalf("the entry of 5000 is %d", *far)
	}
	if table.At(40) != forty || *forty != -1 {
		t.Fatal("the table has moved or initialised an entry again when it grew")
	}
	var numbers []int
	for n, v := range table.All() {
		if n != 40 && *v != n {
			t.Fatalf("entry %d is %d", n, *v)
		}
		numbers = append(numbers, n)
	}
	if len(numbers) != 2*pageSize || !slices.IsSorted(numbers) || numbers[0] != 32 || numbers[pageSize] != 4992 {
		t.Fatalf("All yields %v", numbers)
	}
	for n, times := range made {
		if times != 1 {
			t.Fatalf("entry %d was initialised %d times", n, times)
		}
	}
}

// TestTableOfZeroEntries: the zero Table can be used, and a table of n entries that nobody has
// asked for costs 8/16 bytes for each.
func TestTableOfZeroEntries(t *testing.T) {
	var table Table[[2]int]
	table.At(3)[1] = 7
	if table.At(3)[1] != 7 || table.At(4)[1] != 0 {
		t.Fatal("an entry of a zero Table is not kept")
	}
	if n := len(Make[[2]int](10_000, nil).pages); n != 625 {
		t.Fatalf("a table of 10,000 has %d pages, want 625", n)
	}
}

func TestSetEndsWithTheJob(t *testing.T) {
	s := Set{true, false}
	if !s.Has(0) || s.Has(1) || s.Has(2) || s.Has(-1) || Set(nil).Has(0) {
		t.Fatal("a Set has other processes than its own")
	}
}
