package dev.kakehashi.tools.queue;

import dev.kakehashi.client.Session;
import dev.kakehashi.tools.bulk.Connecting;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `queue move`: puts tasks of one queue into another.
@Command(
    name = "move",
    description = {
      "Moves tasks that are not lent to the end of another queue, and prints how many.",
      "So dead letters are tried again: at the rate of the queue that gets them."
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

  @Override
  public Integer call() {
    try (Session session = connecting.attach("kakehashi queue move")) {
      System.out.println(
          session.execute(
              "MOVE "
                  + (dead ? "DEAD " : "")
                  + (max > 0 ? max + " " : "")
                  + "FROM QUEUE "
                  + SqlName.check(from)
                  + " TO QUEUE "
                  + SqlName.check(to)));
    }
    return 0;
  }
}
