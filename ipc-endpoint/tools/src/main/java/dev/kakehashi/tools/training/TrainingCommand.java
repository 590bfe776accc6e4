package dev.kakehashi.tools.training;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.Session;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `train`: a short mix of everything that sessions ask of an endpoint.
///
/// The JVM's ahead-of-time cache (JEP 483, 514, 515) keeps the classes that a training run has loaded and the profiles of
/// the methods that it has run often, so that an endpoint compiles what matters at once and for what really happens. The
/// endpoint of that run is one of its own, with nothing in it, started with `-XX:AOTCacheOutput`.
@Command(
    name = "train",
    description = "Give a new, empty endpoint that records an ahead-of-time cache its work.",
    mixinStandardHelpOptions = true)
public final class TrainingCommand implements Runnable {
  @Option(
      names = "--runtime-directory",
      required = true,
      description = "runtime directory of the endpoint")
  private Path runtimeDirectory = Path.of("");

  @Option(
      names = "--transactions",
      defaultValue = "6000",
      description = "durable transactions of each kind, default ${DEFAULT-VALUE}")
  private int transactions;

  @Override
  public void run() {
    AttachOptions options =
        AttachOptions.of(runtimeDirectory).withApplicationName("train").withDirectReads(false);
    try (Session session = Session.attach(options)) {
      var workload = new TrainingWorkload(session);
      workload.createTables();
      workload.changeRows(transactions);
      workload.readRows(transactions);
      workload.analyse();
      workload.fail();
    }
    // Sessions come and go.
    for (int i = 0; i < 20; i++) {
      try (Session session = Session.attach(options)) {
        new TrainingWorkload(session).readRows(10);
      }
    }
  }
}
