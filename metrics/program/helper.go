package program

import _ "embed" // of the helper

// Helper is refract_metric.py, with which a metric in Python answers requests.
//
//go:embed refract_metric.py
var Helper []byte
