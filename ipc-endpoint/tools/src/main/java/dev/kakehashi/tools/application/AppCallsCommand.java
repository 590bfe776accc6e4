package dev.kakehashi.tools.application;

import dev.kakehashi.client.Session;
import dev.kakehashi.tools.bulk.Connecting;
import dev.kakehashi.tools.queue.PrintedRows;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `app calls`: calls that run, and counts since the start of the endpoint.
@Command(
    name = "calls",
    description = "Calls that run, and counts since the start of the endpoint.",
    mixinStandardHelpOptions = true)
public final class AppCallsCommand implements Callable<Integer> {
  @Mixin private Connecting connecting = new Connecting();

  @Override
  public Integer call() {
    try (Session session = connecting.attach("kakehashi app calls")) {
      PrintedRows.of(session, "SELECT * FROM kakehashi_catalog.application_calls ORDER BY 1, 2, 3")
          .print(System.out);
    }
    return 0;
  }
}
