#!/bin/sh
# Everything that the agent's user sends must go to this machine, where the daemon's proxy is. The daemon itself is root.
set -eu
agent_uid=1001
for tables in iptables ip6tables; do
  "$tables" -A OUTPUT -o lo -m owner --uid-owner "$agent_uid" -j ACCEPT
  "$tables" -A OUTPUT -m owner --uid-owner "$agent_uid" -j REJECT
done
export INTERN_AGENT_UID="$agent_uid"
# Another user than root cannot read what is in the daemon's environment or memory.
exec node /app/src/daemon/daemon.ts "$@"
