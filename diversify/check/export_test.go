package check

// Normalize is the form in which texts are compared.
func Normalize(text string) string { return string(appendNormalized(nil, text)) }
