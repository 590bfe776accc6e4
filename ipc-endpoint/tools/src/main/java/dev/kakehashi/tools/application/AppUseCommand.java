package dev.kakehashi.tools.application;

import dev.kakehashi.client.Session;
import dev.kakehashi.tools.bulk.Connecting;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/// `app use`: lets the name mean another version that is kept.
@Command(
    name = "use",
    description = "Lets the name mean another version that is kept.",
    mixinStandardHelpOptions = true)
public final class AppUseCommand implements Callable<Integer> {
  @Mixin private Connecting connecting = new Connecting();

  @Parameters(index = "0", paramLabel = "APPLICATION", description = "as SQL writes it")
  private String application = "";

  @Parameters(index = "1", paramLabel = "VERSION", description = "number of the version")
  private int version;

  @Override
  public Integer call() {
    try (Session session = connecting.attach("kakehashi app use")) {
      ApplicationName name = ApplicationName.parse(application);
      session.execute("ALTER APPLICATION " + name.text() + " VERSION " + version);
    }
    return 0;
  }
}
