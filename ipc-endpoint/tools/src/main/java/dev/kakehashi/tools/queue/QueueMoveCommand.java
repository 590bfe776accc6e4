package dev.kakehashi.tools.queue;

import dev.kakehashi.client.Session;
import dev.kakehashi.tools.bulk.Connecting;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `queue move`: puts tasks of one queue into another.
@Command(
    name = "move",
    description = {
      "Moves tasks that are not lent to the end of another queue, and prints how many.",
      "So dead letters are tried again: at the rate of the queue that gets them, or a lower one.",
      "More than 10,000 are moved in several transactions."
    },
    mixinStandardHelpOptions = true)
public final class QueueMoveCommand implements Callable<Integer> {
  @Mixin private Connecting connecting = new Connecting();

  @Parameters(index = "0", paramLabel = "FROM", description = "queue, as SQL writes it")
  private String from = "";

  @Parameters(index = "1", paramLabel = "TO", description = "queue, as SQL writes it")
  private String to = "";

  @Option(names = "--dead", description = "only dead ones; FROM and TO may be the same")
  private boolean dead;

  @Option(names = "--max", paramLabel = "N", description = "at most so many, the oldest first")
  private long max;

  @Option(
      names = "--error",
      paramLabel = "TEXT",
      description = "only those whose last error is this text; empty: that have none")
  private @Nullable String error;

  @Option(
      names = "--rate",
      paramLabel = "N/s",
      description = "they become ready one after the other, so many a second, a minute or an hour")
  private @Nullable String rate;

  /// Tasks of one transaction.
  private static final int BATCH = 10_000;

  @Override
  public Integer call() {
    try (Session session = connecting.attach("kakehashi queue move")) {
      long moved = 0;
      long last;
      do {
        long most = max > 0 ? max - moved : Long.MAX_VALUE;
        // With a rate it is one statement, because each begins to count its time anew.
        long batch = rate == null ? Math.min(most, BATCH) : most;
        last = session.execute(statement(batch));
        moved += last;
      } while (rate == null && last == BATCH && (max <= 0 || moved < max));
      System.out.println(moved);
    }
    return 0;
  }

  private String statement(long most) {
    return "MOVE "
        + (dead ? "DEAD " : "")
        + (most < Long.MAX_VALUE ? most + " " : "")
        + "FROM QUEUE "
        + SqlName.check(from)
        + " TO QUEUE "
        + SqlName.check(to)
        + (error == null ? "" : " ERROR '" + error.replace("'", "''") + "'")
        + (rate == null ? "" : " RATE '" + rate.replace("'", "''") + "'");
  }
}
