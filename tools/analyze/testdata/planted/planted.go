// Package planted has what analyzers report, and beside it what they do not.
package planted

import (
	"context"
	"fmt"
	"log"
	"strings"

	"example.com/planted/logs"
)

func Formats() {
	fmt.Printf("%d\n", "x") // reported: fmt.Printf format %d has arg "x" of wrong type string (printf) // reported: Printf format %d has arg #1 of wrong type string (SA5009)
	logs.Say("%d\n", "x")   // reported: example.com/planted/logs.Say format %d has arg "x" of wrong type string (printf)
	logs.Say("%d\n", 1)
}

func Results(s string) {
	strings.Repeat(s, 2) // reported: Repeat doesn't have side effects and its return value is ignored (SA4017)
	log.Println(s)
}

func Ends(parent context.Context, a, b bool) {
	_, one := context.WithCancel(parent)
	if a {
		one()
		return
	}
	if b {
		log.Fatal("a function of the standard library that does not return")
	}
	logs.Die()
}

func Returns(parent context.Context, a bool) {
	_, one := context.WithCancel(parent) // reported: the one function is not used on all paths (possible context leak) (lostcancel)
	if a {
		one()
		return
	}
	log.Println("a function that returns")
} // reported: this return statement may be reached without using the one var defined on line 37 (lostcancel)

func Yesterday() {
	logs.Old() // reported: example.com/planted/logs.Old is deprecated: use Say.
}

func idle() {} // reported: func idle is unused (U1000)

func forTests() {}
