package acceptance

import (
	"slices"
	"strings"

	"github.com/refract-eval/refract/diversify/check"
)

// Count is what became of items.
type Count struct {
	Items    int
	Usable   int
	Kept     int // usable, and came out right
	Lost     int // usable, and rejected
	Wrong    int // accepted, and not what should come out
	Rejected int // not usable, and rejected
}

// Add is the sum of two counts.
func (c Count) Add(d Count) Count {
	c.Items += d.Items
	c.Usable += d.Usable
	c.Kept += d.Kept
	c.Lost += d.Lost
	c.Wrong += d.Wrong
	c.Rejected += d.Rejected
	return c
}

// Family is the Count of a family.
type Family struct {
	Name string
	Count
}

// Table is the confusion by family, in the order of the items.
type Table []Family

// Failure is an item that was not treated right.
type Failure struct {
	Item   Item
	Result check.Result
}

// Right reports whether a text is what should come out, but for white space at
// its ends.
func (i Item) Right(text string) bool {
	same := func(want string) bool { return strings.TrimSpace(want) == strings.TrimSpace(text) }
	return same(i.Want) || slices.ContainsFunc(i.Also, same)
}

// Measure asks judge about every item. A text is right that differs from what
// should come out in white space at its ends only.
func Measure(items []Item, judge func(Item) check.Result) (Table, []Failure) {
	var table Table
	var failures []Failure
	for _, item := range items {
		r := judge(item)
		one := Count{Items: 1}
		if item.Usable {
			one.Usable = 1
		}
		switch accepted := r.Verdict == check.Accepted; {
		case accepted && item.Usable && item.Right(r.Text):
			one.Kept = 1
		case accepted:
			one.Wrong = 1
		case item.Usable:
			one.Lost = 1
		default:
			one.Rejected = 1
		}
		if one.Wrong+one.Lost > 0 {
			failures = append(failures, Failure{item, r})
		}
		i := slices.IndexFunc(table, func(f Family) bool { return f.Name == item.Family })
		if i < 0 {
			i, table = len(table), append(table, Family{Name: item.Family})
		}
		table[i].Count = table[i].Add(one)
	}
	return table, failures
}

// Total is the sum of all families.
func (t Table) Total() Count {
	var sum Count
	for _, f := range t {
		sum = sum.Add(f.Count)
	}
	return sum
}

// WrongShare is the share of wrong ones among accepted items, 0 where none is
// accepted.
func (c Count) WrongShare() float64 { return share(c.Wrong, c.Kept+c.Wrong) }

// LostShare is the share of usable items that were rejected.
func (c Count) LostShare() float64 { return share(c.Lost, c.Usable) }

func share(n, of int) float64 { return float64(n) / float64(max(1, of)) }

// Of is the Count of a family.
func (t Table) Of(family string) Count {
	for _, f := range t {
		if f.Name == family {
			return f.Count
		}
	}
	return Count{}
}
