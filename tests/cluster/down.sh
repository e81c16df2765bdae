#!/bin/bash
# End the cluster in FOLDER: its jobs, its daemons (by their recorded ids, never by name), then the folder itself.
set -uo pipefail
[ $# -eq 1 ] && [ -e "$1/slurm.conf" ] || { echo "cluster: ${1:-no folder}: no cluster; expected up.sh's folder; next: none" >&2; exit 2; }
folder=$(cd "$1" && pwd)
export SLURM_CONF=$folder/slurm.conf
timeout 5 scancel --signal=KILL --full -u "$(id -un)" 2>/dev/null
timeout 5 scancel -u "$(id -un)" 2>/dev/null
for _ in $(seq 40); do [ -z "$(timeout 2 squeue -h 2>/dev/null)" ] && break; sleep .25; done
for name in slurmd slurmctld slurmdbd mysqld munged; do
  [ -s "$folder/run/$name.pid" ] || continue
  id=$(cat "$folder/run/$name.pid")
  kill "$id" 2>/dev/null || continue
  for _ in $(seq 80); do kill -0 "$id" 2>/dev/null || break; sleep .25; done
  kill -9 "$id" 2>/dev/null
done
[ "$(readlink /etc/slurm/slurm.conf)" = "$folder/slurm.conf" ] && rm /etc/slurm/slurm.conf
rm -rf "$folder"
