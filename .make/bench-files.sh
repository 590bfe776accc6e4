# What benchmarks in Java have in common; sourced with the benchmark's name, after lib.sh. Stages product and benchmarks, and
# sets out (what stays), home (what the servers have) and runtime_dir (the endpoint's).
find_java
find_postgres
"$ROOT/.make/stage.sh"
prepare_run_dir
. "$ROOT/.make/cluster.sh"
benchmarks=$ROOT/ipc-endpoint/benchmarks/target
install -m 644 "$benchmarks"/kakehashi-benchmarks-*-SNAPSHOT.jar "$RUN_DIR/lib/kakehashi-benchmarks.jar"
mkdir -p "$RUN_DIR/lib/peer"
install -m 644 "$benchmarks"/peer/*.jar "$RUN_DIR/lib/peer"
out=$ROOT/target/$1
home=$RUN_DIR/$1
runtime_dir=/dev/shm/kakehashi-$1-$$
mkdir -p "$out"
