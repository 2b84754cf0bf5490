package refract

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/refract-eval/refract/metrics"
)

// ScoreStore keeps values by key, such as cache.Scores. It is safe for
// concurrent use.
type ScoreStore interface {
	// Get returns the value of each key, nil if there is none.
	Get(ctx context.Context, keys [][32]byte) ([][]byte, error)
	// Put stores a value under each key, replacing any old one.
	Put(ctx context.Context, keys [][32]byte, values [][]byte) error
}

// scoreCache gets the needed scores of one metric. If there is a store, it keeps the scores
// there, so that the metric computes only misses. A stored value holds the scores of one
// hypothesis (with its source, if the metric needs one) against any number of references.
type scoreCache struct {
	store  ScoreStore // may be nil
	prefix []byte     // identifies the metric in the hash of every key
	damage func()     // warns of a damaged value
	merge  sync.Mutex // held while a batch reads, merges and writes values
}

func newScoreCache(store ScoreStore, damage func(), m metrics.Metric) *scoreCache {
	info := m.Info()
	prefix := fmt.Sprintf("refract scores 1\n%s\n%s\n%v\n", info.Name, m.Signature(metrics.Sentence), info.NeedsReferences)
	return &scoreCache{store: store, prefix: []byte(prefix), damage: damage}
}

// key returns the key of a hypothesis. source is "" if the metric needs none.
func (k *scoreCache) key(buf []byte, source, hypothesis string) ([32]byte, []byte) {
	buf = append(buf[:0], k.prefix...)
	for _, text := range []string{source, hypothesis} {
		buf = binary.AppendUvarint(buf, uint64(len(text)))
		buf = append(buf, text...)
	}
	return sha256.Sum256(buf), buf
}

// cachedBlock is a block with what is known of its scores.
type cachedBlock struct {
	block  metrics.Block
	refs   []textHash // one per column
	at     int        // index of its first hypothesis in the keys
	scores metrics.Scores
	known  []bool
	fresh  [][]keptCell // by hypothesis
	stored int          // number of scores found in the store
	list   textHash     // hash of all references
	native metrics.Scores
	have   []bool // whether a hypothesis has its native score
	lacks  bool   // some scores are missing because the metric failed
}

// score scores blocks: it reads stored scores, gets the others from the metric and stores
// them. Together with an error it returns the blocks if some of them have scores.
func (k *scoreCache) score(ctx context.Context, d *metricNeeds, blocks []metrics.Block) ([]cachedBlock, error) {
	all := make([]cachedBlock, len(blocks))
	var keys [][32]byte
	var buf []byte
	for i, b := range blocks {
		n := len(b.Hypotheses) * b.Columns()
		x := &all[i]
		*x = cachedBlock{block: b, at: len(keys), refs: make([]textHash, b.Columns()), known: make([]bool, n),
			scores: newScores(n), native: newScores(len(b.Hypotheses))}
		if d.native {
			x.have = make([]bool, len(b.Hypotheses))
		}
		if k.store == nil {
			continue
		}
		x.fresh = make([][]keptCell, len(b.Hypotheses))
		for c, ref := range b.References {
			x.refs[c], buf = hashOf(buf, 'r', ref)
		}
		var joined []byte
		for _, h := range x.refs {
			joined = append(joined, h[:]...)
		}
		x.list, buf = hashOf(buf, 'l', joined)
		for _, hyp := range b.Hypotheses {
			var key [32]byte
			key, buf = k.key(buf, b.Source, hyp)
			keys = append(keys, key)
		}
	}
	if k.store != nil {
		values, err := k.store.Get(ctx, keys)
		if err != nil {
			return nil, fmt.Errorf("the store of scores: %w", err)
		}
		for i := range all {
			for h := range all[i].block.Hypotheses {
				k.take(&all[i], h, values[all[i].at+h])
			}
		}
	}
	partly, err := d.askFor(ctx, all)
	if err != nil && !partly {
		return nil, err
	}
	if n, ok := d.metric.(metrics.NativeScorer); ok && d.native && !partly {
		if err := askNative(ctx, n, all); err != nil {
			return nil, err
		}
	}
	if no := k.put(context.WithoutCancel(ctx), all, keys); no != nil { // what was scored is kept, even if the run has ended
		return nil, errors.Join(err, fmt.Errorf("the store of scores: %w", no))
	}
	return all, err
}

// take reads the row of a hypothesis from a stored value.
func (k *scoreCache) take(x *cachedBlock, h int, value []byte) {
	if value == nil {
		return
	}
	cells, reports, ok := cellsIn(value)
	if !ok {
		k.damage()
		return
	}
	raw := reportsOf(cells, reports)
	read := func(s *metrics.Scores, at int, of textHash) bool {
		i := find(cells, of)
		if i < 0 {
			return false
		}
		cell := keptCell{of: of}
		if cell.status, cell.value, _ = cellAt(cells, i); raw != nil {
			cell.report = raw[i]
		}
		return cell.put(s, at)
	}
	for c, ref := range x.refs {
		at := h*len(x.refs) + c
		if x.known[at] = read(&x.scores, at, ref); x.known[at] && x.scores.Status[at] == metrics.Scored {
			x.stored++
		}
	}
	if x.have != nil {
		x.have[h] = read(&x.native, h, x.list)
	}
}

func newScores(n int) metrics.Scores {
	return metrics.Scores{Values: make([]float64, n), Status: make([]metrics.Status, n)}
}

// request is a part of a block for the metric to score: some hypotheses against the
// same references.
type request struct {
	of         *cachedBlock
	block      int
	hyps, cols []int
}

// missing returns requests for the scores that a block lacks in its first columns.
func (x *cachedBlock) missing(block, first int) []request {
	var out []request
	columns := len(x.refs)
	for h := range x.block.Hypotheses {
		var cols []int
		for c := range min(columns, first) {
			if !x.known[h*columns+c] {
				cols = append(cols, c)
			}
		}
		if len(cols) == 0 {
			continue
		}
		i := slices.IndexFunc(out, func(p request) bool { return slices.Equal(p.cols, cols) })
		if i < 0 {
			i = len(out)
			out = append(out, request{of: x, block: block, cols: cols})
		}
		out[i].hyps = append(out[i].hyps, h)
	}
	return out
}

func (p *request) texts() metrics.Block {
	b := metrics.Block{Source: p.of.block.Source}
	for _, h := range p.hyps {
		b.Hypotheses = append(b.Hypotheses, p.of.block.Hypotheses[h])
	}
	for _, c := range p.cols {
		if len(p.of.block.References) > 0 {
			b.References = append(b.References, p.of.block.References[c])
		}
	}
	return b
}

// askFor gets the missing scores from the metric. partly reports that an error concerns
// only some of the blocks.
func (d *metricNeeds) askFor(ctx context.Context, all []cachedBlock) (partly bool, err error) {
	if p, ok := d.metric.(metrics.Preparer); ok {
		return false, prepare(ctx, p.NewWorkspace(), all)
	}
	var todo []request
	var blocks []metrics.Block
	first := 1
	switch {
	case d.all:
		first = math.MaxInt
	case d.native && !d.first:
		first = 0
	}
	for i := range all {
		x := &all[i]
		for at := range x.known {
			if !x.known[at] && at%len(x.refs) >= first {
				x.scores.Status[at] = metrics.Unneeded
			}
		}
		for _, p := range x.missing(i, first) {
			todo, blocks = append(todo, p), append(blocks, p.texts())
		}
	}
	if len(blocks) == 0 {
		return false, nil
	}
	scores, err := d.metric.Score(ctx, blocks)
	if at := (*metrics.CellError)(nil); errors.As(err, &at) {
		p := todo[at.Block]
		return false, &metrics.CellError{Block: p.block, Hypothesis: p.hyps[at.Hypothesis], Column: p.cols[min(at.Column, len(p.cols)-1)], Err: at.Err}
	}
	part := (*metrics.BlocksError)(nil)
	if partly = errors.As(err, &part); partly {
		scores, err = part.Scores, part.Err
	} else if err != nil {
		return false, err
	}
	if len(scores) != len(blocks) {
		return false, fmt.Errorf("%d matrices for %d blocks", len(scores), len(blocks))
	}
	for i := range todo {
		if partly && scores[i].Values == nil {
			todo[i].of.lacks = true
		} else if err := todo[i].fill(scores[i]); err != nil {
			return false, err
		}
	}
	return partly, err
}

// prepare scores completely every block that lacks a score.
func prepare(ctx context.Context, w metrics.Workspace, all []cachedBlock) error {
	for i := range all {
		x := &all[i]
		if !slices.Contains(x.known, false) && !slices.Contains(x.have, false) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		w.Load(x.block)
		clear(x.known)
		for _, p := range x.missing(i, math.MaxInt) {
			if err := p.fill(metrics.Scores{Values: w.Cells(nil)}); err != nil {
				return err
			}
		}
		if x.have != nil {
			if err := x.fillNative(metrics.Scores{Values: w.(metrics.NativeWorkspace).Native(nil)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// askNative gets the native scores of the blocks that lack some.
func askNative(ctx context.Context, m metrics.NativeScorer, all []cachedBlock) error {
	var todo []*cachedBlock
	var blocks []metrics.Block
	for i := range all {
		if x := &all[i]; slices.Contains(x.have, false) {
			todo, blocks = append(todo, x), append(blocks, x.block)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	scores, err := m.ScoreNative(ctx, blocks)
	if err == nil && len(scores) != len(blocks) {
		err = fmt.Errorf("%d lists of native scores for %d blocks", len(scores), len(blocks))
	}
	for i := 0; err == nil && i < len(todo); i++ {
		err = todo[i].fillNative(scores[i])
	}
	return err
}

// fillNative stores the native scores in their block.
func (x *cachedBlock) fillNative(s metrics.Scores) error {
	if n := len(x.have); len(s.Values) != n || s.Status != nil && len(s.Status) != n {
		return fmt.Errorf("%d native scores for %d hypotheses", len(s.Values), n)
	}
	for h, v := range s.Values {
		cell := keptCell{of: x.list, value: v}
		if s.Status != nil {
			cell.status = s.Status[h]
		}
		x.native.Values[h], x.native.Status[h] = v, cell.status
		if x.fresh != nil && cell.keeps() {
			x.fresh[h] = append(x.fresh[h], cell)
		}
	}
	return nil
}

// fill stores the scores of a request in its block.
func (p *request) fill(s metrics.Scores) error {
	n := len(p.hyps) * len(p.cols)
	if len(s.Values) != n || s.Status != nil && len(s.Status) != n || s.Reports != nil && len(s.Reports) != n {
		return fmt.Errorf("%d values, %d statuses and %d reports for %d cells", len(s.Values), len(s.Status), len(s.Reports), n)
	}
	x := p.of
	for i, h := range p.hyps {
		for j, c := range p.cols {
			from, at := i*len(p.cols)+j, h*len(x.refs)+c
			cell := keptCell{of: x.refs[c], value: s.Values[from]}
			if s.Status != nil {
				cell.status = s.Status[from]
			}
			x.scores.Values[at], x.scores.Status[at] = cell.value, cell.status
			if s.Reports != nil && s.Reports[from] != nil {
				setReport(&x.scores, at, s.Reports[from])
			}
			if x.fresh == nil {
				continue
			}
			if s.Reports != nil && s.Reports[from] != nil {
				var err error
				if cell.report, err = json.Marshal(s.Reports[from]); err != nil {
					return err
				}
			}
			if cell.keeps() {
				x.fresh[h] = append(x.fresh[h], cell)
			}
		}
	}
	return nil
}

// put adds the new scores to what the store has by now.
func (k *scoreCache) put(ctx context.Context, all []cachedBlock, keys [][32]byte) error {
	fresh := map[[32]byte][]keptCell{}
	for i := range all {
		for h, cells := range all[i].fresh {
			if key := keys[all[i].at+h]; len(cells) > 0 {
				fresh[key] = append(fresh[key], cells...)
			}
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	changed := make([][32]byte, 0, len(fresh))
	for key := range fresh {
		changed = append(changed, key)
	}
	slices.SortFunc(changed, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
	k.merge.Lock()
	defer k.merge.Unlock()
	values, err := k.store.Get(ctx, changed)
	if err != nil {
		return err
	}
	for i, key := range changed {
		values[i] = merged(values[i], fresh[key])
	}
	return k.store.Put(ctx, changed, values)
}
