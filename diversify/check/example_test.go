package check_test

import (
	"fmt"
	"strings"

	"github.com/refract-eval/refract/diversify/check"
)

func Example() {
	c, err := check.New(check.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := c.Segment("", []string{"The ferry left the harbour at 9 o'clock."})
	for _, raw := range []string{
		"1. At 9 o'clock the ferry left the harbour.",
		`"At nine o'clock, the ferry left the harbour."`,
		"At 9 o'clock, the ferry left the harbour!",
		"The ferry departed from the harbour at 8 o'clock.",
		"It was at 9 o'clock that the ferry",
		"The tense of the sentence has been changed.",
	} {
		r := s.Judge(check.Answer{Raw: raw, HasText: true, Finish: "stop"})
		fmt.Println(r.Text, r.Cleaned)
		fmt.Println(strings.TrimRight("  "+r.Verdict+" "+r.Detail, " "))
	}
	// Output:
	// At 9 o'clock the ferry left the harbour. [list]
	//   accepted
	// At nine o'clock, the ferry left the harbour. [quotes]
	//   accepted
	// At 9 o'clock, the ferry left the harbour! []
	//   duplicate but for case, punctuation and white space the same as accepted answer 1
	// The ferry departed from the harbour at 8 o'clock. []
	//   numbers "8" instead of the reference's "9"
	// It was at 9 o'clock that the ferry []
	//   cut it ends in "ferry" without a full stop, and the reference has one
	// The tense of the sentence has been changed. []
	//   numbers the reference's "9" is missing
}
