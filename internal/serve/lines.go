package serve

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// errLong says that a request was longer than requests may be, and left out.
var errLong = &Usage{fmt.Errorf("the request has more than %d MiB; part it", MaxLine>>20)}

// lines reads lines of bounded length.
type lines struct {
	in   *bufio.Reader
	most int
}

// next returns a line of its own, without its end. The error is errLong, after which
// the next one follows, or that of the input; a last line without an end is one.
func (l *lines) next() ([]byte, error) {
	var parts []byte
	long := false
	for {
		part, err := l.in.ReadSlice('\n')
		if long = long || len(parts)+len(part) > l.most+1; !long {
			parts = append(parts, part...)
		} else {
			parts = nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(parts) == 0 && !long):
			return nil, err
		case long:
			return nil, errLong
		}
		return bytes.TrimSuffix(parts, []byte{'\n'}), nil
	}
}
