package extract

// codeExtensions are those of source code and of files that configure programs.
const codeExtensions = "go py pyi rb rs c h cc cpp cxx hh hpp hxx java kt kts scala clj cljs ex exs erl hs ml mli " +
	"fs fsx cs vb swift m mm js mjs cjs jsx ts tsx vue svelte php pl pm lua r jl d nim zig v sv vhd vhdl " +
	"f f90 f95 for pas ada adb ads asm s sql sh bash zsh fish ps1 bat cmd awk sed tcl el lisp scm rkt " +
	"css scss sass less proto thrift graphql cu cuh ptx cl glsl tex bib sty cls mk cmake gradle bazel " +
	"toml yaml yml ini cfg conf properties tf nix dockerfile json xml xsd xsl svg csv tsv diff patch"

// plain takes text as it is.
func plain(in *input) ([]Document, error) {
	d, err := in.text()
	return []Document{d}, err
}

// text returns a document with the whole file as UTF-8.
func (in *input) text() (d Document, err error) {
	d.Text, d.Encoding = in.toUTF8(in.data, "")
	return d, nil
}
