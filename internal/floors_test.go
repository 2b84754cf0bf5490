// Package internal_test tests the rules of the house: which package may import which, and that
// the public API can be named by its users.
package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/refract-eval/refract"
)

const module = "github.com/refract-eval/refract"

// house returns the files of every package without tests, by its folder.
func house(t *testing.T) map[string][]*ast.File {
	t.Helper()
	out := map[string][]*ast.File{}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != ".." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"testdata", "node_modules"}, d.Name())) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		folder := filepath.ToSlash(filepath.Dir(name))
		folder = path.Clean(strings.TrimPrefix(strings.TrimPrefix(folder, ".."), "/"))
		out[folder] = append(out[folder], f)
		return err
	})
	require.NoError(t, err)
	return out
}

// own returns the folder of an import of this module; "" for another module's.
func own(spec *ast.ImportSpec) string {
	name, _ := strconv.Unquote(spec.Path.Value)
	if name == module {
		return "."
	}
	folder, ours := strings.CutPrefix(name, module+"/")
	if !ours {
		return ""
	}
	return folder
}

// Every package stands in a row of ARCHITECTURE.md, and imports only those of rows below.
func TestImportsGoDown(t *testing.T) {
	text, err := os.ReadFile("../ARCHITECTURE.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(text), "| package | what it is |\n|---|---|\n")
	names, floors := regexp.MustCompile("`([^`]+)`"), map[string]int{}
	row := 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		row++
		for _, m := range names.FindAllStringSubmatch(strings.Split(line, " | ")[0], -1) {
			floors[m[1]] = row
		}
	}
	packages := house(t)
	require.True(t, len(packages) >= 40 && row >= 10, "%d packages in %d rows", len(packages), row)
	for folder, files := range packages {
		assert.NotEqual(t, 0, floors[folder], "ARCHITECTURE.md has no row for %s", folder)
		for _, f := range files {
			for _, spec := range f.Imports {
				if to := own(spec); to != "" && floors[to] <= floors[folder] {
					t.Errorf("%s (row %d) imports %s (row %d)", folder, floors[folder], to, floors[to])
				}
			}
		}
	}
}

// No exported name of a public package needs a type of an internal one.
func TestPublicNamesAreNameable(t *testing.T) {
	for folder, files := range house(t) {
		if strings.Contains("/"+folder+"/", "/internal/") || strings.HasPrefix(folder, "cmd/") || files[0].Name.Name == "main" {
			continue
		}
		for _, f := range files {
			hidden := map[string]bool{}
			for _, spec := range f.Imports {
				if to := own(spec); strings.Contains("/"+to+"/", "/internal/") {
					name := path.Base(to)
					if spec.Name != nil {
						name = spec.Name.Name
					}
					hidden[name] = true
				}
			}
			for _, d := range f.Decls {
				for _, shown := range exported(d) {
					for _, name := range named(shown.of, shown.fields) {
						x, _, _ := strings.Cut(name, ".")
						assert.False(t, hidden[x], "%s: %s shows %s", folder, shown.name, name)
					}
				}
			}
		}
	}
}

// shown is a part of a declaration that users of a package see.
type shown struct {
	name   string
	of     ast.Node
	fields bool // its fields may be unexported
}

// named returns the names of other packages in a type, such as "text.Script". Where it has
// fields or methods, those that nobody sees are left out.
func named(of ast.Node, fields bool) (out []string) {
	ast.Inspect(of, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			return !fields || len(n.Names) == 0 || slices.ContainsFunc(n.Names, (*ast.Ident).IsExported)
		case *ast.FuncType:
			if fields {
				out = append(out, named(n, false)...)
			}
			return !fields
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				out = append(out, x.Name+"."+n.Sel.Name)
			}
		}
		return true
	})
	return out
}

func exported(d ast.Decl) (out []shown) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))) {
			out = append(out, shown{d.Name.Name, d.Type, false})
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					out = append(out, shown{s.Name.Name, s.Type, true})
				}
			case *ast.ValueSpec:
				if s.Type != nil && slices.ContainsFunc(s.Names, (*ast.Ident).IsExported) {
					out = append(out, shown{s.Names[0].Name, s.Type, false})
				}
			}
		}
	}
	return out
}

// receiver returns the name of the type that a method belongs to.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}

// Who cites the project cites the version that is there.
func TestCitedVersion(t *testing.T) {
	cited, err := os.ReadFile("../CITATION.cff")
	require.NoError(t, err)
	assert.Contains(t, string(cited), "\nversion: "+refract.Version+"\n", "CITATION.cff is not of version %s", refract.Version)
}
