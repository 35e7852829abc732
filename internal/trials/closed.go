package trials

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
)

// Closed calls all methods of a value that was closed, except some. Those that return an error, or
// a sequence with errors, must return want. None may panic, as it would by reading unmapped memory.
func Closed(t *testing.T, value any, want error, except ...string) {
	t.Helper()
	v, checked := reflect.ValueOf(value), 0
	for i := range v.NumMethod() {
		name := v.Type().Method(i).Name
		if slices.Contains(except, name) {
			continue
		}
		err, returns := callAny(t.Context(), v.Method(i))
		if returns {
			checked++
		}
		if returns && !errors.Is(err, want) || !returns && err != nil {
			t.Errorf("%T.%s after it was closed: error %v, want %v", value, name, err, want)
		}
	}
	if checked == 0 {
		t.Errorf("%T has no method that returns errors", value)
	}
}

// callAny calls a method with some arguments, and says whether it returns errors.
func callAny(ctx context.Context, method reflect.Value) (err error, returns bool) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	in := make([]reflect.Value, method.Type().NumIn())
	for i := range in {
		of := method.Type().In(i)
		switch {
		case of == reflect.TypeFor[context.Context]():
			in[i] = reflect.ValueOf(ctx)
		case of == reflect.TypeFor[[]byte]():
			in[i] = reflect.ValueOf([]byte("fox"))
		case of.Kind() == reflect.Pointer:
			in[i] = reflect.New(of.Elem())
		default:
			in[i] = reflect.Zero(of)
		}
	}
	call := method.Call
	if method.Type().IsVariadic() {
		call = method.CallSlice
	}
	for _, out := range call(in) {
		switch {
		case out.Type() == reflect.TypeFor[error]():
			returns = true
			err, _ = out.Interface().(error)
		case out.Kind() == reflect.Func && out.Type().CanSeq2():
			for _, second := range out.Seq2() {
				returns = true
				err, _ = second.Interface().(error)
			}
		}
	}
	return err, returns
}
