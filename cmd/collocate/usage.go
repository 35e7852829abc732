package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/internal/sections"
)

// usageError is a mistake in how the command was called: exit code 2.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// flagError makes an error of parsing flags a usage error that says what was expected.
func flagError(cmd *cobra.Command, err error) error {
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if wrong, ok := errors.AsType[*api.Error](bad); ok { // of a question: it says what was expected
			name := "--" + bad.GetFlag().Name
			if short := bad.GetFlag().Shorthand; short == bad.GetFlag().Name {
				name = "-" + short
			}
			return usageError{errors.New(wrong.Text(name))}
		}
		_, number := errors.AsType[*strconv.NumError](bad)
		// Replace pflag's messages for numbers and durations, which name Go functions.
		if kind := bad.GetFlag().Value.Type(); number || kind == "duration" {
			err = fmt.Errorf("invalid argument %q for \"--%s\" flag: want %s", bad.GetValue(),
				bad.GetFlag().Name, wanted(kind))
		}
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if ok && unknown.GetSpecifiedShortnames() != "" && strings.Contains(cmd.Use, "QUERY") {
		return usageError{fmt.Errorf("%w; put -- before a query that begins with -, as in "+
			"'%s ... -- -%s'", err, cmd.CommandPath(), unknown.GetSpecifiedShortnames())}
	}
	return withHelp(cmd, err)
}

// wanted describes a type of flags in words.
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
	case "duration":
		return "a time with its unit, such as 20ms or 5s"
	case "bool":
		return "true or false"
	}
	return "a number"
}

// wanting adds the expected kind of file to an error about a file of another kind.
func wanting(err error, what string) error {
	if _, ok := errors.AsType[*sections.KindError](err); ok {
		return fmt.Errorf("%w: want %s", err, what)
	}
	return err
}

// withHelp makes an error a usage error that points to --help.
func withHelp(cmd *cobra.Command, err error) error {
	return usageError{fmt.Errorf("%w; see 'collocate %s--help'", err, verbPath(cmd))}
}

// wrapArgs makes errors about the arguments of every verb, and about required and mutually
// exclusive flags, usage errors.
func wrapArgs(cmd *cobra.Command) {
	check := cmd.Args
	if check == nil {
		check = cobra.ArbitraryArgs
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) != nil {
			return withHelp(cmd, wrongArgs(cmd, args))
		}
		if err := missingFlag(cmd); err != nil {
			return withHelp(cmd, err)
		}
		if err := cmd.ValidateFlagGroups(); err != nil {
			return withHelp(cmd, err)
		}
		return nil
	}
	for _, sub := range cmd.Commands() {
		wrapArgs(sub)
	}
}

// missingFlag returns an error for the first required flag that is missing, with its help text.
func missingFlag(cmd *cobra.Command) (err error) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if must := f.Annotations[cobra.BashCompOneRequiredFlag]; err == nil && !f.Changed &&
			len(must) > 0 && must[0] == "true" {
			err = fmt.Errorf("--%s is missing: %s", f.Name, f.Usage)
		}
	})
	return err
}

// wrongArgs returns an error that says how a verb is called.
func wrongArgs(cmd *cobra.Command, args []string) error {
	if cmd.HasSubCommands() && !strings.Contains(cmd.Use, " ") { // it only takes a subcommand
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
	return errors.New(msg + didYouMean(parent, name))
}

// didYouMean suggests commands with a similar name, in brackets.
func didYouMean(parent *cobra.Command, name string) string {
	parent.SuggestionsMinimumDistance = 2
	if near := parent.SuggestionsFor(name); len(near) > 0 {
		return " (did you mean " + strings.Join(near, " or ") + "?)"
	}
	return ""
}

// verbPath returns the command's name without the program's, and a blank: "index check ".
func verbPath(cmd *cobra.Command) string {
	_, path, _ := strings.Cut(cmd.CommandPath()+" ", " ")
	return path
}
