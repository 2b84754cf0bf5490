package yamlfile

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// complaint is what the library says, but for a value of the wrong type, which
// gets the name of its field and no name of Go.
func (f *File) complaint(y yaml.Error) string {
	var want string
	var node *yaml.UnexpectedNodeTypeError
	var of *yaml.TypeError
	var large *yaml.OverflowError
	switch {
	case errors.As(y, &large):
		want = fmt.Sprintf("a whole number that fits (%v)", large.DstType)

	case errors.As(y, &node):
		want = nodeNames[node.Expected]
	case errors.As(y, &of) && of.DstType != nil:
		want = kindNames[of.DstType.Kind()]
	}
	found := finder{token: y.GetToken()}
	for _, doc := range f.docs {
		ast.Walk(&found, doc)
	}
	if want == "" || found.node == nil {
		return y.GetMessage()
	}
	text := "want " + want
	is := nodeNames[found.node.Type()]
	if large != nil {
		is = large.SrcNum
	}
	if is != want {
		text += ", not " + cmp.Or(is, "this")
	}
	switch want {
	case aList:
		text += "; write [a, b]"
	case aMapping:
		text += "; write {key: value}"
	}
	if field := strings.TrimPrefix(strings.TrimPrefix(found.node.GetPath(), "$"), "."); field != "" {
		text = field + ": " + text
	}
	return text
}

// finder finds the node, and not its key, that begins at a token.
type finder struct {
	token *token.Token
	node  ast.Node
}

// Visit looks at a node, and at those below.
func (f *finder) Visit(node ast.Node) ast.Visitor {
	if f.node == nil && node.GetToken() == f.token {
		f.node = node
	}
	return f
}

// What people call the types of values.
const (
	aList    = "a list"
	aMapping = "a mapping"
	aText    = "a text"
	aNumber  = "a number"
	aWhole   = "a whole number"
	aTruth   = "true or false"
)

var nodeNames = map[ast.NodeType]string{
	ast.SequenceType: aList, ast.MappingType: aMapping, ast.MappingValueType: aMapping, ast.StringType: aText, ast.LiteralType: aText,
	ast.IntegerType: aWhole, ast.FloatType: aNumber, ast.BoolType: aTruth, ast.NullType: "null",
}

var kindNames = map[reflect.Kind]string{
	reflect.Slice: aList, reflect.Array: aList, reflect.Map: aMapping, reflect.Struct: aMapping, reflect.String: aText, reflect.Bool: aTruth,
	reflect.Int: aWhole, reflect.Int64: aWhole, reflect.Uint64: aWhole, reflect.Float64: aNumber,
}
