//go:build unix

package pipe

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The example of the package comment, byte for byte.
func TestMessageBytes(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, struct {
		Do string `json:"do"`
	}{"ping"}, nil); err != nil {
		t.Fatal(err)
	}
	want := "0d0000000000000000000000" + hex.EncodeToString([]byte(`{"do":"ping"}`))
	if got := hex.EncodeToString(b.Bytes()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// header returns the header of a call with arrays.
func header(do string, arrays ...Array) any {
	return struct {
		Do     string  `json:"do"`
		Arrays []Array `json:"arrays"`
	}{do, arrays}
}

func TestArraysComeBack(t *testing.T) {
	long := make([]float32, 1<<18) // more than one write, and more than the first read
	for i := range long {
		long[i] = float32(i)
	}
	arrays := []Array{
		NewArray("bytes", []uint8("abc")),
		NewArray("numbers", []float64{1.5, -2}),
		NewArray("none", []int64{}),
		NewArray("table", []uint32{1, 2, 3, 4, 5, 6}, 2, 3),
		NewArray("long", long),
		NewArray("last", []int32{-7}),
	}
	var b bytes.Buffer
	if err := Write(&b, header("try", arrays...), arrays); err != nil {
		t.Fatal(err)
	}
	m, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range arrays {
		got := m.Arrays[i]
		if got.Name != a.Name || got.Type != a.Type || !bytes.Equal(got.Data, a.Data) {
			t.Errorf("array %s of %s came back as %s of %s with %d bytes", a.Name, a.Type, got.Name, got.Type, len(got.Data))
		}
	}
	table, err := Get[uint32](m, "table")
	if err != nil || len(table) != 6 || table[5] != 6 || m.Arrays[3].Shape[1] != 3 {
		t.Errorf("the table is %v of shape %v, %v; want 1 to 6 of shape [2 3]", table, m.Arrays[3].Shape, err)
	}
	if _, err := Get[float32](m, "table"); err == nil {
		t.Error("Get returned an array as another type")
	}
	if _, err := Get[float32](m, "absent"); err == nil {
		t.Error("Get returned a missing array")
	}
}

func TestReadRefuses(t *testing.T) {
	message := func(h, p string, rest string) []byte {
		prefix, err := hex.DecodeString(h + p)
		if err != nil {
			t.Fatal(err)
		}
		return append(prefix, rest...)
	}
	empty := "0000000000000000"
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"long header":  {message("ffffffff", empty, ""), "too long"},
		"long payload": {message("02000000", "ffffffffffffff7f", "{}"), "too long"},
		"cut header":   {message("10000000", empty, "{}"), "unexpected EOF"},
		"cut payload":  {message("02000000", "0400000000000000", "{}abc"), "unexpected EOF"},
		"no JSON":      {message("02000000", empty, "{]"), "header"},
		"missing data": {message("21000000", empty, `{"arrays":[["a","f8",[1]]]}      `), "beyond"},
		"extra data":   {message("02000000", "0100000000000000", "{}a"), "payload has 1"},
		"negative":     {message("22000000", empty, `{"arrays":[["a","f8",[-1]]]}      `), "shape"},
		"huge": {message("3a000000", empty,
			`{"arrays":[["a","f8",[4294967296,4294967296,4294967296]]]}`), "shape"},
		"unknown type": {message("21000000", empty, `{"arrays":[["a","c8",[1]]]}      `), "unknown type"},
		"no shape":     {message("21000000", empty, `{"arrays":[["a","f8",[]]]}       `), "dimensions"},
		"half array":   {message("21000000", empty, `{"arrays":[["a","f8"]]}          `), "header"},
	} {
		if _, err := Read(bytes.NewReader(c.data)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Read(bytes.NewReader(nil)); err != io.EOF {
		t.Errorf("at the end: %v, want io.EOF", err)
	}
}

// Any input gives an error or a message that can be written and read again.
func FuzzRead(f *testing.F) {
	for _, arrays := range [][]Array{nil, {NewArray("a", []float64{1}), NewArray("b", []uint8("xyz"))}} {
		var b bytes.Buffer
		if err := Write(&b, header("try", arrays...), arrays); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, m, m.Arrays); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&b)
		if err != nil || again.Do != m.Do || len(again.Arrays) != len(m.Arrays) {
			t.Fatalf("%+v became %+v, %v", m, again, err)
		}
	})
}

// talk returns a connection whose calls handle answers.
func talk(t *testing.T, handle Handler) (conn net.Conn, ended <-chan error) {
	t.Helper()
	mine, theirs := net.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Answer(t.Context(), theirs, handle, func(error) string { return "value" })
		theirs.Close()
	}()
	t.Cleanup(func() { mine.Close() })
	return mine, done
}

// reply reads messages of progress and the answer after them.
func reply(t *testing.T, r io.Reader) (progress int, last string) {
	t.Helper()
	for {
		m, text := readHeader(t, r)
		if _, ok := m["progress"]; !ok {
			return progress, text
		}
		progress++
	}
}

func readHeader(t *testing.T, r io.Reader) (m map[string]any, text string) {
	t.Helper()
	var prefix [12]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, int(prefix[0])+int(prefix[1])<<8)
	if _, err := io.ReadFull(r, data); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m, string(data)
}

func TestCallsAreAnsweredInTurn(t *testing.T) {
	conn, _ := talk(t, func(_ context.Context, c *Call) (Reply, error) {
		switch c.Do {
		case "fail":
			return Reply{}, errors.New("no luck")
		case "unsendable":
			return Reply{Result: math.NaN()}, nil
		case "sum": // of the lengths of the messages that follow
			total := 0
			for {
				m, err := c.Next()
				if err == io.EOF {
					c.Note("added up")
					c.Note("added up")
					return Reply{Result: total}, nil
				}
				if err != nil {
					return Reply{}, err
				}
				total += len(m.Arrays[0].Data)
			}
		}
		return Reply{Result: c.Do}, nil
	})
	send := func(do string, arrays ...Array) {
		t.Helper()
		if err := Write(conn, header(do, arrays...), arrays); err != nil {
			t.Fatal(err)
		}
	}
	want := func(text string) {
		t.Helper()
		if _, got := reply(t, conn); got != text {
			t.Errorf("got %s, want %s", got, text)
		}
	}
	send("hello")
	want(`{"result":"hello"}`)
	send("sum")
	send("more", NewArray("a", []uint8("abc")))
	send("more", NewArray("a", []uint8("de")))
	send("end")
	want(`{"result":5,"notes":["added up"]}`)
	// Messages for a call that has failed already do not confuse the next call.
	send("fail")
	want(`{"error":"no luck","kind":"value"}`)
	send("more", NewArray("a", []uint8("abc")))
	send("end")
	send("hello")
	want(`{"result":"hello"}`)
	// A result that cannot be sent is an error of its call.
	send("unsendable")
	want(`{"error":"json: unsupported value: NaN","kind":"value"}`)
	send("hello")
	want(`{"result":"hello"}`)
}

// Closing the connection cancels its call, even one that waits for further messages.
func TestClosingCancels(t *testing.T) {
	for _, waits := range []bool{false, true} {
		began, ended := make(chan bool), make(chan error, 1)
		conn, done := talk(t, func(ctx context.Context, c *Call) (Reply, error) {
			close(began)
			if waits {
				_, err := c.Next()
				ended <- err
				return Reply{}, err
			}
			<-ctx.Done()
			ended <- ctx.Err()
			return Reply{}, ctx.Err()
		})
		if err := Write(conn, header("long"), nil); err != nil {
			t.Fatal(err)
		}
		<-began
		conn.Close()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the call ended with %v, want context.Canceled", err)
		}
		<-done
	}
}

// Progress does not wait for a caller that does not read.
func TestProgressDoesNotWait(t *testing.T) {
	conn, _ := talk(t, func(_ context.Context, c *Call) (Reply, error) {
		for range 5 {
			c.told = time.Time{}
			c.Progress("reading", 1, 2)
		}
		return Reply{}, nil
	})
	if err := Write(conn, header("work"), nil); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond) // by then the work is done, although nobody has read
	if n, last := reply(t, conn); last != `{"result":null}` || n > 2 {
		t.Errorf("%d messages of progress, then %s; want at most 2 and the result", n, last)
	}
}

// Connections arrive over the control socket, and closing that ends everything.
func TestServeEndsWithTheControlSocket(t *testing.T) {
	pair := func() (mine *os.File, theirs int) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		return os.NewFile(uintptr(fds[0]), "mine"), fds[1]
	}
	control, descriptor := pair()
	began, cancelled := make(chan bool), make(chan bool)
	done := make(chan error, 1)
	go func() {
		done <- Serve(t.Context(), descriptor, func(ctx context.Context, c *Call) (Reply, error) {
			if c.Do == "wait" {
				close(began)
				<-ctx.Done()
				close(cancelled)
			}
			return Reply{Result: c.Do}, nil
		}, func(error) string { return "" })
	}()
	connect := func() *os.File {
		mine, theirs := pair()
		if err := unix.Sendmsg(int(control.Fd()), []byte("c"), unix.UnixRights(theirs), nil, 0); err != nil {
			t.Fatal(err)
		}
		unix.Close(theirs)
		t.Cleanup(func() { mine.Close() })
		return mine
	}
	first, second := connect(), connect()
	if err := Write(first, header("wait"), nil); err != nil {
		t.Fatal(err)
	}
	<-began
	if err := Write(second, header("hello"), nil); err != nil { // while the first call waits
		t.Fatal(err)
	}
	if _, got := reply(t, second); got != `{"result":"hello"}` {
		t.Errorf("got %s, want hello", got)
	}
	control.Close()
	select {
	case <-cancelled:
	case <-time.After(patience):
		t.Fatal("the call was not cancelled")
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := Serve(t.Context(), 1<<20, nil, nil); err == nil {
		t.Error("Serve accepted a descriptor that does not exist")
	}
}
