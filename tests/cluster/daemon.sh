#!/bin/bash
# Start one daemon of the cluster in FOLDER where it does not run: munged, mysqld, slurmdbd, slurmctld or slurmd.
set -euo pipefail
folder=$1 name=$2 pid=$1/run/$2.pid
if [ -s "$pid" ] && kill -0 "$(cat "$pid")" 2>/dev/null; then exit; fi
rm -f "$pid"
export SLURM_CONF=$folder/slurm.conf
case $name in
munged)
  [ -s "$folder/munge.key" ] || (umask 077 && head -c 1024 /dev/urandom >"$folder/munge.key")
  munged --force --socket="$folder/run/munge.socket" --key-file="$folder/munge.key" --pid-file="$pid" \
    --seed-file="$folder/munge.seed" --log-file="$folder/log/munged.log"
  ;;
mysqld)
  [ -d "$folder/mysql/mysql" ] ||
    mariadb-install-db --no-defaults --user="$(id -un)" --datadir="$folder/mysql" --skip-test-db >"$folder/log/mysqld.log" 2>&1
  setsid mysqld --no-defaults --user="$(id -un)" --datadir="$folder/mysql" --socket="$folder/run/mysqld.sock" \
    --pid-file="$pid" --bind-address=127.0.0.1 --port=16820 --innodb-buffer-pool-size=64M \
    </dev/null >>"$folder/log/mysqld.log" 2>&1 &
  ;;
slurmdbd | slurmctld | slurmd) "$name" </dev/null >"$folder/log/$name.start" 2>&1 ;;
esac
