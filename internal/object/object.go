// Package object reads and writes files wherever their names say that they lie:
// on this machine, or in an object store, as scheme://bucket/key with s3 or gs,
// and with the store's options behind a question mark. A name file:///path is
// another one for /path.
//
// Stores are linked with the build tag cloud alone, as their clients are larger
// than all the rest; without it, what names one is told so.
package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// options are those of stores that a name may have: none of them is a secret.
var options = []string{"region", "endpoint", "profile", "anonymous", "s3ForcePathStyle", "use_path_style", "disable_https",
	"hostname_immutable", "accelerate", "dualstack", "fips"}

// place is an object's.
type place struct {
	bucket string // the URL of the bucket, with the options
	key    string
	name   string // for people, without options
}

// Is reports whether a name is that of an object, or says file://.
func Is(name string) bool { return scheme(name) != "" }

func scheme(name string) string {
	for _, s := range []string{"s3", "gs", "file"} {
		if len(name) > len(s)+3 && strings.EqualFold(name[:len(s)+3], s+"://") {
			return s
		}
	}
	return ""
}

// Check says what is wrong with a name. It quotes none of it, as it may be a key
// that was put into it.
func Check(name string) error {
	s := scheme(name)
	if s == "" {
		return nil
	}
	u, err := url.Parse(name)
	switch {
	case err != nil || u.Fragment != "":
		return fmt.Errorf("the %s:// name cannot be read: write %%23 for #, %%3F for ? and %%25 for %%", s)
	case s == "file":
		if u.Host != "" && u.Host != "localhost" || u.RawQuery != "" || u.Path == "" {
			return errors.New("a file:// name is file:///PATH, with three strokes and without options")
		}
		return nil
	case u.User != nil:
		return fmt.Errorf("the %s:// name holds a user or a key: keep them in the environment (%s)", s, credentials(s))
	case u.Host == "" || strings.Trim(u.Path, "/") == "" || strings.HasSuffix(u.Path, "/"):
		return fmt.Errorf("the %s:// name is %[1]s://BUCKET/KEY", s)
	}
	for option, values := range u.Query() {
		if !slices.Contains(options, option) {
			return fmt.Errorf("the %s:// name has an option that is not known; the options are %s, and keys stand in the environment (%s)",
				s, strings.Join(options, ", "), credentials(s))
		}
		if e, err := url.Parse(values[0]); option == "endpoint" && (err != nil || e.User != nil || e.RawQuery != "") {
			return fmt.Errorf("the endpoint of the %s:// name is http://HOST:PORT, without a user", s)
		}
	}
	return nil
}

func credentials(scheme string) string {
	if scheme == "gs" {
		return "GOOGLE_APPLICATION_CREDENTIALS"
	}
	return "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
}

// Bare is a name without options, whose end is that of the file.
func Bare(name string) string {
	if s := scheme(name); s != "" && s != "file" {
		name, _, _ = strings.Cut(name, "?")
	}
	return name
}

// Ext is the extension of a name.
func Ext(name string) string { return path.Ext(Bare(name)) }

// Local returns the path of a name that means a file of this machine.
func Local(name string) (string, bool) {
	switch scheme(name) {
	case "":
		return name, true
	case "file":
		if u, err := url.Parse(name); err == nil && Check(name) == nil {
			return u.Path, true
		}
	}
	return name, false
}

// Same reports whether two names are one object, whatever their options are.
func Same(a, b string) bool {
	return Is(a) && Is(b) && parsed(a).name == parsed(b).name
}

func parsed(name string) place {
	u, err := url.Parse(name)
	if err != nil {
		return place{name: Bare(name)}
	}
	bucket := url.URL{Scheme: strings.ToLower(u.Scheme), Host: u.Host, RawQuery: u.RawQuery}
	key := strings.TrimPrefix(u.Path, "/")
	return place{bucket: bucket.String(), key: key, name: bucket.Scheme + "://" + u.Host + "/" + key}
}

// File is what is open for reading.
type File interface {
	fs.File
	io.ReaderAt
}

// Open opens a file or an object for reading.
func Open(ctx context.Context, name string) (File, error) {
	if local, ok := Local(name); ok {
		f, err := os.Open(local)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
	if err := Check(name); err != nil {
		return nil, err
	}
	p := parsed(name)
	b, err := openBucket(ctx, p.bucket)
	if err != nil {
		return nil, p.fault("open", err)
	}
	f, err := newReader(ctx, b, p)
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return f, nil
}

// Stat describes a file or an object, which is a regular file.
func Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	if local, ok := Local(name); ok {
		return os.Stat(local)
	}
	f, err := Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Stat()
}

// Upload is an object in the making, which appears at Commit, whole.
type Upload struct {
	io.Writer
	p      place
	bucket bucket
	out    io.WriteCloser
	cancel context.CancelFunc // of the upload
}

// Create begins an object. It asks the store for it before, so that what cannot
// be written is an error before the work and not behind it.
func Create(ctx context.Context, name string) (*Upload, error) {
	if err := Check(name); err != nil {
		return nil, err
	}
	p := parsed(name)
	b, err := openBucket(ctx, p.bucket)
	if err == nil {
		if _, err = b.size(ctx, p.key); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		return nil, p.fault("write", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	out, err := b.write(ctx, p.key)
	if err != nil {
		cancel()
		return nil, errors.Join(p.fault("write", err), b.close())
	}
	return &Upload{Writer: out, p: p, bucket: b, out: out, cancel: cancel}, nil
}

// Commit makes the object. After an error it is not there, or is the one that
// was there before.
func (u *Upload) Commit() error {
	defer u.cancel()
	return u.p.fault("write", errors.Join(u.out.Close(), u.bucket.close()))
}

// Abort gives the object up.
func (u *Upload) Abort() {
	u.cancel() // so that Close does not make it
	_ = u.out.Close()
	_ = u.bucket.close()
}

// fault says what went wrong, and what may be the cause.
func (p place) fault(op string, err error) error {
	var missing noStores
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, fs.ErrNotExist):
		err = fs.ErrNotExist
	case !errors.As(err, &missing):
		s, _, _ := strings.Cut(p.name, ":")
		err = fmt.Errorf("the store refuses it, or is not reached: see the bucket, the options in the name, and what stands in the environment (%s): %w", credentials(s), err)
	}
	return &fs.PathError{Op: op, Path: p.name, Err: err}
}

// noStores is the error of a program without stores.
type noStores struct{}

func (noStores) Error() string {
	return "this program is built without object stores: build one with 'go install -tags cloud ./cmd/refract', or copy the file to this machine"
}

// bucket is where objects lie. An object that is not there is an fs.ErrNotExist.
type bucket interface {
	size(ctx context.Context, key string) (int64, error)
	// read reads n bytes from a place on, and all that follow where n is -1.
	read(ctx context.Context, key string, from, n int64) (io.ReadCloser, error)
	// write makes an object at Close, unless ctx is done by then.
	write(ctx context.Context, key string) (io.WriteCloser, error)
	close() error
}

// info describes an object.
type info struct {
	name string
	size int64
}

func (i info) Name() string       { return path.Base(i.name) }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return 0o444 }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }
