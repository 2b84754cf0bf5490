package check

// Normalize returns the form in which texts are compared.
func Normalize(text string) string { return normalize(text) }

// Clean cleans an answer.
func (c *Checker) Clean(raw, reference string) (string, []string) {
	return c.clean(raw, newOriginal(reference), false)
}
