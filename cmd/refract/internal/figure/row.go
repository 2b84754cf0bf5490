package figure

// Sizes and distances in a chart, in points.
const (
	headSize   = 12.0 // of the letters of titles and axes
	tickSize   = 10.0 // of all others
	middle     = 0.35 // of letters above their base line, as a share of their size
	rowHeight  = 12.0 // of a list of names
	dotsPitch  = 18.0 // between the rows of dots
	tickLength = 8.0
	hair       = 0.5 // the width of axes
	apart      = 5.0 // between an axis and the data
	nameGap    = 3 * millimetre
	edge       = 2 * millimetre
	between    = 3 * millimetre
)

// row is charts of one size side by side, each with room for the names of its lines on the
// right.
type row struct {
	width, height float64
	frames        []*frame
}

// frame is the place of a chart in the picture.
type frame struct {
	*chart
	ticks                    [2][]tick // of x and y
	side, labels             float64   // where the labels of the Y axis begin and end
	left, right, top, bottom float64   // of the data
}

func newRow(charts []*chart) *row {
	r := &row{}
	width := func(s string) float64 { return min(textWidth(s, tickSize), panelWidth) }
	top, foot, names, labels := edge, edge+apart+tickLength+rowHeight, 0.0, 0.0
	for _, c := range charts {
		f := &frame{chart: c, ticks: [2][]tick{c.x.fit(), c.y.fit()}}
		rows := 0
		for _, k := range f.ticks[1] {
			f.labels = max(f.labels, width(k.label))
			labels = max(labels, f.labels)
		}
		if c.y.bare {
			rows = len(f.ticks[1])
		}
		for _, l := range c.layers {
			if l.width > 0 && l.name != "" {
				names = max(names, 4*nameGap+width(l.name))
				rows++
			}
		}
		if c.title != "" {
			top = 2*edge + headSize*1.15
		}
		if c.x.label != "" {
			foot = edge + apart + tickLength + rowHeight + headSize*1.25
		}
		if c.pitch > 0 {
			r.height = max(r.height, aroundPlot+c.pitch*float64(rows))
		} else {
			r.height = max(r.height, panelHeight, aroundPlot+rowHeight*float64(rows))
		}
		r.frames = append(r.frames, f)
	}
	each := panelWidth + max(0, names-namesRoom) + max(0, labels-namesRoom)
	r.width = each * float64(len(charts))
	for i, f := range r.frames {
		if f.side = edge + float64(i)*each; f.y.label != "" {
			f.side += headSize * 1.4
		}
		f.labels += f.side
		if f.left = f.labels + tickSize/3 + apart; !f.y.bare {
			f.left += tickLength
		}
		f.right = float64(i+1)*each - 2*edge - names
		f.top, f.bottom = top, r.height-foot
	}
	return r
}

func (f *frame) across(v float64) float64 { return f.left + f.x.share(v)*(f.right-f.left) }
func (f *frame) up(v float64) float64     { return f.bottom - f.y.share(v)*(f.bottom-f.top) }

func (f *frame) places(data []spot) []spot {
	out := make([]spot, len(data))
	for i, p := range data {
		out[i] = spot{f.across(p.X), f.up(p.Y)}
	}
	return out
}
