#!/bin/bash
# One node of a real Slurm, with accounting and GPUs that are only names (h100), for the tests: everything it writes is
# below one folder, but for a link to its slurm.conf in /etc/slurm.
#   tests/cluster/up.sh FOLDER [GPUS]     starts what does not run yet (a second call changes nothing);
#   tests/cluster/down.sh FOLDER          ends its processes, removes the folder and the link.
# Installs Debian's packages where they are missing, as root. Ports and sockets are its own: a Slurm or a MariaDB that
# the machine already has is neither used nor touched.
set -euo pipefail

stop() { echo "cluster: $1: $2; expected $3; next: $4" >&2; exit 2; }
running() { [ -s "$1" ] && kill -0 "$(cat "$1")" 2>/dev/null; }
until_true() { local end=$((SECONDS + 30)); until "$@" >/dev/null 2>&1; do [ $SECONDS -lt $end ] || return; sleep .25; done; }

[ $# -ge 1 ] || stop "up.sh" "no folder" "one for all files" "tests/cluster/up.sh /tmp/slurm"
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" && folder=$(cd "$1" && pwd) && gpus=${2:-4}
[ ${#folder} -le 60 ] || stop "up.sh" "a path of ${#folder} characters" "60 at most, for the sockets" "a shorter folder"
[ "$(id -u)" = 0 ] || stop "user" "$(id -un)" "root" "run as root, in a container"

packages="munge slurmctld slurmd slurm-client slurmdbd mariadb-server"
# shellcheck disable=SC2086 # one word a package
if ! dpkg -s $packages >/dev/null 2>&1; then
  command -v apt-get >/dev/null || stop "packages" "no apt-get" "Debian or a child of it" "install $packages"
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends $packages; } >"$folder/apt.log" 2>&1 ||
    stop "packages" "$(grep -m1 '^E:' "$folder/apt.log" || echo 'apt-get failed')" "$packages" "see $folder/apt.log"
fi

system=/etc/slurm/slurm.conf
[ ! -e $system ] || [ "$(readlink $system)" = "$folder/slurm.conf" ] ||
  stop "$system" "another cluster's" "none" "end that cluster, or use another machine"

mkdir -p "$folder"/{state,spool,log,run,mysql,gpus}
chmod 755 "$folder" "$folder/run"
for gpu in $(seq 0 $((gpus - 1))); do [ -e "$folder/gpus/gpu$gpu" ] || mknod "$folder/gpus/gpu$gpu" c 1 3; done
host=$(hostname -s)

# Twice what the machine has and more, so that several jobs run side by side: config_overrides lets the node say so.
cat >"$folder/slurm.conf" <<CONF
ClusterName=excam
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
AuthInfo=socket=$folder/run/munge.socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.log
SlurmdParameters=config_overrides
SlurmdTimeout=${SLURMD_TIMEOUT:-30}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
KillWait=5
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MinJobAge=300
GresTypes=gpu
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=16819
AccountingStoragePass=$folder/run/munge.socket
AccountingStorageEnforce=associations,limits
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
NodeName=$host NodeAddr=127.0.0.1 CPUs=16 RealMemory=64000 Gres=gpu:h100:$gpus State=UNKNOWN
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=main Nodes=$host Default=YES MaxTime=1440 PriorityTier=1 State=UP
PartitionName=first Nodes=$host MaxTime=1440 PriorityTier=2 State=UP
CONF
cat >"$folder/gres.conf" <<CONF
AutoDetect=off
NodeName=$host Name=gpu Type=h100 File=$folder/gpus/gpu[0-$((gpus - 1))]
CONF
cat >"$folder/slurmdbd.conf" <<CONF
AuthType=auth/munge
AuthInfo=socket=$folder/run/munge.socket
DbdHost=localhost
DbdPort=16819
SlurmUser=root
PidFile=$folder/run/slurmdbd.pid
LogFile=$folder/log/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=16820
StorageUser=slurm
StoragePass=slurm
StorageLoc=accounting
CONF
chmod 600 "$folder/slurmdbd.conf"
: >"$folder/cgroup.conf"
export SLURM_CONF=$folder/slurm.conf
mkdir -p /etc/slurm
ln -sfn "$SLURM_CONF" $system # Snakemake's job step drops SLURM_CONF from the environment of its srun

started() { echo "cluster: $1 did not start; expected it within 30 s; next: see $folder/log/" >&2; exit 3; }

"$here/daemon.sh" "$folder" munged
until_true timeout 5 munge -n -S "$folder/run/munge.socket" || started munged
"$here/daemon.sh" "$folder" mysqld
sql() { mysql --no-defaults --socket="$folder/run/mysqld.sock" -e "$1"; }
until_true sql "select 1" || started mysqld
sql "create database if not exists accounting; create user if not exists slurm@'127.0.0.1' identified by 'slurm';
     grant all on accounting.* to slurm@'127.0.0.1';"
"$here/daemon.sh" "$folder" slurmdbd
until_true timeout 5 sacctmgr -n list cluster || started slurmdbd
sacctmgr -i add cluster excam >/dev/null 2>&1 || true # says 1 where it is there already
sacctmgr -i add account main cluster=excam >/dev/null 2>&1 || true
sacctmgr -i add user "$(id -un)" account=main >/dev/null 2>&1 || true
"$here/daemon.sh" "$folder" slurmctld
"$here/daemon.sh" "$folder" slurmd
up() { sinfo -h -o %t | grep -qxE 'idle|mix|alloc'; }
until_true up || started slurmd
sinfo -o "%P %D %t %c %m %G"
