package kubernetes

import (
	"fmt"
	"strconv"
	"strings"
)

// documents parses the part of YAML that the manifests use: documents of block mappings and sequences,
// sequences of scalars in brackets, comments, and scalars of one line.
func documents(text string) (all []any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	p := &yaml{}
	flush := func() {
		if len(p.lines) > 0 {
			all = append(all, p.block(p.lines[0].indent))
			if p.at < len(p.lines) {
				p.fail("the indentation matches nothing before")
			}
		}
		p = &yaml{}
	}
	for i, line := range strings.Split(text, "\n") {
		if line == "---" {
			flush()
			continue
		}
		bare := strings.TrimLeft(line, " ")
		indent := len(line) - len(bare)
		bare = strings.TrimRight(uncommented(bare), " ")
		if bare != "" {
			p.lines = append(p.lines, yamlLine{i + 1, indent, bare})
		}
	}
	flush()
	return all, nil
}

type yamlLine struct {
	number, indent int
	text           string
}

type yaml struct {
	lines []yamlLine
	at    int
}

func (p *yaml) fail(why string) {
	panic(fmt.Sprintf("line %d: %s", p.lines[min(p.at, len(p.lines)-1)].number, why))
}

// uncommented removes a comment that follows a blank, or begins the line.
func uncommented(text string) string {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case text[i] == '#' && !quoted && (i == 0 || text[i-1] == ' '):
			return text[:i]
		}
	}
	return text
}

// block parses the mapping or sequence that begins at the current line.
func (p *yaml) block(indent int) any {
	if strings.HasPrefix(p.lines[p.at].text, "- ") {
		var list []any
		for p.at < len(p.lines) && p.lines[p.at].indent == indent && strings.HasPrefix(p.lines[p.at].text, "- ") {
			l := &p.lines[p.at]
			l.text, l.indent = l.text[2:], indent+2
			if _, _, isPair := pair(l.text); isPair {
				list = append(list, p.block(indent+2))
			} else {
				list = append(list, scalar(l.text))
				p.at++
			}
		}
		return list
	}
	m := map[string]any{}
	for p.at < len(p.lines) && p.lines[p.at].indent == indent {
		key, value, isPair := pair(p.lines[p.at].text)
		if !isPair || strings.HasPrefix(key, "- ") {
			p.fail("neither KEY: VALUE nor an entry of a list")
		}
		if _, twice := m[key]; twice {
			p.fail(key + " is there twice")
		}
		p.at++
		switch {
		case value != "":
			m[key] = scalar(value)
		case p.at < len(p.lines) && (p.lines[p.at].indent > indent || p.lines[p.at].indent == indent && strings.HasPrefix(p.lines[p.at].text, "- ")):
			m[key] = p.block(p.lines[p.at].indent)
		default:
			m[key] = nil
		}
	}
	return m
}

// pair splits KEY: VALUE.
func pair(text string) (key, value string, ok bool) {
	if text[0] == '"' || text[0] == '[' {
		return "", "", false
	}
	key, ok = strings.CutSuffix(text, ":")
	if ok {
		return key, "", true
	}
	key, value, ok = strings.Cut(text, ": ")
	return key, strings.TrimSpace(value), ok
}

func scalar(text string) any {
	if inner, ok := strings.CutPrefix(text, "["); ok {
		list := []any{}
		for _, word := range strings.Split(strings.TrimSuffix(inner, "]"), ",") {
			list = append(list, scalar(strings.TrimSpace(word)))
		}
		return list
	}
	if s, err := strconv.Unquote(text); err == nil {
		return s
	}
	if text == "true" || text == "false" {
		return text == "true"
	}
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		return int(n)
	}
	return text
}
