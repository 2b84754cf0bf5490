package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/refract-eval/refract/internal/filelock"
)

// Kinds of errors that have to do with the journal.
var (
	// ErrLocked: another process uses the journal.
	ErrLocked = errors.New("journal in use")
	// ErrForeign: the journal belongs to another server, endpoint or model.
	ErrForeign = errors.New("journal of another job")
	// ErrDamaged: the file is no journal, or not one of this version.
	ErrDamaged = errors.New("damaged journal")
)

// journal is the file that tells the next run what this one did. It is only
// appended to, one JSON object a line, and a last line without a line break is
// one that was never written. So each event is written whole or not at all.
type journal struct {
	path    string
	f       *os.File
	head    header
	batches []*batch
	dirty   bool // a batch since the last finished run
	written func(line []byte, done bool)
}

// journalVersion is the version of the format.
const journalVersion = 1

// header is the first line.
type header struct {
	Version int    `json:"refract_batch_journal"`
	Server  string `json:"server"`
	URL     string `json:"url"`
	Model   string `json:"model"`
}

// batch is a batch as the journal's events tell of it.
type batch struct {
	nonce string
	rows  []string
	file  string // of the input; "" before the upload
	id    string // "" before the server's answer
	// unsure: the batch may have been created although it has no id. tried is
	// when that was.
	unsure         bool
	tried          time.Time
	status         string // the last one; "" before
	output, errors string
	// released: rows without an answer were given up and may be submitted
	// again, which does not count as a failure of theirs.
	released bool
	past     bool // of an earlier run that came to its end

	wanted int // rows of this run's items
}

// pending: uploaded, and not known to be created.
func (b *batch) pending() bool { return b.file != "" && b.id == "" }

// open: created, and not known to have ended.
func (b *batch) open() bool { return b.id != "" && b.status == "" }

// The events of a batch, in the order in which they come.
const (
	eventIntent   = "intent"   // rows are about to be submitted
	eventUploaded = "uploaded" // their file is at the server
	eventDropped  = "dropped"  // the batch was not created, and will not be
	eventCreated  = "created"
	eventEnded    = "ended"
	eventReleased = "released"
	eventFinished = "finished" // all rows of a run had their results
)

// event is a line after the first.
type event struct {
	Event  string     `json:"event"`
	Nonce  string     `json:"batch,omitempty"`
	Rows   []string   `json:"rows,omitempty"`
	File   string     `json:"file,omitempty"`
	Time   *time.Time `json:"time,omitempty"`
	ID     string     `json:"id,omitempty"`
	Status string     `json:"status,omitempty"`
	Output string     `json:"output,omitempty"`
	Errors string     `json:"errors,omitempty"`
}

// openJournal locks and reads a journal; a missing file is made.
func openJournal(path string) (*journal, error) {
	f, err := lockedFile(path)
	if err != nil {
		return nil, err
	}
	j := &journal{path: path, f: f, written: func([]byte, bool) {}}
	if err := j.load(); err != nil {
		j.close()
		return nil, err
	}
	return j, nil
}

// lockedFile opens a file that no other process can lock then. A journal that
// is removed between its opening and its locking is made anew.
func lockedFile(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, fmt.Errorf("open the batch journal: %w", err)
		}
		free, err := filelock.Try(f)
		if err == nil && !free {
			err = ErrLocked
		}
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			_ = f.Close()
			return nil, fmt.Errorf("batch journal %s: %w: wait for the other process to end, or name another journal", path, err)
		}
		here, err := f.Stat()
		if err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("open the batch journal: %w", err)
		}
		if there, err := os.Stat(path); err == nil && os.SameFile(here, there) {
			return f, nil
		}
		_ = f.Close()
	}
}

func (j *journal) close() { _ = j.f.Close() }

// Remove removes a journal, for which the results of its rows should be
// stored. A missing file is no error; one in use gives ErrLocked.
func Remove(path string) error {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	f, err := lockedFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove the batch journal: %w", err)
	}
	return nil
}

// load reads all events, and cuts a last line off that is not whole.
func (j *journal) load() error {
	all, err := io.ReadAll(j.f)
	if err != nil {
		return fmt.Errorf("read the batch journal: %w", err)
	}
	all = all[:bytes.LastIndexByte(all, '\n')+1]
	n := 0
	for line := range bytes.Lines(all) {
		if n++; n == 1 {
			if err = json.Unmarshal(line, &j.head); err == nil && j.head.Version != journalVersion {
				err = fmt.Errorf("it is no batch journal of version %d", journalVersion)
			}
		} else {
			err = j.readEvent(line)
		}
		if err != nil {
			return fmt.Errorf("%w: %s, line %d: %w; name another journal, or remove this one and pay anew for what it holds", ErrDamaged, j.path, n, err)
		}
	}
	if err := j.f.Truncate(int64(len(all))); err != nil {
		return fmt.Errorf("cut the batch journal's last line, which is not whole: %w", err)
	}
	if _, err := j.f.Seek(0, io.SeekEnd); err != nil {
		return fmt.Errorf("read the batch journal: %w", err)
	}
	// Without an upload nothing was created.
	j.batches = slices.DeleteFunc(j.batches, func(b *batch) bool { return b.file == "" })
	for _, b := range j.batches {
		b.unsure = b.pending()
		b.released = b.released || b.status == "failed"
	}
	return nil
}

func (j *journal) readEvent(line []byte) error {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	var b *batch
	if at := slices.IndexFunc(j.batches, func(b *batch) bool { return b.nonce == e.Nonce }); at >= 0 {
		b = j.batches[at]
	}
	switch {
	case e.Event == eventIntent && b == nil && e.Nonce != "":
		b = &batch{nonce: e.Nonce, rows: e.Rows}
	case e.Event != eventFinished && (b == nil || e.Event == eventIntent):
		return fmt.Errorf("the event %q of batch %q is out of order", e.Event, e.Nonce)
	}
	return j.apply(b, e)
}

// apply changes what is known of a batch as an event says.
func (j *journal) apply(b *batch, e event) error {
	empty := false
	switch e.Event {
	case eventIntent:
		j.batches = append(j.batches, b)
	case eventUploaded:
		b.file, empty = e.File, e.File == ""
		if e.Time != nil {
			b.tried = *e.Time
		}
	case eventDropped:
		j.batches = slices.DeleteFunc(j.batches, func(o *batch) bool { return o == b })
	case eventCreated:
		b.id, empty = e.ID, e.ID == ""
		b.unsure, j.dirty = false, true
	case eventEnded:
		b.status, empty = e.Status, e.Status == ""
		b.output, b.errors = e.Output, e.Errors
	case eventReleased:
		b.released = true
	case eventFinished:
		j.dirty = false
		for _, b := range j.batches {
			b.past = true
		}
	default:
		return fmt.Errorf("unknown event %q", e.Event)
	}
	if empty {
		return fmt.Errorf("the event %q lacks what it tells", e.Event)
	}
	return nil
}

// belong writes whose journal it is, or compares.
func (j *journal) belong(want header) error {
	want.Version = journalVersion
	if j.head.Version == 0 {
		if err := j.write(want); err != nil {
			return err
		}
		j.head = want
		return nil
	}
	if j.head != want {
		return fmt.Errorf("%w: %s is of server %q, %s and model %q, this run of server %q, %s and model %q; name another journal",
			ErrForeign, j.path, j.head.Server, j.head.URL, j.head.Model, want.Server, want.URL, want.Model)
	}
	return nil
}

// write appends a line. After an error the journal must not be written to.
func (j *journal) write(v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		line = append(line, '\n')
		j.written(line, false)
		if _, err = j.f.Write(line); err == nil {
			j.written(line, true)
			return nil
		}
	}
	return fmt.Errorf("write the batch journal %s: %w; nothing is lost: make room and run again", j.path, err)
}

// note writes what happened to a batch, and applies it. The rows of a batch are
// written once.
func (j *journal) note(b *batch, e event) error {
	e.Nonce = b.nonce
	if e.Event == eventIntent {
		e.Rows = b.rows
	}
	if err := j.write(e); err != nil {
		return err
	}
	return j.apply(b, e)
}

// uploaded notes the file of a batch. From then on the batch can be found, also
// after the machine went down.
func (j *journal) uploaded(b *batch, file string) error {
	at := time.Now().UTC().Round(time.Second)
	if err := j.note(b, event{Event: eventUploaded, File: file, Time: &at}); err != nil {
		return err
	}
	if err := j.f.Sync(); err != nil {
		return fmt.Errorf("write the batch journal %s: %w", j.path, err)
	}
	return nil
}

// finish notes that a run came to its end, where it created a batch.
func (j *journal) finish() error {
	if !j.dirty {
		return nil
	}
	j.dirty = false
	return j.write(event{Event: eventFinished})
}
