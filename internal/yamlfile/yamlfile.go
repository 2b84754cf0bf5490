// Package yamlfile reads files that people write in YAML: strictly, and with
// errors that say the file and the line.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// The bounds of a file. The parser takes memory by the square of the depth, and
// aliases of aliases multiply what they stand for.
const (
	MaxSize  = 1 << 20 // bytes
	MaxDepth = 64      // lists and mappings inside each other
	maxNodes = 200_000 // keys and values, with those that aliases repeat
)

// File is a file that was read whole.
type File struct {
	name string // for errors
	text []byte // without a byte order mark
	docs []ast.Node
}

// Read reads a file of valid UTF-8, packed or not, within the bounds above. name is the file's
// in errors.
func Read(name string, r io.Reader) (*File, error) {
	text, err := io.ReadAll(io.LimitReader(files.NewReader(io.NopCloser(r)), MaxSize+1))
	switch {
	case err != nil:
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			err = path.Err // the name stands there already
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(text) > MaxSize:
		return nil, fmt.Errorf("%s: the file is larger than %d bytes, which is no size for one that people write", name, MaxSize)
	case !utf8.Valid(text):
		return nil, fmt.Errorf("%s: the file is not valid UTF-8", name)
	}
	f := &File{name: name, text: bytes.TrimPrefix(text, []byte("\ufeff"))}
	tokens := lexer.Tokenize(string(f.text))
	if line := tooDeep(tokens); line > 0 {
		return nil, fmt.Errorf("%s:%d: lists and mappings stand more than %d deep inside each other", name, line, MaxDepth)
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
		if nodes += sizes.of(doc.Body); nodes > maxNodes {
			return nil, fmt.Errorf("%s: the file has more than %d keys and values, those that its aliases repeat included", name, maxNodes)
		}
	}
	return f, nil
}

// tooDeep returns the line at which collections are too deep inside each other,
// or 0. It takes what is indented for what stands in the collection above.
func tooDeep(tokens token.Tokens) int {
	var columns []int // of the collections that are open, outside of brackets
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

// sizes are the numbers of nodes that anchors stand for.
type sizes map[string]int

// of is the number of nodes below one and itself, with what aliases repeat. It
// may stop above maxNodes.
func (s sizes) of(node ast.Node) int {
	n := 1
	switch node := node.(type) {
	case *ast.MappingNode:
		for _, v := range node.Values {
			n = min(n+s.of(v), maxNodes+1)
		}
	case *ast.MappingValueNode:
		n += s.of(node.Key) + s.of(node.Value)
	case *ast.MappingKeyNode:
		n += s.of(node.Value)
	case *ast.SequenceNode:
		for _, v := range node.Values {
			n = min(n+s.of(v), maxNodes+1)
		}
	case *ast.TagNode:
		n += s.of(node.Value)
	case *ast.AnchorNode:
		n = s.of(node.Value)
		s[node.Name.String()] = n
	case *ast.AliasNode:
		n = max(1, s[node.Value.String()])
	}
	return n
}

// Text is what the file holds.
func (f *File) Text() string { return string(f.text) }

// Decode fills v from the only document of the file. Unknown fields are
// errors. purpose says what the file should do, such as "define a judge".
func (f *File) Decode(v any, purpose string) error {
	switch len(f.docs) {
	case 0:
		return fmt.Errorf("%s: the file is empty; it should %s", f.name, purpose)
	case 1:
	default:
		return fmt.Errorf("%s: the file holds more than one YAML document; the one that it may hold should %s", f.name, purpose)
	}
	if err := guarded(func() error { return yaml.NodeToValue(f.docs[0], v, yaml.Strict()) }); err != nil {
		if field := (*yaml.UnknownFieldError)(nil); errors.As(err, &field) {
			name := field.Token.Value
			if near := english.Nearest(name, fieldsOf(reflect.TypeOf(v), nil)); near != "" {
				field.Message += fmt.Sprintf("; did you mean %q?", near)
			}
		}
		return f.syntax(err)
	}
	return nil
}

// fieldsOf adds the names that fields have in a file, of a type and of all below it.
func fieldsOf(t reflect.Type, names []string) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if name == "" || !slices.Contains(names, name) {
			names = fieldsOf(t.Field(i).Type, append(names, name))
		}
	}
	return names
}

// guarded makes an error of a panic of the library, as that of a tag without a
// value.
func guarded(step func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("a tag, an anchor or an alias stands where none can be read; write the value out")
		}
	}()
	return step()
}

// syntax puts the library's complaint on one line.
func (f *File) syntax(err error) error {
	var y yaml.Error
	if errors.As(err, &y) && y.GetToken() != nil {
		message := strings.ReplaceAll(y.GetMessage(), "\n", " ")
		if kind := (*yaml.TypeError)(nil); errors.As(err, &kind) && kind.DstType != nil && kind.SrcType != nil { // without names of Go
			message = fmt.Sprintf("%s was used where %s is expected", kind.SrcType.Kind(), kind.DstType.Kind())
		}
		return fmt.Errorf("%s:%d: %s", f.name, y.GetToken().Position.Line, message)
	}
	return fmt.Errorf("%s: %w", f.name, err)
}

// FieldError is what is wrong with a field of a file.
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

// Wrong is a FieldError.
func Wrong(field, format string, args ...any) error {
	return &FieldError{field, fmt.Errorf(format, args...)}
}

// At adds to an error the name of the file, and for a FieldError the line of
// the field, or of what the field is missing from.
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
