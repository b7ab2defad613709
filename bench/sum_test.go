package bench

import (
	"fmt"
	"strings"
	"testing"
)

// A wrong element of a sum is found wherever it is, and named.
func TestCheckSum(t *testing.T) {
	const size, iteration = 21, 3
	for length := range 20 {
		sum := make([]float64, length)
		for j := range sum {
			for rank := range size {
				sum[j] += float64((rank + j + iteration) & 7)
			}
		}
		if err := checkSum(sum, size, iteration); err != nil {
			t.Errorf("%d elements: %v", length, err)
		}
		for j := range sum {
			sum[j]++
			if err := checkSum(sum, size, iteration); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("element %d of the sum of iteration %d is %v", j, iteration, sum[j])) {
				t.Errorf("%d elements, number %d wrong: %v", length, j, err)
			}
			sum[j]--
		}
	}
}
