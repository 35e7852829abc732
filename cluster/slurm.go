package cluster

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Array is a job for Slurm: a job array of maps over parts of some files, and a merge that waits
// for all of them. All nodes must see the same files and folders.
type Array struct {
	Job   Job      // what the job computes; part of the names that Slurm shows
	Tasks int      // number of maps, and of parts of the files; at least 1
	Files []string // paths of the input, which all maps get
	Dir   string   // folder for scripts, logs and the streams of maps
	// Map and Merge are the commands. Map is called with --split and the files, Merge with the
	// streams.
	Map, Merge []string
	Options    []string // options of sbatch for both
	// EachMerges makes the merge an array, too; its tasks are called with --only and their number.
	EachMerges bool
	Clean      string // a folder that is removed together with the parts
}

// slurmAgain requeues a failed task, which Slurm itself does only if a node fails.
const slurmAgain = `	if [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
		scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
		sleep 60 # until Slurm ends this try
	fi
	exit 1
fi
`

// submitCheck refuses parts of another job.
const submitCheck = `if [ -e "$parts" ] && [ "$(cat "$parts/.job" 2>/dev/null)" != "$job" ]; then
	echo "$parts has parts of another job, or the files have changed since:" \
		"choose another --work, or remove them with --force" >&2
	exit 1
fi
mkdir -p "$parts"
echo "$job" >"$parts/.job"
`

// Scripts returns the files of the job by name: map.sbatch, merge.sbatch, and submit.sh, which
// submits them. A map is tried up to four times. If submit.sh is run again, maps whose output is
// complete are not repeated. Output of another job, or of files that have changed since, is
// refused; submit.sh --force removes it.
func (a *Array) Scripts() map[string]string {
	head := func(name string, more ...string) string {
		s := fmt.Sprintf("#!/bin/bash\n#SBATCH --job-name=collocate-%s-%s\n#SBATCH --output=%s\n",
			a.Job, name, filepath.Join(a.Dir, name+"-%A_%a.log"))
		for _, option := range append(more, a.Options...) {
			s += "#SBATCH " + option + "\n"
		}
		return s + "set -euo pipefail\n"
	}
	parts := filepath.Join(a.Dir, a.Job.String()+".parts")
	part := ShellLine([]string{parts}) + "/part-$SLURM_ARRAY_TASK_ID"
	// A name that merge skips. Another job for the same part may still be running.
	hidden := strings.Replace(part, "/part-", "/.part-", 1) + ".${SLURM_JOB_ID:-0}"
	array := fmt.Sprintf("--array=0-%d", a.Tasks-1)
	mapper := head("map", array, "--requeue", "--open-mode=append") +
		fmt.Sprintf("mkdir -p %s\n", ShellLine([]string{parts})) +
		fmt.Sprintf("[ ! -e %s ] || exit 0 # complete since an earlier call of submit.sh\n", part) +
		fmt.Sprintf("if ! %s --split \"$SLURM_ARRAY_TASK_ID/%d\" %s >%s; then\n", ShellLine(a.Map), a.Tasks,
			ShellLine(a.Files), hidden) + slurmAgain +
		fmt.Sprintf("mv %s %s\n", hidden, part)
	merge := head("merge") + ShellLine(append(append([]string{}, a.Merge...), parts)) + "\n"
	if a.EachMerges {
		merge = head("merge", array) + ShellLine(append(append([]string{}, a.Merge...), parts)) +
			" --only \"$SLURM_ARRAY_TASK_ID\"\n"
	}
	dir := ShellLine([]string{a.Dir})
	clean := []string{parts}
	if a.Clean != "" {
		clean = append(clean, a.Clean)
	}
	submit := "#!/bin/bash\n# Prints the number of the last job. Parts that are complete are kept; --force removes them.\n" +
		"set -euo pipefail\n" + "if [ \"${1:-}\" = --force ]; then\n\tshift\n" +
		fmt.Sprintf("\trm -rf %s\nfi\n", ShellLine(clean)) +
		fmt.Sprintf("job=$({ cat %s/map.sbatch; stat -c '%%n %%s %%Y' -- %s 2>/dev/null || true; } | cksum)\n",
			dir, ShellLine(a.Files)) +
		fmt.Sprintf("parts=%s\n", ShellLine([]string{parts})) + submitCheck +
		fmt.Sprintf("maps=$(sbatch --parsable \"$@\" %s/map.sbatch)\n", dir) +
		fmt.Sprintf("sbatch --parsable \"$@\" --dependency=afterok:\"$maps\" --kill-on-invalid-dep=yes %s/merge.sbatch\n", dir)
	return map[string]string{"map.sbatch": mapper, "merge.sbatch": merge, "submit.sh": submit}
}
