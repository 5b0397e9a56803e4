package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// row is a line of the table.
type row struct {
	sought
	says string
	finding
}

// String is the row for who watches.
func (r row) String() string {
	if r.by == "" {
		return fmt.Sprintf("%-18s NOT FOUND: %s", r.name, r.why)
	}
	return fmt.Sprintf("%-18s %5.1f s  %s", r.name, r.took.Seconds(), r.by)
}

// descriptions are what the comments of package planted say, by name, without the name.
func descriptions(root string) (map[string]string, error) {
	name := filepath.Join(root, "internal", "planted", "off.go")
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	said := map[string]string{}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			text := strings.Join(strings.Fields(v.Doc.Text()), " ")
			said[v.Names[0].Name] = strings.TrimPrefix(text, v.Names[0].Name+" ")
		}
	}
	return said, nil
}

// The table stands between these lines of a file.
const (
	tableBegin = "<!-- make faults writes this table -->\n"
	tableEnd   = "<!-- end of the table -->\n"
)

// replaceTable writes the rows into a file.
func replaceTable(name string, rows []row) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(text, []byte(tableBegin))
	_, after, also := bytes.Cut(rest, []byte(tableEnd))
	if !ok || !also {
		return fmt.Errorf("%s has no place for the table", name)
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteString(tableBegin + "| HALO_FAULT | It ... | Found by | After |\n|---|---|---|---|\n")
	for _, r := range rows {
		by, took := r.by, fmt.Sprintf("%.1f s", r.took.Seconds())
		if by == "" {
			by, took = "nothing", r.why
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.name, strings.TrimSuffix(r.says, "."), strings.ReplaceAll(by, "|", "\\|"), took)
	}
	b.WriteString(tableEnd)
	b.Write(after)
	return os.WriteFile(name, b.Bytes(), 0o644)
}
