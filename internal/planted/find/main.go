package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"time"
)

func main() {
	pattern := flag.String("faults", "", "plant those only that `regexp` matches")
	limit := flag.Duration("limit", 10*time.Minute, "for how long the tests for a fault are run at most")
	write := flag.String("write", "", "put the table into `file`, where it is now")
	flag.Parse()
	if err := run(*pattern, *limit, *write); err != nil {
		fmt.Fprintln(os.Stderr, "find:", err)
		os.Exit(1)
	}
}

func run(pattern string, limit time.Duration, write string) error {
	chosen, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	said, err := descriptions(".")
	if err != nil {
		return err
	}
	var list []sought
	for _, p := range faults() {
		if chosen.MatchString(p.name) {
			list = append(list, p)
		}
	}
	dir, err := os.MkdirTemp("", "halo-faults-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &builds{root: ".", dir: dir}
	begin := time.Now()
	if err := b.build(list); err != nil {
		return err
	}
	fmt.Printf("built the tests of %d packages in %.0f s\n", len(b.made), time.Since(begin).Seconds())
	begin = time.Now()
	tests, err := b.clean(list, limit)
	if err != nil {
		return err
	}
	fmt.Printf("without a fault: %d tests pass in %.0f s\n", tests, time.Since(begin).Seconds())

	begin = time.Now()
	var rows []row
	missed := 0
	for _, p := range list {
		r := row{sought: p, says: said[p.name], finding: b.find(p, limit)}
		if r.by == "" {
			missed++
		}
		fmt.Println(r)
		rows = append(rows, r)
	}
	fmt.Printf("%d of %d faults found in %.0f s\n", len(rows)-missed, len(rows), time.Since(begin).Seconds())
	if write != "" {
		if err := replaceTable(write, rows); err != nil {
			return err
		}
	}
	if missed > 0 {
		return fmt.Errorf("%d faults are not found", missed)
	}
	return nil
}
