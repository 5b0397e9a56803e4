package main

import "fmt"

// byHandMore is how many us an access of 1 KiB may take beyond the system call by hand.
const byHandMore = 0.15

// fileRows are the figures of accesses of files in the page cache: in memory (tmpfs), but for two
// in the directory of temporary files, which is on a disk.
func fileRows() []row {
	rows := []row{}
	add := func(bench, variant string, ranks, size int, bars ...bar) {
		rows = append(rows, row{name: fileRowName(bench, variant, ranks, size), bench: bench, fabric: "shm", ranks: ranks, size: size,
			variant: variant, unit: "us", bars: bars})
	}
	best := func(f float64) bar { return bar{factor: f, of: "best"} }
	for _, size := range []int{1 << 10, 64 << 10, 1 << 20, 64 << 20} {
		for _, what := range []string{"write", "read"} {
			hand := bar{factor: 1.05, of: fileRowName("file-at", what+" by hand", 1, size)}
			if size == 1<<10 {
				hand.factor, hand.more = 1, byHandMore
			}
			add("file-at", what, 1, size, hand, best(1))
			add("file-at", what+" by hand", 1, size)
		}
	}
	for _, size := range []int{64, 256, 1 << 10} {
		add("file-rows", "contiguous", 1, size)
		add("file-rows", "rows", 1, size, bar{factor: 1.2, of: fileRowName("file-rows", "contiguous", 1, size)})
		add("file-rows", "rows by hand", 1, size)
	}
	for _, ranks := range []int{4, 8} {
		add("file-gap", "contiguous", ranks, 1<<20)
		add("file-gap", "gap", ranks, 1<<20, bar{factor: 1.2, of: fileRowName("file-gap", "contiguous", ranks, 1<<20)}, best(0.5))
	}
	for _, ranks := range []int{4, 8} {
		for _, what := range []string{"3-D write", "3-D read", "4-D write", "4-D read"} {
			name := func(how string) string { return fileRowName("file-array", what+how, ranks, 128) }
			// The bar is the better of both; meeting each of them is the same.
			add("file-array", what, ranks, 128, best(0.7), bar{factor: 1, of: name(" by hand")}, bar{factor: 1, of: name(" alone")})
			add("file-array", what+" alone", ranks, 128)
			add("file-array", what+" by hand", ranks, 128)
		}
	}
	for _, size := range []int{1 << 10, 4 << 10} {
		add("file-blocks", "write", 4, size, best(0.5))
		add("file-blocks", "read", 4, size)
	}
	for _, size := range []int{64, 512} {
		add("file-strided", "read", 1, size, best(1))
	}
	add("file-shared", "write", 4, 100, best(0.5))
	// At least 80 % of the shorter one is hidden: both take as long alone.
	add("file-overlap", "write", 1, 64<<20)
	add("file-overlap", "compute", 1, 64<<20)
	add("file-overlap", "both", 1, 64<<20, bar{factor: 1.2, of: fileRowName("file-overlap", "compute", 1, 64<<20)})
	const disk = " in /var/tmp"
	for _, size := range []int{1 << 10, 4 << 10} {
		add("file-blocks", "write"+disk, 4, size, best(0.5))
		rows[len(rows)-1].args = "-dir /var/tmp"
	}
	return rows
}

func fileRowName(bench, variant string, ranks, size int) string {
	text := bytesText(size)
	if bench == "file-array" {
		text = fmt.Sprintf("%d^3", size)
	}
	return fmt.Sprintf("%s %s %s %d ranks", bench, variant, text, ranks)
}
