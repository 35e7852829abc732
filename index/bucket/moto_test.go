package bucket

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"
)

// serverVariable names a server with a bucket "corpora" that TestStores uses instead of its own.
const serverVariable = "COLLOCATE_TEST_S3"

// The tests of stores hold with another server, too: moto, if it is installed (pip install
// 'moto[server]').
func TestMoto(t *testing.T) {
	program, err := exec.LookPath("moto_server")
	if err != nil {
		t.Skip("moto_server is not installed")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	server := exec.Command(program, "-H", "127.0.0.1", "-p", fmt.Sprint(port))
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { server.Process.Kill(); server.Wait() }()
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		r, err := http.NewRequest(http.MethodPut, url+"/corpora", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				break
			}
			err = fmt.Errorf("%s", answer.Status)
		}
		if time.Now().After(deadline) {
			t.Fatalf("moto_server makes no bucket: %v", err)
		}
	}
	again := exec.Command(os.Args[0], "-test.run", "^TestStores$")
	again.Env = append(os.Environ(), serverVariable+"="+url, "AWS_ENDPOINT_URL="+url, "AWS_ACCESS_KEY_ID=key",
		"AWS_SECRET_ACCESS_KEY=secret", "AWS_REGION=us-east-1")
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
