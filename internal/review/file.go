package review

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/refract-eval/refract/internal/packed"
)

// Open opens a file of decisions to add to, and reads those that it has. A
// last line without its end is of a decision that was never confirmed: it is
// taken off, and torn tells so.
func Open(path string) (file *os.File, decided *Decisions, torn bool, err error) {
	if name := packed.Name(path); name != path {
		return nil, nil, false, fmt.Errorf("%s: decisions are added to the file one by one, and none can be added to a packed one: name it %s", path, name)
	}
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, false, err
	}
	whole := bytes.LastIndexByte(b, '\n') + 1
	if decided, err = read(path, b[:whole]); err != nil {
		return nil, nil, false, err
	}
	if file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666); err != nil {
		return nil, nil, false, err
	}
	if torn = whole < len(b); torn {
		err = file.Truncate(int64(whole))
	}
	return file, decided, torn, err
}
