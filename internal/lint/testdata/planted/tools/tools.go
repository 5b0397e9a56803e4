// Package tools is another module: its imports are its own affair.
package tools

import _ "honnef.co/go/tools/staticcheck"
