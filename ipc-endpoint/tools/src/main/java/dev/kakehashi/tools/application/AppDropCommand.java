package dev.kakehashi.tools.application;

import dev.kakehashi.client.Session;
import dev.kakehashi.tools.bulk.Connecting;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `app drop`: removes an application with all of its versions.
@Command(
    name = "drop",
    description = "Removes an application with all of its versions.",
    mixinStandardHelpOptions = true)
public final class AppDropCommand implements Callable<Integer> {
  @Mixin private Connecting connecting = new Connecting();

  @Parameters(paramLabel = "APPLICATION", description = "as SQL writes it")
  private String application = "";

  @Option(names = "--cascade", description = "with views, defaults and indexes that use it")
  private boolean cascade;

  @Override
  public Integer call() {
    try (Session session = connecting.attach("kakehashi app drop")) {
      ApplicationName name = ApplicationName.parse(application);
      session.execute("DROP APPLICATION " + name.text() + (cascade ? " CASCADE" : ""));
    }
    return 0;
  }
}
