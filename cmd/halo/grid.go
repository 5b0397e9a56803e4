package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/halo-mpi/halo/internal/topology"
)

// gridMain tells what CartCreate with reorder gains for a grid on hosts of so many slots.
func gridMain(grid, slots string) int {
	text, err := gain(grid, slots)
	if err != nil {
		fmt.Fprintln(os.Stderr, "halo:", err)
		return 2
	}
	fmt.Println(text)
	return 0
}

// gain describes what reordering gains for a grid such as 4x6 or 4x6p, where p stands for a periodic
// dimension, on hosts of so many slots, such as 12,12.
func gain(grid, slots string) (string, error) {
	var g topology.Grid
	size := 1
	for _, d := range strings.Split(grid, "x") {
		length, periodic := strings.CutSuffix(d, "p")
		n, err := strconv.Atoi(length)
		if err != nil || n < 1 || n > maxPositions/size {
			return "", fmt.Errorf("-grid %s: %q is no length of a dimension, such as 4, or 4p of a periodic one, in a grid of at most %d positions", grid, d, maxPositions)
		}
		size *= n
		g.Dims, g.Periods = append(g.Dims, n), append(g.Periods, periodic)
	}
	var host []int32
	for i, s := range strings.Split(slots, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > maxPositions {
			return "", fmt.Errorf("-slots %s: %q is no number of slots of a host", slots, s)
		}
		for range n {
			host = append(host, int32(i))
		}
	}
	if len(host) < size {
		return "", fmt.Errorf("a grid of %d positions on hosts of %d slots", size, len(host))
	}
	_, before, after := topology.Arrange(&g, host[:size])
	return fmt.Sprintf("grid %s on hosts of %s slots: %s", grid, slots, topology.Gain(int64(before), int64(after))), nil
}

// maxPositions bounds the time that gain takes.
const maxPositions = 1 << 20
