package sync_test

import (
	"testing"

	"gigarank/sync"
	"gigarank/sync/transporttest"
)

func TestInProcess(t *testing.T) {
	transporttest.Test(t, sync.NewInProcess)
}

func TestInTurns(t *testing.T) {
	transporttest.Test(t, func(k int) []sync.Transport { return sync.NewInTurns(k, 1) })
}
