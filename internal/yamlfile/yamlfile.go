// Package yamlfile reads YAML files that people write. It is strict, and its errors name
// the file and the line.
package yamlfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/refract-eval/refract/internal/english"
	"github.com/refract-eval/refract/internal/files"
)

// Bounds of a file. The parser's memory grows with the square of the depth, and
// aliases of aliases multiply their contents.
const (
	MaxSize  = 1 << 20 // bytes
	MaxDepth = 64      // levels of nested lists and mappings
	maxNodes = 200_000 // keys and values, including those that aliases repeat
)

// File is a file in memory.
type File struct {
	name string // for errors
	text []byte // without a byte order mark
	docs []ast.Node
}

// Read reads a UTF-8 file, compressed or not, and checks the bounds above. name names the file
// in errors.
func Read(name string, r io.Reader) (*File, error) {
	text, err := io.ReadAll(io.LimitReader(files.NewReader(io.NopCloser(r)), MaxSize+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, files.Cause(err))
	case len(text) > MaxSize:
		return nil, fmt.Errorf("%s: the file is larger than %d bytes, too large for one that people write", name, MaxSize)
	case !utf8.Valid(text):
		line := slices.IndexFunc(bytes.Split(text, []byte("\n")), func(b []byte) bool { return !utf8.Valid(b) })
		return nil, fmt.Errorf("%s:%d: the line is not valid UTF-8", name, line+1)
	}
	f := &File{name: name, text: bytes.TrimPrefix(text, []byte("\ufeff"))}
	tokens := lexer.Tokenize(string(f.text))
	if line := tooDeep(tokens); line > 0 {
		return nil, fmt.Errorf("%s:%d: lists and mappings are nested more than %d deep", name, line, MaxDepth)
	}
	var parsed *ast.File
	if err := guarded(func() (err error) { parsed, err = parser.Parse(tokens, 0); return err }); err != nil {
		return nil, f.syntax(err)
	}
	sizes := sizes{}
	nodes := 0
	for _, doc := range parsed.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType {
			continue
		}
		f.docs = append(f.docs, doc.Body)
		if nodes += sizes.count(doc.Body); nodes > maxNodes {
			return nil, fmt.Errorf("%s: the file has more than %d keys and values, those that its aliases repeat included", name, maxNodes)
		}
	}
	return f, nil
}

// tooDeep returns the line at which collections are nested too deep, or 0. It takes
// deeper indentation as a nested collection.
func tooDeep(tokens token.Tokens) int {
	var columns []int // of the open collections outside of brackets
	brackets := 0
	for _, t := range tokens {
		column := t.Position.Column
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets--
		case token.MappingValueType:
			if t.Prev != nil {
				column = t.Prev.Position.Column
			}
			fallthrough
		case token.SequenceEntryType, token.MappingKeyType:
			for len(columns) > 0 && columns[len(columns)-1] >= column {
				columns = columns[:len(columns)-1]
			}
			columns = append(columns, column)
		}
		if len(columns)+brackets > MaxDepth {
			return t.Position.Line
		}
	}
	return 0
}

// sizes maps anchors to their numbers of nodes.
type sizes map[string]int

// count returns the number of nodes in a tree, including those that aliases repeat. It
// may stop early above maxNodes.
func (s sizes) count(node ast.Node) int {
	n := 1
	switch node := node.(type) {
	case *ast.MappingNode:
		for _, v := range node.Values {
			n = min(n+s.count(v), maxNodes+1)
		}
	case *ast.MappingValueNode:
		n += s.count(node.Key) + s.count(node.Value)
	case *ast.MappingKeyNode:
		n += s.count(node.Value)
	case *ast.SequenceNode:
		for _, v := range node.Values {
			n = min(n+s.count(v), maxNodes+1)
		}
	case *ast.TagNode:
		n += s.count(node.Value)
	case *ast.AnchorNode:
		n = s.count(node.Value)
		s[node.Name.String()] = n
	case *ast.AliasNode:
		n = max(1, s[node.Value.String()])
	}
	return n
}

// Text returns the contents of the file.
func (f *File) Text() string { return string(f.text) }

// Decode fills v from the only document of the file. Unknown fields are
// errors. purpose tells readers of errors what the file should do, such as "define a judge".
func (f *File) Decode(v any, purpose string) error {
	switch len(f.docs) {
	case 0:
		return fmt.Errorf("%s: the file is empty; it should %s", f.name, purpose)
	case 1:
	default:
		return fmt.Errorf("%s: the file has more than one YAML document; it may have only one, which should %s", f.name, purpose)
	}
	if err := f.cutDecimals(reflect.TypeOf(v)); err != nil {
		return err
	}
	if err := guarded(func() error { return yaml.NodeToValue(f.docs[0], v, yaml.Strict()) }); err != nil {
		if field := (*yaml.UnknownFieldError)(nil); errors.As(err, &field) {
			name := field.Token.Value
			switch near := english.Nearest(name, fieldsOf(reflect.TypeOf(v), true)); near {
			case "":
				_, inner := f.fieldAt(field.Token)
				if known := fieldsOf(typeAt(reflect.TypeOf(v), inner), false); len(known) > 0 {
					field.Message += "; known: " + strings.Join(known, ", ")
				}
			case name:
				field.Message += "; it belongs elsewhere in the file"
			default:
				field.Message += fmt.Sprintf("; did you mean %q?", near)
			}
		}
		return f.syntax(err)
	}
	return nil
}

// cutDecimals reports a decimal number where a whole one belongs, of which the library would take
// the whole part.
func (f *File) cutDecimals(t reflect.Type) (err error) {
	ast.Walk(visit(func(n ast.Node) {
		if _, decimal := n.(*ast.FloatNode); !decimal || err != nil || len(n.GetPath()) <= 2 {
			return
		}
		field := n.GetPath()[2:]
		if k := typeAt(t, field+".").Kind(); k >= reflect.Int && k <= reflect.Uint64 {
			err = fmt.Errorf("%s:%d: %s: %s where a whole number is expected", f.name, n.GetToken().Position.Line, field, n.GetToken().Value)
		}
	}), f.docs[0])
	return err
}

// element returns the type of the elements of lists and mappings, and of what a pointer points to.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

// fieldsOf returns the names of the fields of a type, and of all types nested in it if deep.
func fieldsOf(t reflect.Type, deep bool) (names []string) {
	t = element(t)
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if name != "" {
			names = append(names, name)
		}
		if name == "" || deep {
			names = append(names, fieldsOf(t.Field(i).Type, deep)...)
		}
	}
	return names
}

// typeAt returns the type of the mapping that has a field, such as "datasets[0].name", and with a dot
// after it the type of the field.
func typeAt(t reflect.Type, field string) reflect.Type {
	t = element(t)
	name, rest, within := strings.Cut(field, ".")
	name, _, _ = strings.Cut(name, "[")
	for i := 0; within && t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		if tag, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); tag == name {
			return typeAt(t.Field(i).Type, rest)
		}
	}
	return t
}

// guarded turns a panic of the library into an error. A tag without a value causes
// one, for example.
func guarded(step func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("a tag, an anchor or an alias cannot be read here; write the value out")
		}
	}()
	return step()
}

// kinds are what people call kinds of values.
var kinds = map[string]string{"sequence": "a list", "slice": "a list", "mapping": "a mapping", "map": "a mapping", "struct": "a mapping",
	"string": "a text", "bool": "true or false", "boolean": "true or false", "int": "a number", "uint64": "a number", "float": "a number", "float64": "a number", "null": "nothing"}

// syntax rewords an error of the library on one line, without names of Go.
func (f *File) syntax(err error) error {
	var y yaml.Error
	if !errors.As(err, &y) || y.GetToken() == nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	message := strings.ReplaceAll(y.GetMessage(), "\n", " ")
	is, want, known := strings.Cut(strings.TrimSuffix(message, " is expected"), " was used where ")
	if kind := (*yaml.TypeError)(nil); errors.As(err, &kind) && kind.DstType != nil && kind.SrcType != nil {
		is, want, known = kind.SrcType.Kind().String(), kind.DstType.Kind().String(), true
	}
	if known {
		message = fmt.Sprintf("%s where %s is expected", cmp.Or(kinds[is], is), cmp.Or(kinds[want], want))
	}
	if large := (*yaml.OverflowError)(nil); errors.As(err, &large) {
		known, message = true, large.SrcNum+" is out of range"
	}
	if field, _ := f.fieldAt(y.GetToken()); known && field != "" {
		message = field + ": " + message
	}
	return fmt.Errorf("%s:%d: %s", f.name, y.GetToken().Position.Line, message)
}

// visit is called with every node of a tree.
type visit func(ast.Node)

func (v visit) Visit(n ast.Node) ast.Visitor {
	v(n)
	return v
}

// fieldAt returns the field that a token begins, such as "datasets[0]", and the innermost one, such as
// "datasets[0].name".
func (f *File) fieldAt(at *token.Token) (field, inner string) {
	for _, doc := range f.docs {
		ast.Walk(visit(func(n ast.Node) {
			if n.GetToken() == at && len(n.GetPath()) > 2 {
				inner = n.GetPath()[2:]
				field = cmp.Or(field, inner)
			}
		}), doc)
	}
	return field, inner
}

// FieldError is an error in a field of a file.
type FieldError struct {
	Field string // as in "turns[0].prompt"; "" for the whole file
	Err   error
}

// Error names the field.
func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Err.Error()
	}
	return e.Field + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *FieldError) Unwrap() error { return e.Err }

// Wrong returns a FieldError.
func Wrong(field, format string, args ...any) error {
	return &FieldError{field, fmt.Errorf(format, args...)}
}

// At adds the name of the file to an error, and for a FieldError the line of the field,
// or of the mapping that lacks the field.
func (f *File) At(err error) error {
	var field *FieldError
	if len(f.docs) > 0 && errors.As(err, &field) {
		for path := field.Field; path != ""; path = path[:max(0, strings.LastIndexAny(path, ".["))] {
			if line := lineOf(f.docs[0], path); line > 0 {
				return fmt.Errorf("%s:%d: %w", f.name, line, err)
			}
		}
	}
	return fmt.Errorf("%s: %w", f.name, err)
}

func lineOf(root ast.Node, field string) int {
	path, err := yaml.PathString("$." + field)
	if err != nil {
		return 0
	}
	node, err := path.FilterNode(root)
	if err != nil || node == nil || node.GetToken() == nil {
		return 0
	}
	return node.GetToken().Position.Line
}
