package dev.kakehashi.tools.application;

import dev.kakehashi.client.Session;
import dev.kakehashi.tools.bulk.Connecting;
import dev.kakehashi.tools.queue.PrintedRows;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `app logs`: what an application has logged, or how its calls have failed.
@Command(
    name = "logs",
    description = "The last lines that an application has logged, or how its calls have failed.",
    mixinStandardHelpOptions = true)
public final class AppLogsCommand implements Callable<Integer> {
  @Mixin private Connecting connecting = new Connecting();

  @Parameters(paramLabel = "APPLICATION", description = "as SQL writes it")
  private String application = "";

  @Option(names = "--errors", description = "failures, with their stacks")
  private boolean errors;

  @Option(
      names = {"-n", "--lines"},
      paramLabel = "N",
      defaultValue = "100",
      description = "at most so many, the last ones (default ${DEFAULT-VALUE})")
  private int lines;

  @Override
  public Integer call() {
    ApplicationName name = ApplicationName.parse(application);
    try (Session session = connecting.attach("kakehashi app logs")) {
      PrintedRows rows =
          PrintedRows.of(
              session,
              "SELECT * FROM (SELECT * FROM kakehashi_catalog."
                  + (errors ? "application_errors" : "application_log")
                  + " WHERE application_name = $1 ORDER BY 1 DESC LIMIT $2) AS last ORDER BY 1",
              name.schema() + "." + name.name(),
              (long) lines);
      if (errors) {
        rows.printDown(System.out);
      } else {
        rows.print(System.out);
      }
    }
    return 0;
  }
}
