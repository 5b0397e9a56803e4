package lint

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
)

const (
	// packageLines is the greatest size of a package, in lines of Go that people have written, without tests: a room
	// in which one finds one's way without a guide.
	packageLines = 6000
	// slack is by how many lines a package of largePackages may be smaller than its limit.
	slack = 300
)

// largePackages are the packages that are larger, with their limits. A limit falls with the package: it may only be
// lowered, and a package that keeps to packageLines leaves the table.
func largePackages() map[string]int {
	return map[string]int{
		"abi/bind":                    7800,
		"cmd/halo/internal/benchmark": 6300,
		"internal/rma":                8100,
		"mpi":                         18100,
	}
}

// linesOf counts the lines of Go of each package, without tests and generated files.
func linesOf(files []*File) map[string]int {
	lines := map[string]int{}
	for _, f := range files {
		if path.Ext(f.Path) == ".go" && !f.Test() && !f.generated() {
			lines[f.Dir()] += bytes.Count(f.Text, []byte{'\n'})
		}
	}
	return lines
}

// checkSizes returns what is wrong with the sizes of packages, and with the limits of the larger ones.
func checkSizes(lines, larger map[string]int) (found []string) {
	for _, dir := range slices.Sorted(maps.Keys(lines)) {
		limit, known := larger[dir]
		n := lines[dir]
		switch {
		case !known && n > packageLines:
			found = append(found, fmt.Sprintf("%s has %d lines, the limit is %d: divide it", dir, n, packageLines))
		case known && n > limit:
			found = append(found, fmt.Sprintf("%s has %d lines, its limit is %d: put what is new elsewhere, or divide it", dir, n, limit))
		case known && n <= packageLines:
			found = append(found, fmt.Sprintf("%s has %d lines: take it out of largePackages", dir, n))
		case known && n < limit-slack:
			found = append(found, fmt.Sprintf("%s has %d lines, its limit is %d: lower it", dir, n, limit))
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(larger)) {
		if lines[dir] == 0 {
			found = append(found, fmt.Sprintf("%s is no package: take it out of largePackages", dir))
		}
	}
	return found
}
