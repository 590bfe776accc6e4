package dev.kakehashi.tools.bulk;

import dev.kakehashi.client.Bulk;
import dev.kakehashi.client.InspectedFile;
import dev.kakehashi.client.SentFile;
import dev.kakehashi.client.Session;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `inspect`: what is in a file.
@Command(
    name = "inspect",
    description = {
      "Shows what is in a file: its columns, its parts, and a CREATE TABLE and a COPY that would take it.",
      "FILE is one of this host, - for standard input, or NAME:PATH below a location of the endpoint's settings."
    },
    mixinStandardHelpOptions = true)
public final class InspectCommand implements Callable<Integer> {
  @Mixin private Connecting connecting = new Connecting();
  @Mixin private CopyArguments options = new CopyArguments();

  @Option(
      names = {"-q", "--quiet"},
      description = "no progress")
  private boolean quiet;

  @Parameters(paramLabel = "FILE", description = "what is looked at")
  private String file = "";

  @Override
  public Integer call() throws IOException {
    Place place = new Place(file);
    try (Session session = connecting.attach("kakehashi inspect")) {
      Bulk bulk = Bulk.of(session);
      try (BulkRun _ = new BulkRun(bulk, quiet)) {
        if (place.isLocation()) {
          show(bulk, place.text());
        } else {
          try (InputStream in =
                  place.isStandard() ? System.in : Files.newInputStream(place.path());
              SentFile sent = bulk.send(in, 0)) {
            show(bulk, sent.location());
          }
        }
      }
    }
    return 0;
  }

  private void show(Bulk bulk, String location) {
    for (InspectedFile item : bulk.inspect(location, options.text(file))) {
      System.out.printf(
          "%-12s %-24s %s%n", item.kind(), item.name(), item.value().replace("\n", "\n  "));
    }
  }
}
