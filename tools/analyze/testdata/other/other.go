// Package other is another module.
package other

import "strings"

func Results(s string) {
	strings.Repeat(s, 2) // reported: Repeat doesn't have side effects and its return value is ignored (SA4017)
}
