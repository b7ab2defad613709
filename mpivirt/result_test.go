package mpivirt

import (
	"encoding/json"
	"reflect"
	"testing"

	"gigarank/mpivirt/internal/kernel"
)

// fill gives all fields of a value numbers of their own, one element to each slice.
func fill(v reflect.Value, next *uint64) {
	*next++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), next)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), next)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), next)
	case reflect.String:
		v.SetString(string(rune('a' + *next%26)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(*next))
	default:
		if v.CanInt() {
			v.SetInt(int64(*next))
		} else {
			v.SetUint(*next % 6) // an activity has a name
		}
	}
}

// A result has all that the kernel's has, under the same names.
func TestResultHasAllFieldsOfTheKernels(t *testing.T) {
	var k kernel.Result
	next := uint64(0)
	fill(reflect.ValueOf(&k).Elem(), &next)
	got := resultOf(&k)
	activity := k.Activities[0].Activity.String()
	k.Activities[0].Activity = 0
	if got.Activities[0].Activity != Activity(activity) {
		t.Errorf("activity %q, want %q", got.Activities[0].Activity, activity)
	}
	fields := func(v any) (all map[string]any) {
		text, err := json.Marshal(v)
		if err == nil {
			err = json.Unmarshal(text, &all)
		}
		if err != nil {
			t.Fatal(err)
		}
		delete(all["Activities"].([]any)[0].(map[string]any), "Activity")
		return all
	}
	if got, want := fields(got), fields(&k); !reflect.DeepEqual(got, want) {
		t.Errorf("the result is %v, want %v", got, want)
	}
	if resultOf(nil) != nil {
		t.Error("there is a result of none")
	}
}
