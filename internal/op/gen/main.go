package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen directory")
		os.Exit(2)
	}
	for name, text := range files() {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), []byte(text), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// files returns the texts of all generated files, by name.
func files() map[string]string {
	x86 := []machine{avx2(), avx512()}
	arm := []machine{neon()}
	return map[string]string{
		"vector_amd64.s":  assembly(x86),
		"vector_amd64.go": dispatch(x86),
		"vector_arm64.s":  assembly(arm),
		"vector_arm64.go": dispatch(arm),
	}
}
