package dev.kakehashi.examples.batch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/// One run of a batch: dump, job of Spark, load. Started again it goes on where it was, wherever it or the others have died.
///
/// README.md has the protocol. Its arguments: the directory of the batch, the name of the run, and a directory of its own for
/// what it has to know after its death.
public final class Batch {
  /// How long it tries a step that fails because others have died.
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  /// Nobody says when the endpoint is there again: it is asked after a while.
  private static final long PAUSE_MILLIS = 100;
  private static final int LEASE_SECONDS = 300;

  private final Endpoint endpoint;
  private final String location;
  private final Path files;
  private final Path definition;
  private final String run;
  private final Path manifest;
  private final RunState state;

  private Batch(Path definition, String run, Path own) throws IOException {
    this.endpoint =
        new Endpoint(
            URI.create(environment("KAKEHASHI_URL")),
            environment("KAKEHASHI_USER"),
            environment("KAKEHASHI_PASSWORD"));
    this.location = environment("BATCH_LOCATION");
    this.files = Path.of(environment("BATCH_FILES"));
    this.definition = definition;
    this.run = run;
    this.manifest = own.resolve(run + ".files").toAbsolutePath();
    this.state = RunState.open(own.resolve(run + ".state"));
  }

  private static String environment(String name) {
    String value = System.getenv(name);
    if (value == null || value.isEmpty()) {
      throw new IllegalArgumentException("the environment has no " + name);
    }
    return value;
  }

  /// Ends with 0 when the run is loaded, 1 when a step has failed for good, 2 for wrong arguments.
  public static void main(String[] arguments) {
    if (arguments.length != 3 || !arguments[1].matches("[A-Za-z0-9-]{1,64}")) {
      System.err.println(
          "usage: Batch DIRECTORY RUN STATE_DIRECTORY; a run is named by A-Z, 0-9 and -");
      System.exit(2);
    }
    try {
      Path own = Files.createDirectories(Path.of(arguments[2]));
      new Batch(Path.of(arguments[0]), arguments[1], own).run();
    } catch (Exception e) {
      System.err.println("batch: run " + arguments[1] + " failed: " + e.getMessage());
      System.exit(1);
    }
  }

  private interface Step {
    void run() throws IOException, InterruptedException, Endpoint.RefusedException;
  }

  private void run() throws Exception {
    insist("dumped", this::dump);
    insist("computed", this::compute);
    insist("loaded", this::load);
  }

  /// Runs a step until it has been done, unless an earlier process has. A step can begin anew at any moment.
  private void insist(String step, Step action) throws Exception {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!state.has(step)) {
      try {
        action.run();
      } catch (IOException e) {
        goOn(deadline, e);
      } catch (Endpoint.RefusedException e) {
        if (!e.passes()) {
          throw e;
        }
        goOn(deadline, e);
      }
    }
    System.out.println("batch: " + step + " " + state.get(step));
  }

  private void goOn(long deadline, Exception reason) throws Exception {
    System.out.println("batch: begins the step anew: " + reason.getMessage());
    do {
      if (System.nanoTime() - deadline > 0) {
        throw reason;
      }
      Thread.sleep(PAUSE_MILLIS);
    } while (!endpoint.isReady());
  }

  /// Begins a transaction whose name is durable here before anything happens in it. The one of a process that died is ended first.
  private String begin(String key, String characteristics)
      throws IOException, InterruptedException, Endpoint.RefusedException {
    if (state.has(key)) {
      endpoint.rollback(state.get(key));
    }
    // One that was asked for, and whose name was not heard, is asked for again under the same key.
    String asked = state.get(key + ".asked");
    if (asked.equals(state.get(key + ".known"))) {
      asked = Long.toString(asked.isEmpty() ? 1 : Long.parseLong(asked) + 1);
      state.put(key + ".asked", asked);
    }
    String transaction =
        endpoint.begin(
            characteristics + ";lease=" + LEASE_SECONDS + ";label=\"batch " + run + '"',
            "begin " + run + ' ' + key + ' ' + asked);
    state.put(key, transaction);
    state.put(key + ".known", asked);
    return transaction;
  }

  private String place(String directory) {
    return location + ":batch/" + run + '/' + directory;
  }

  /// All dumps show one snapshot.
  private void dump() throws IOException, InterruptedException, Endpoint.RefusedException {
    String transaction = begin("dump.transaction", "kind=rtx;isolation=repeatable-read");
    String snapshot = endpoint.rows(transaction, "SELECT now()").path(0).path(0).asText();
    List<DumpedFile> dumped = new ArrayList<>();
    for (Query query : Query.readAll(definition.resolve("dump"))) {
      ObjectNode body =
          Endpoint.object()
              .put("query", query.text())
              .put("to", place("dump/" + query.name() + '/'))
              .put("format", "parquet");
      body.set("options", query.options().put("overwrite", true));
      JsonNode rows =
          endpoint.job(transaction, "dump " + query.name() + ' ' + transaction, "/v1/dump", body);
      for (JsonNode row : rows) {
        String name = row.path(0).asText().substring(location.length() + 1);
        dumped.add(
            new DumpedFile(
                query.name(),
                files.resolve(name).toAbsolutePath(),
                row.path(1).asLong(),
                row.path(2).asLong(),
                row.path(3).asText()));
      }
    }
    endpoint.commit(transaction);
    DumpedFile.write(manifest, dumped);
    state.put("snapshot", snapshot);
    state.put(
        "dumped", dumped.stream().mapToLong(DumpedFile::rows).sum() + " rows as of " + snapshot);
  }

  /// A job that died has left a directory without _SUCCESS, which nobody reads. Each attempt has a new one.
  private void compute() throws IOException, InterruptedException {
    for (DumpedFile file : DumpedFile.read(manifest)) {
      file.check();
    }
    int attempt = state.has("attempt") ? Integer.parseInt(state.get("attempt")) + 1 : 1;
    state.put("attempt", Integer.toString(attempt));
    Path results = files.resolve(Path.of("batch", run, "result-" + attempt)).toAbsolutePath();
    Path queries = definition.resolve("spark");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("@" + Path.of(environment("SPARK_OPTIONS")).toAbsolutePath());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(
        List.of(
            SparkJob.class.getName(),
            manifest.toString(),
            queries.toAbsolutePath().toString(),
            results.toString()));
    Process spark = new ProcessBuilder(command).inheritIO().start();
    System.out.println("batch: spark is process " + spark.pid());
    int code = spark.waitFor();
    if (code != 0) {
      throw new IOException("spark ended with " + code);
    }
    for (Query query : Query.readAll(queries)) {
      if (!Files.exists(results.resolve(query.name()).resolve("_SUCCESS"))) {
        throw new IOException("spark has left no _SUCCESS of " + query.name());
      }
    }
    state.put("computed", results.getFileName().toString());
  }

  /// The tables are replaced, and the run is entered, in one transaction. A repeated attempt finds the run entered.
  private void load() throws IOException, InterruptedException, Endpoint.RefusedException {
    // Its answer may have been lost.
    if (state.has("load.transaction")
        && endpoint.outcome(state.get("load.transaction")).equals("committed")) {
      state.put("loaded", "before");
      return;
    }
    List<Query> queries = Query.readAll(definition.resolve("spark"));
    String tables =
        queries.stream().map(query -> " \"" + query.name() + '"').collect(Collectors.joining());
    String transaction = begin("load.transaction", "kind=ltx;write=(\"batch_run\"" + tables + ")");
    if (count(transaction, "run = $1", run) > 0) {
      endpoint.rollback(transaction);
      state.put("loaded", "before");
      return;
    }
    if (count(transaction, "snapshot > $1::timestamptz", state.get("snapshot")) > 0) {
      endpoint.rollback(transaction);
      throw new IllegalStateException("a run with a later snapshot is loaded already");
    }
    long loaded = 0;
    for (Query query : queries) {
      endpoint.rows(transaction, "DELETE FROM " + query.name());
      ObjectNode body =
          Endpoint.object()
              .put("table", query.name())
              .put("from", place(state.get("computed") + '/' + query.name() + "/*.parquet"))
              .put("format", "parquet");
      body.putObject("options").put("extra_columns", "error");
      JsonNode result =
          endpoint.job(transaction, "load " + query.name() + ' ' + transaction, "/v1/load", body);
      loaded += result.path(0).path(1).asLong();
    }
    endpoint.rows(
        transaction,
        "INSERT INTO batch_run VALUES ($1, $2::timestamptz, now(), $3)",
        run,
        state.get("snapshot"),
        Long.toString(loaded));
    System.out.println("batch: commits");
    endpoint.commit(transaction);
    state.put("loaded", loaded + " rows");
  }

  private long count(String transaction, String condition, String parameter)
      throws IOException, InterruptedException, Endpoint.RefusedException {
    return endpoint
        .rows(transaction, "SELECT count(*) FROM batch_run WHERE " + condition, parameter)
        .path(0)
        .path(0)
        .asLong();
  }
}
