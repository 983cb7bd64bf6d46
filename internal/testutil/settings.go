package testutil

import (
	"math"
	"reflect"
)

// BadSettings yields copies of settings in which one number, also of a struct within, is
// NaN or, if it is whole, -1, with the name of the number: what Validate is to refuse.
// Seeds (uint64) stay as they are.
func BadSettings(settings any, yield func(name string, bad any)) {
	s := reflect.New(reflect.TypeOf(settings)).Elem()
	s.Set(reflect.ValueOf(settings))
	for _, x := range numbersOf(s, s.Type().Name(), nil) {
		old := reflect.New(x.value.Type()).Elem()
		old.Set(x.value)
		switch {
		case x.value.CanFloat():
			x.value.SetFloat(math.NaN())
		case x.value.CanInt():
			x.value.SetInt(-1)
		default:
			continue
		}
		bad := reflect.New(s.Type()).Elem()
		bad.Set(s)
		yield(x.name, bad.Interface())
		x.value.Set(old)
	}
}
