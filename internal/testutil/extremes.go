package testutil

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"
)

// Ending is a context that ends when it is looked at for the n-th time: what a test needs
// to end a computation at a place that does not depend on time.
type Ending struct {
	context.Context
	end   context.CancelFunc
	n     int64
	looks atomic.Int64
}

// EndingAfter returns a context that is over from the n-th look on.
func EndingAfter(n int) *Ending {
	e := &Ending{n: int64(n)}
	e.Context, e.end = context.WithCancel(context.Background())
	return e
}

func (e *Ending) look() {
	if e.looks.Add(1) >= e.n {
		e.end()
	}
}

// Err implements context.Context.
func (e *Ending) Err() error { e.look(); return e.Context.Err() }

// Done implements context.Context.
func (e *Ending) Done() <-chan struct{} { e.look(); return e.Context.Done() }

// Looks returns how often Err and Done were called.
func (e *Ending) Looks() int { return int(e.looks.Load()) }

// Extremes runs f with all settings of which one number, also of a struct or slice within, is
// the largest or least of its type, 2⁴⁰, NaN or infinite. Each run must end, with an error or
// without, within 1000 looks at its ctx. It fails if f panics, takes more than 1 GiB, or has
// not ended after a minute. Seeds (uint64) stay as they are.
func Extremes[T any](t *testing.T, settings T, f func(ctx context.Context, settings T) error) {
	t.Helper()
	for _, x := range numbersOf(reflect.ValueOf(&settings).Elem(), reflect.TypeFor[T]().Name(), nil) {
		old := reflect.New(x.value.Type()).Elem()
		old.Set(x.value)
		for _, v := range extremes(x.value.Type()) {
			x.value.Set(v)
			t.Run(fmt.Sprintf("%s=%v", x.name, v), func(t *testing.T) {
				ctx := EndingAfter(1000)
				defer ctx.end()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				ended := make(chan string, 1)
				s := settings
				go func() {
					defer func() {
						if v := recover(); v != nil {
							ended <- fmt.Sprintf("panic: %v\n%s", v, debug.Stack())
						}
					}()
					f(ctx, s)
					ended <- ""
				}()
				select {
				case problem := <-ended:
					if problem != "" {
						t.Fatal(problem)
					}
				case <-time.After(time.Minute):
					t.Fatalf("it has not ended, after %d looks at ctx", ctx.Looks())
				}
				runtime.ReadMemStats(&after)
				if n := after.TotalAlloc - before.TotalAlloc; n > 1<<30 {
					t.Errorf("it took %d bytes", n)
				}
			})
		}
		x.value.Set(old)
	}
}

type number struct {
	name  string
	value reflect.Value
}

// numbersOf appends the exported numbers in v and in the structs and slices within.
func numbersOf(v reflect.Value, name string, to []number) []number {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			to = numbersOf(v.Elem(), name, to)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				to = numbersOf(v.Field(i), name+"."+f.Name, to)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			to = numbersOf(v.Index(i), fmt.Sprintf("%s[%d]", name, i), to)
		}
	default:
		if v.CanSet() && extremes(v.Type()) != nil {
			to = append(to, number{name, v})
		}
	}
	return to
}

// extremes returns the values to try of a type of numbers, nil for others.
func extremes(t reflect.Type) (out []reflect.Value) {
	zero := reflect.Zero(t)
	add := func(x any) { out = append(out, reflect.ValueOf(x).Convert(t)) }
	switch {
	case t.Kind() == reflect.Uint64:
	case zero.CanInt():
		for _, x := range []int64{math.MaxInt64, math.MinInt64, 1 << 40, -1, 1 << 31} {
			if !zero.OverflowInt(x) {
				add(x)
			}
		}
	case zero.CanUint():
		add(uint64(math.MaxUint64) >> (64 - t.Bits()))
	case zero.CanFloat():
		for _, x := range []float64{math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 1 << 40, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
			if t.Bits() == 64 || !zero.OverflowFloat(x) {
				add(x)
			}
		}
	}
	return out
}

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
