package mpi

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// infoKeys reports, in checking mode, info keys that begin with mpi_ or halo_ and that nobody
// knows: they are misspelt, since the standard keeps these beginnings for itself and for Halo. It
// reports each once in a process.
type infoKeys struct {
	mu       sync.Mutex
	reported map[string]bool
}

// reservedKeys are the keys of the standard that begin with mpi_, in its calls that do not read them
// as hints and in calls that Halo does not have.
func reservedKeys() []string {
	return []string{
		resourceKey, "mpi_memory_alloc_kinds", "mpi_assert_memory_alloc_kinds", "mpi_assert_strict_persistent_collective_ordering",
		"mpi_initial_errhandler", "mpi_size",
		"mpi_aint_size", "mpi_count_size", "mpi_offset_size",
		"mpi_logical_size", "mpi_integer_size", "mpi_real_size", "mpi_double_precision_size",
	}
}

// knownKeys are all keys that begin so and that somebody knows, whatever object they are for: a
// program may give one Info to calls of several kinds.
func knownKeys() []string {
	known := reservedKeys()
	for _, name := range hintNames() {
		known = append(known, name)
	}
	for _, k := range winKeys() {
		if reserved(k.name) {
			known = append(known, k.name)
		}
	}
	return known
}

// reserved reports whether a key belongs to the standard or to Halo.
func reserved(key string) bool {
	return strings.HasPrefix(key, "mpi_") || strings.HasPrefix(key, "halo_")
}

// checkKeys reports, in checking mode, what nobody knows in an Info that call k on c is given.
func checkKeys[H any](c *Comm, k call, hints ...H) {
	if c.self.keys == nil {
		return
	}
	for _, h := range hints {
		if i, ok := any(h).(*Info); ok {
			c.self.keys.check(c, k, i, os.Stderr)
		}
	}
}

func (known *infoKeys) check(c *Comm, k call, i *Info, out io.Writer) {
	for n := range i.NKeys() {
		key, err := i.NthKey(n)
		if err != nil || !reserved(key) {
			continue
		}
		nearest := nearestKey(key)
		if nearest == key {
			continue
		}
		known.mu.Lock()
		again := known.reported[key]
		known.reported[key] = true
		known.mu.Unlock()
		if again {
			continue
		}
		at := located(k.String())
		name := at.Name
		if f := current.names.Load(); f != nil {
			name = (*f)(name)
		}
		fmt.Fprintf(out, "halo: rank %d: unknown info key %q of %s at %s: the nearest known one is %q\n",
			c.w.Proc.Job().Rank, key, name, placeOf(&at), nearest)
	}
}

// nearestKey is the known key that the fewest insertions, deletions and replacements of bytes make
// of key: key itself if it is known.
func nearestKey(key string) (nearest string) {
	least := -1
	for _, k := range knownKeys() {
		if d := distance(key, k); least < 0 || d < least {
			least, nearest = d, k
		}
	}
	return nearest
}

// distance is the number of insertions, deletions and replacements of bytes that make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // of the part of a before i, by the length of the part of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
