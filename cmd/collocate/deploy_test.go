package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/collocate/collocate/serve"
)

// The examples for Docker and Kubernetes name files, verbs, flags and addresses that exist.
func TestDeployments(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "cluster")
	read := func(name string, each func(in *yaml.Decoder) error) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		in := yaml.NewDecoder(bytes.NewReader(data))
		for err == nil {
			err = each(in)
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
	commands := 0
	check := func(of string, args []string, servers map[string]bool) {
		t.Helper()
		commands++
		cmd, rest, err := newRoot(newApp(strings.NewReader(""), io.Discard, io.Discard)).Find(args)
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err != nil || !cmd.HasParent() {
			t.Errorf("%s: %q: %v", of, args, err)
			return
		}
		list := cmd.Flag("shards")
		if list == nil || !list.Changed {
			return
		}
		if _, err := serve.ParseShards(list.Value.String(), serve.RootOptions{}); err != nil {
			t.Errorf("%s: %v", of, err)
		}
		for address := range strings.FieldsFuncSeq(list.Value.String(), func(r rune) bool { return r == ',' || r == '|' }) {
			if !servers[address] {
				t.Errorf("%s: no container serves %s", of, address)
			}
		}
	}

	read("compose.yaml", func(in *yaml.Decoder) error {
		var file struct {
			Services map[string]struct {
				Build   struct{ Context, Dockerfile string }
				Command []string
			}
		}
		err := in.Decode(&file)
		servers := map[string]bool{}
		for name := range file.Services {
			servers["http://"+name+":8081"] = true
		}
		for name, s := range file.Services {
			check(name, s.Command, servers)
			if _, err := os.Stat(filepath.Join(dir, s.Build.Context, s.Build.Dockerfile)); err != nil {
				t.Error(err)
			}
		}
		return err
	})
	read("kubernetes.yaml", func(in *yaml.Decoder) error {
		var object struct {
			Kind string
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct{ Command, Args []string }
					}
				}
			}
		}
		err := in.Decode(&object)
		servers := map[string]bool{}
		for _, n := range "012345" {
			servers["http://shard-"+string(n)+".shards:8081"] = true
		}
		for _, c := range object.Spec.Template.Spec.Containers {
			args := c.Args
			if c.Command[0] == "sh" { // a shell line, whose arithmetic expression stands for a number
				before, after, _ := strings.Cut(c.Args[0], "$((")
				_, after, _ = strings.Cut(after, "))")
				args = strings.Fields(strings.ReplaceAll(strings.TrimPrefix(before, "exec /collocate ")+"0"+after, "'", ""))
			} else if c.Command[0] != "/collocate" {
				t.Errorf("%s runs %q", object.Kind, c.Command)
			}
			check(object.Kind, args, servers)
		}
		return err
	})
	if commands != 9 {
		t.Errorf("%d commands, want 9", commands)
	}
}
