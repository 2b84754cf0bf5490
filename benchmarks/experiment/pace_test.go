package experiment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPace(t *testing.T) {
	begun := time.Now()
	p := &pace{begun: begun, total: 1000}
	require.Zero(t, p.add(10, begun.Add(4*time.Second)), "too soon to tell")
	require.Equal(t, 294*time.Second, p.add(10, begun.Add(6*time.Second)))
	require.Zero(t, p.add(10, begun.Add(7*time.Second)), "it is said once")
	quick := &pace{begun: begun, total: 1000}
	require.Zero(t, quick.add(900, begun.Add(time.Minute)))
}
