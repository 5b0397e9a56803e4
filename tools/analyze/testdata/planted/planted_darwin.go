package planted

import (
	"context"
	"log"
	"strings"
)

// What is known of the standard library on other platforms holds on this one.
func OnDarwin(parent context.Context, a bool) {
	strings.Repeat("s", 2) // reported: Repeat doesn't have side effects and its return value is ignored (SA4017)
	_, one := context.WithCancel(parent)
	if a {
		one()
		return
	}
	log.Fatal("it does not return")
}
