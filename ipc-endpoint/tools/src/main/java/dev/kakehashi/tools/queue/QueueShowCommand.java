package dev.kakehashi.tools.queue;

import dev.kakehashi.client.Session;
import dev.kakehashi.tools.bulk.Connecting;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `queue show`: one queue, and some of its tasks.
@Command(
    name = "show",
    description = "A queue with all that is known of it, and its first tasks.",
    mixinStandardHelpOptions = true)
public final class QueueShowCommand implements Callable<Integer> {
  @Mixin private Connecting connecting = new Connecting();

  @Parameters(
      paramLabel = "QUEUE",
      description = "queue, or schema.queue, as the catalogue spells it")
  private String queue = "";

  @Option(names = "--tasks", paramLabel = "N", description = "so many tasks (default: 10)")
  private int tasks = 10;

  @Override
  public Integer call() {
    int dot = queue.indexOf('.');
    String schema = dot < 0 ? "public" : queue.substring(0, dot);
    String name = queue.substring(dot + 1);
    try (Session session = connecting.attach("kakehashi queue show")) {
      PrintedRows state =
          PrintedRows.of(
              session,
              "SELECT * FROM kakehashi_catalog.queues WHERE queue_schema = $1::text AND queue_name = $2::text",
              schema,
              name);
      if (state.isEmpty()) {
        throw new IllegalArgumentException("queue \"" + schema + "." + name + "\" does not exist");
      }
      state.printDown(System.out);
      PrintedRows first =
          PrintedRows.of(
              session,
              "SELECT * FROM kakehashi_catalog.tasks WHERE queue_schema = $1::text AND queue_name = $2::text LIMIT $3::int8",
              schema,
              name,
              tasks);
      if (!first.isEmpty()) {
        System.out.println();
        first.print(System.out);
      }
    }
    return 0;
  }
}
