package dev.kakehashi.tools.queue;

import dev.kakehashi.client.Session;
import dev.kakehashi.tools.bulk.Connecting;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// `queue complete`: ends leases.
@Command(
    name = "complete",
    description = "Completes tasks by the tokens that receive has printed, all of them or none.",
    mixinStandardHelpOptions = true)
public final class QueueCompleteCommand implements Callable<Integer> {
  @Mixin private Connecting connecting = new Connecting();

  @Parameters(arity = "1..*", paramLabel = "TOKEN", description = "token of a lease")
  private List<String> tokens = List.of();

  @Override
  public Integer call() {
    for (String token : tokens) {
      if (!token.matches("[A-Za-z0-9_-]{1,64}")) {
        throw new IllegalArgumentException("\"" + token + "\" is no token of a lease");
      }
    }
    try (Session session = connecting.attach("kakehashi queue complete")) {
      PrintedRows.of(session, "SELECT complete($1::text[])", "{" + String.join(",", tokens) + "}");
    }
    return 0;
  }
}
