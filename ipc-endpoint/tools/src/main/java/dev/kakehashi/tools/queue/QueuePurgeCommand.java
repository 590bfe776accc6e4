package dev.kakehashi.tools.queue;

import dev.kakehashi.client.Session;
import dev.kakehashi.tools.bulk.Connecting;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `queue purge`: removes tasks.
@Command(
    name = "purge",
    description = "Removes all tasks of a queue that are not lent.",
    mixinStandardHelpOptions = true)
public final class QueuePurgeCommand implements Callable<Integer> {
  @Mixin private Connecting connecting = new Connecting();

  @Parameters(paramLabel = "QUEUE", description = "queue, as SQL writes it")
  private String queue = "";

  @Option(names = "--dead", description = "only dead ones")
  private boolean dead;

  @Override
  public Integer call() {
    try (Session session = connecting.attach("kakehashi queue purge")) {
      session.execute("PURGE QUEUE " + SqlName.check(queue) + (dead ? " DEAD" : ""));
    }
    return 0;
  }
}
