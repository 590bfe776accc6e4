package dev.kakehashi.tools.application;

import dev.kakehashi.client.Session;
import dev.kakehashi.tools.bulk.Connecting;
import dev.kakehashi.tools.queue.PrintedRows;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// `app versions`: versions of an application that are kept, with their jars.
@Command(
    name = "versions",
    description = "Versions of an application that are kept, with their jars.",
    mixinStandardHelpOptions = true)
public final class AppVersionsCommand implements Callable<Integer> {
  @Mixin private Connecting connecting = new Connecting();

  @Parameters(paramLabel = "APPLICATION", description = "as SQL writes it")
  private String application = "";

  @Override
  public Integer call() {
    try (Session session = connecting.attach("kakehashi app versions")) {
      ApplicationName name = ApplicationName.parse(application);
      PrintedRows.of(
              session,
              "SELECT version, is_current, isolation, deployed_at, jar_name, jar_sha256, jar_bytes"
                  + " FROM kakehashi_catalog.application_versions"
                  + " WHERE application_schema = $1 AND application_name = $2"
                  + " ORDER BY version, jar_name",
              name.schema(),
              name.name())
          .print(System.out);
    }
    return 0;
  }
}
