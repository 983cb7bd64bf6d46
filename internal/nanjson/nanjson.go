// Package nanjson writes and reads JSON in which numbers may be NaN or infinite.
package nanjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Marshal writes v, a tree of structs, slices, pointers and plain values with json tags, as
// encoding/json does (but with omitempty for structs too), except for numbers that JSON lacks: they
// become the strings "NaN", "+Inf" and "-Inf". So a statistic that went wrong neither prevents a
// model from being saved nor changes. A json.Marshaler within v, such as a time.Time, writes
// itself; v itself may be one that calls Marshal.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := encode(&b, reflect.ValueOf(v), true); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func encode(b *bytes.Buffer, v reflect.Value, root bool) error {
	if m, ok := v.Interface().(json.Marshaler); ok && !root {
		out, err := json.Marshal(m)
		b.Write(out)
		return err
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return encode(b, v.Elem(), false)
		}
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
			if err := encode(b, v.Field(i), false); err != nil {
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
			if err := encode(b, v.Index(i), false); err != nil {
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

// Unmarshal reads into *dst what Marshal wrote. Unknown keys are skipped, and missing ones leave
// zero values.
func Unmarshal(b []byte, dst any) error {
	return decode(b, reflect.ValueOf(dst).Elem(), true)
}

func decode(b []byte, v reflect.Value, root bool) error {
	if _, ok := v.Addr().Interface().(json.Unmarshaler); ok && !root {
		return json.Unmarshal(b, v.Addr().Interface())
	}
	switch v.Kind() {
	case reflect.Pointer:
		if string(b) == "null" {
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return decode(b, v.Elem(), false)
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
			if err := decode(raw, v.Field(i), false); err != nil {
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
			if err := decode(raw, s.Index(i), false); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		v.Set(s)
		return nil
	case reflect.Float64:
		if s, ok := strings.CutPrefix(string(b), `"`); ok {
			if x, err := strconv.ParseFloat(strings.TrimSuffix(s, `"`), 64); err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
				v.SetFloat(x)
				return nil
			}
		}
	}
	return json.Unmarshal(b, v.Addr().Interface())
}
