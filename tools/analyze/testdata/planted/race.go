//go:build race

package planted

import "fmt"

func Detected() {
	fmt.Printf("%d\n", "x") // reported: fmt.Printf format %d has arg "x" of wrong type string (printf) // reported: Printf format %d has arg #1 of wrong type string (SA5009)
}
