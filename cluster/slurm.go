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
	Clean      string // a folder to empty first
}

// slurmAgain requeues a failed task, which Slurm itself does only if a node fails.
const slurmAgain = `	if [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
		scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
		sleep 60 # until Slurm ends this try
	fi
	exit 1
fi
`

// Scripts returns the files of the job by name: map.sbatch, merge.sbatch, and submit.sh, which
// submits them. A map is tried up to four times, and each try replaces the output of the last.
func (a *Array) Scripts() map[string]string {
	head := func(name string, more ...string) string {
		s := fmt.Sprintf("#!/bin/bash\n#SBATCH --job-name=collocate-%s-%s\n#SBATCH --output=%s\n",
			a.Job, name, filepath.Join(a.Dir, name+"-%A_%a.log"))
		for _, option := range append(more, a.Options...) {
			s += "#SBATCH " + option + "\n"
		}
		return s + "set -euo pipefail\n"
	}
	parts := filepath.Join(a.Dir, "parts")
	part := ShellLine([]string{parts}) + "/part-$SLURM_ARRAY_TASK_ID"
	hidden := strings.Replace(part, "/part-", "/.part-", 1) // a name that merge skips
	array := fmt.Sprintf("--array=0-%d", a.Tasks-1)
	mapper := head("map", array, "--requeue", "--open-mode=append") +
		fmt.Sprintf("mkdir -p %s\n", ShellLine([]string{parts})) +
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
	submit := "#!/bin/bash\n# Prints the number of the last job.\nset -euo pipefail\n" +
		fmt.Sprintf("rm -rf %s\n", ShellLine(clean)) +
		fmt.Sprintf("maps=$(sbatch --parsable \"$@\" %s/map.sbatch)\n", dir) +
		fmt.Sprintf("sbatch --parsable \"$@\" --dependency=afterok:\"$maps\" --kill-on-invalid-dep=yes %s/merge.sbatch\n", dir)
	return map[string]string{"map.sbatch": mapper, "merge.sbatch": merge, "submit.sh": submit}
}
