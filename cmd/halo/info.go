package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

func versionMain([]string) int {
	fmt.Printf("halo %s\n", version())
	return 0
}

// version is that of the module this program was built from.
func version() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "(devel)"
}

func infoMain([]string) int {
	fmt.Printf("halo %s, %s, %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return 0
}
