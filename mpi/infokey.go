package mpi

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/halo-mpi/halo/internal/call"
)

// infoKeys reports, in checking mode, unknown info keys that begin with mpi_ or halo_. They are
// misspelt, since the standard and Halo reserve these prefixes. It reports each key once in a
// process.
type infoKeys struct {
	mu       sync.Mutex
	reported map[string]bool
}

// reservedKeys are the keys of the standard that begin with mpi_ and that Halo does not read as
// hints, including those of calls that Halo does not have.
func reservedKeys() []string {
	return []string{
		resourceKey, psetKey, keyAllocKinds,
		"mpi_initial_errhandler", "mpi_size",
		"mpi_aint_size", "mpi_count_size", "mpi_offset_size",
		"mpi_logical_size", "mpi_integer_size", "mpi_real_size", "mpi_double_precision_size",
		"mpi_logical1_supported", "mpi_logical2_supported", "mpi_logical4_supported", "mpi_logical8_supported", "mpi_logical16_supported",
		"mpi_integer1_supported", "mpi_integer2_supported", "mpi_integer4_supported", "mpi_integer8_supported", "mpi_integer16_supported",
		"mpi_real2_supported", "mpi_real4_supported", "mpi_real8_supported", "mpi_real16_supported",
		"mpi_complex4_supported", "mpi_complex8_supported", "mpi_complex16_supported", "mpi_complex32_supported", "mpi_double_complex_supported",
	}
}

// knownKeys are all known keys with a reserved prefix, for objects of any kind, since a program
// may pass one Info to calls of several kinds.
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

// reserved reports whether a key has a prefix that the standard or Halo reserves.
func reserved(key string) bool {
	return strings.HasPrefix(key, "mpi_") || strings.HasPrefix(key, "halo_")
}

// checkKeys reports, in checking mode, unknown keys in an Info that is passed to call k on c.
func checkKeys[H any](c *Comm, k call.Number, hints ...H) {
	if c.self.keys == nil {
		return
	}
	for _, h := range hints {
		if i, ok := any(h).(*Info); ok {
			c.self.keys.check(c, k, i, os.Stderr)
		}
	}
}

func (known *infoKeys) check(c *Comm, k call.Number, i *Info, out io.Writer) {
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
		at := located(k)
		name := at.Name
		if f := current.names.Load(); f != nil {
			name = (*f)(k, k.Go())
		}
		fmt.Fprintf(out, "halo: rank %d: unknown info key %q of %s at %s: the nearest known one is %q\n",
			c.w.Proc.Job().Rank, key, name, placeOf(&at), nearest)
	}
}

// nearestKey is the known key with the smallest edit distance from key, which is key itself if
// it is known.
func nearestKey(key string) (nearest string) {
	least := -1
	for _, k := range knownKeys() {
		if d := distance(key, k); least < 0 || d < least {
			least, nearest = d, k
		}
	}
	return nearest
}

// distance is the edit distance of a and b: the number of bytes to insert, delete and replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // edit distances of a[:i] from each b[:j]
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
