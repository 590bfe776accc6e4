package dev.kakehashi.tools.queue;

import dev.kakehashi.client.Session;
import dev.kakehashi.tools.bulk.Connecting;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `queue list`: all queues and how they stand.
@Command(
    name = "list",
    description = "Queues and subscription groups, with their counts.",
    mixinStandardHelpOptions = true)
public final class QueueListCommand implements Callable<Integer> {
  @Mixin private Connecting connecting = new Connecting();

  @Override
  public Integer call() {
    try (Session session = connecting.attach("kakehashi queue list")) {
      PrintedRows.of(session, "SELECT * FROM kakehashi_catalog.queues ORDER BY 1, 2")
          .print(System.out);
    }
    return 0;
  }
}
