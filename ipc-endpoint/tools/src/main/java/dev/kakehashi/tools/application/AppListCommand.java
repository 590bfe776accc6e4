package dev.kakehashi.tools.application;

import dev.kakehashi.client.Session;
import dev.kakehashi.tools.bulk.Connecting;
import dev.kakehashi.tools.queue.PrintedRows;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `app list`: applications, their versions and limits.
@Command(
    name = "list",
    description = "Applications, their versions and limits.",
    mixinStandardHelpOptions = true)
public final class AppListCommand implements Callable<Integer> {
  @Mixin private Connecting connecting = new Connecting();

  @Override
  public Integer call() {
    try (Session session = connecting.attach("kakehashi app list")) {
      PrintedRows.of(session, "SELECT * FROM kakehashi_catalog.applications ORDER BY 1, 2")
          .print(System.out);
    }
    return 0;
  }
}
