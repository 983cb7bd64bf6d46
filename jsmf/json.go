package jsmf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// encodeJSON writes v, a tree of structs, slices and plain values with json
// tags, as encoding/json does (but with omitempty for structs too), except for
// numbers that JSON lacks: they become the strings "NaN", "+Inf" and "-Inf". So a
// statistic that went wrong neither prevents a model from being saved nor changes.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := appendJSON(&b, reflect.ValueOf(v)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func appendJSON(b *bytes.Buffer, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Struct:
		b.WriteByte('{')
		first := true
		for i := range v.NumField() {
			name, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if name == "-" || option == "omitempty" && v.Field(i).IsZero() {
				continue
			}
			if !first {
				b.WriteByte(',')
			}
			first = false
			b.WriteString(strconv.Quote(name) + ":")
			if err := appendJSON(b, v.Field(i)); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	case reflect.Slice:
		if v.IsNil() {
			b.WriteString("null")
			return nil
		}
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := appendJSON(b, v.Index(i)); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	case reflect.Float64:
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			b.WriteString(strconv.Quote(strconv.FormatFloat(x, 'g', -1, 64)))
			return nil
		}
	}
	out, err := json.Marshal(v.Interface())
	b.Write(out)
	return err
}

// decodeJSON reads into *dst what encodeJSON wrote. Unknown keys are skipped, and
// missing ones leave zero values.
func decodeJSON(b []byte, dst any) error {
	return fromJSON(b, reflect.ValueOf(dst).Elem())
}

func fromJSON(b []byte, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Struct:
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(b, &fields); err != nil {
			return err
		}
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			raw, ok := fields[name]
			if name == "-" || !ok {
				continue
			}
			if err := fromJSON(raw, v.Field(i)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	case reflect.Slice:
		var items []json.RawMessage
		if err := json.Unmarshal(b, &items); err != nil {
			return err
		}
		if items == nil {
			return nil
		}
		s := reflect.MakeSlice(v.Type(), len(items), len(items))
		for i, raw := range items {
			if err := fromJSON(raw, s.Index(i)); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		v.Set(s)
		return nil
	case reflect.Float64:
		switch string(b) {
		case `"NaN"`:
			v.SetFloat(math.NaN())
			return nil
		case `"+Inf"`:
			v.SetFloat(math.Inf(1))
			return nil
		case `"-Inf"`:
			v.SetFloat(math.Inf(-1))
			return nil
		}
	}
	return json.Unmarshal(b, v.Addr().Interface())
}
