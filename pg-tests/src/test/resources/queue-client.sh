# Takes tasks of the queue "work" over HTTP until it is killed: sh queue-client.sh SOCKET. Prints what QueueClient does.
ask() {
  curl -s --unix-socket "$socket" -H 'Expect:' -D "$headers" "$@"
}
socket=$1
headers=$2
while :; do
  answer=$(ask -X POST 'http://localhost/v1/queues/work/lease?wait=1s&lease=1s') || { sleep 0.02; continue; }
  token=$(printf '%s' "$answer" | sed -n 's/.*"token":"\([^"]*\)".*/\1/p')
  id=$(printf '%s' "$answer" | sed -n 's/.*"payload":\([0-9]*\).*/\1/p')
  attempt=$(printf '%s' "$answer" | sed -n 's/.*"attempt":\([0-9]*\).*/\1/p')
  [ -n "$token" ] || continue
  echo "got $id $attempt"
  ask -X POST -H 'Kakehashi-Transaction: begin;lease=1' -H 'Content-Type: application/sql' \
    --data-binary "insert into effect values ($id, 'http')" http://localhost/v1/sql >/dev/null || continue
  if ! grep -q '^HTTP/1.1 200' "$headers"; then
    # Another one has done it: so the lease must be over.
    if grep -q '^HTTP/1.1 409' "$headers" && ask -X POST "http://localhost/v1/leases/$token:complete" >/dev/null &&
      grep -q '^HTTP/1.1 200' "$headers"; then
      echo "failed: task $id is lent although it is done"
    fi
    continue
  fi
  handle=$(sed -n 's/.*handle="\([0-9a-f]*\)".*/\1/p' "$headers" | tail -n 1)
  ask -X POST -H "Kakehashi-Transaction: end;handle=\"$handle\"" "http://localhost/v1/leases/$token:complete" >/dev/null || continue
  grep -q '^HTTP/1.1 200' "$headers" && echo "done $id"
done
