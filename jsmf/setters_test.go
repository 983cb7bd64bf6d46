package jsmf

import (
	"reflect"
	"testing"

	"github.com/jsmf-go/spectral/anchor"
	recovery "github.com/jsmf-go/spectral/recover"
	"github.com/jsmf-go/spectral/recover/anchorfree"
	"github.com/jsmf-go/spectral/recover/refine"
	"github.com/jsmf-go/spectral/rectify"
)

// The order in which settings are made does not matter.
func TestSettersCommute(t *testing.T) {
	m, err := tinyParts().model()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{
		"AnchorFree": anchorfree.PDS{}, "Anchors": anchor.SPA{}, "Extra": 4, "From": m, "K": 9, "MemoryLimit": int64(1 << 30), "Record": func(Event) {},
		"Recover": recovery.L2(), "Rectify": rectify.None{}, "Refine": refine.Passes{N: 3}, "Seed": uint64(7), "Seeds": []Seed{{Words: []string{"sea"}}}, "Words": 100, "Workers": 3,
	}
	var setters []string
	typ := reflect.TypeFor[Pipeline]()
	for i := range typ.NumMethod() {
		if f := typ.Method(i); f.Type.NumOut() == 1 && f.Type.Out(0) == typ {
			setters = append(setters, f.Name)
			if values[f.Name] == nil {
				t.Fatalf("no value for the setter %s", f.Name)
			}
		}
	}
	set := func(p Pipeline, name string) Pipeline {
		f, x := reflect.ValueOf(p).MethodByName(name), []reflect.Value{reflect.ValueOf(values[name])}
		if f.Type().IsVariadic() {
			return f.CallSlice(x)[0].Interface().(Pipeline)
		}
		return f.Call(x)[0].Interface().(Pipeline)
	}
	for start, p := range map[string]Pipeline{"New": New(5), "Published": Published(5)} {
		for i, a := range setters {
			for _, b := range setters[:i] {
				t.Run(start+"/"+a+" and "+b, func(t *testing.T) {
					x, y := set(set(p, a), b), set(set(p, b), a)
					if len(x.recorders) != len(y.recorders) {
						t.Errorf("%d recorders, or %d", len(x.recorders), len(y.recorders))
					}
					x.recorders, y.recorders = nil, nil
					if !reflect.DeepEqual(x, y) {
						t.Errorf("%s and then %s gives\n%+v\nand the other way round\n%+v", a, b, x, y)
					}
					if n, m := x.startTopics(1000, 1e6), y.startTopics(1000, 1e6); n != m {
						t.Errorf("%d topics of the start, or %d", n, m)
					}
				})
			}
		}
	}
}
