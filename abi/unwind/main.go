package main

import (
	"fmt"
	"os"
)

func main() {
	failed := false
	for _, name := range os.Args[1:] {
		if err := rewrite(name); err != nil {
			fmt.Fprintf(os.Stderr, "unwind: %s: %v\n", name, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}
