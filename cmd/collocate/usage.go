package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageError is a mistake in how the command was called: exit code 2.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// flagError says what is wrong with a flag, and where to read about it.
func flagError(cmd *cobra.Command, err error) error {
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if _, ok := errors.AsType[*strconv.NumError](bad); ok { // it names a function of Go
			err = fmt.Errorf("invalid argument %q for \"--%s\" flag: want %s", bad.GetValue(), bad.GetFlag().Name, wanted(bad.GetFlag().Value.Type()))
		}
	}
	return withHelp(cmd, err)
}

// wanted is a type of flags in words.
func wanted(kind string) string {
	switch kind {
	case "int":
		return "a whole number"
	case "uint", "uint64":
		return "a whole number from 0 on"
	case "intSlice":
		return "whole numbers, with commas between them"
	case "float64Slice":
		return "numbers, with commas between them"
	case "bool":
		return "true or false"
	}
	return "a number"
}

// notNegative refuses a negative number for any of these flags.
func notNegative(flags *pflag.FlagSet, names ...string) error {
	for _, name := range names {
		if n, err := flags.GetInt(name); err != nil || n < 0 {
			return usagef("--%s %s: want 0 or more", name, flags.Lookup(name).Value)
		}
	}
	return nil
}

// withHelp makes an error one of usage that says where to read more.
func withHelp(cmd *cobra.Command, err error) error {
	return usageError{fmt.Errorf("%w; see 'collocate %s--help'", err, verbPath(cmd))}
}

// wrapArgs makes every verb's complaint about its arguments, and about flags that
// must or must not be given, a usageError.
func wrapArgs(cmd *cobra.Command) {
	check := cmd.Args
	if check == nil {
		check = cobra.ArbitraryArgs
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) != nil {
			return withHelp(cmd, wrongArgs(cmd, args))
		}
		err := cmd.ValidateRequiredFlags()
		if err == nil {
			err = cmd.ValidateFlagGroups()
		}
		if err != nil {
			return withHelp(cmd, err)
		}
		return nil
	}
	for _, sub := range cmd.Commands() {
		wrapArgs(sub)
	}
}

// wrongArgs says how a verb is called.
func wrongArgs(cmd *cobra.Command, args []string) error {
	if cmd.HasSubCommands() && !strings.Contains(cmd.Use, " ") { // it takes nothing but one of them
		return unknownVerb(cmd, args[0])
	}
	got := fmt.Sprintf("%d arguments", len(args))
	switch len(args) {
	case 0:
		got = "no arguments"
	case 1:
		got = fmt.Sprintf("one argument, %q", args[0])
	}
	return fmt.Errorf("%s: want 'collocate %s'", got, strings.TrimSpace(verbPath(cmd.Parent())+cmd.Use))
}

func unknownVerb(parent *cobra.Command, name string) error {
	msg := fmt.Sprintf("unknown command %q", name)
	if parent.HasParent() {
		msg += fmt.Sprintf(" for %q", parent.CommandPath())
	}
	parent.SuggestionsMinimumDistance = 2
	if near := parent.SuggestionsFor(name); len(near) > 0 {
		msg += " (did you mean " + strings.Join(near, " or ") + "?)"
	}
	return errors.New(msg)
}

// verbPath is the command's name without the program's, and a blank: "index check ".
func verbPath(cmd *cobra.Command) string {
	_, path, _ := strings.Cut(cmd.CommandPath()+" ", " ")
	return path
}
