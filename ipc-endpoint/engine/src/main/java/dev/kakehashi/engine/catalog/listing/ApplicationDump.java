package dev.kakehashi.engine.catalog.listing;

import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.application.ApplicationDefinition.Jar;
import dev.kakehashi.engine.api.application.ApplicationDefinition.VersionDefinition;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.DeployedApplication;
import dev.kakehashi.engine.type.queue.QueueDurations;
import dev.kakehashi.engine.type.text.Quoting;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/// Statements that deploy all applications again, each in its current version, with the bytes of its jars.
final class ApplicationDump {
  private ApplicationDump() {}

  static void addAll(CatalogSnapshot catalog, RightsDefinitions.Sink sink) {
    for (DeployedApplication each : catalog.applications().all()) {
      sink.add("application", each.schema(), each.name(), definition(catalog, each));
    }
  }

  private static String definition(CatalogSnapshot catalog, DeployedApplication application) {
    VersionDefinition version = application.version().definition();
    List<String> jars = new ArrayList<>();
    for (Jar jar : version.jars()) {
      byte[] bytes = catalog.applications().jar(jar.sha256());
      jars.add(
          "bytea '\\x%s' AS %s"
              .formatted(
                  bytes == null ? "" : HexFormat.of().formatHex(bytes),
                  Quoting.literal(jar.name())));
    }
    List<String> options = options(application.options());
    if (version.isolation() == CodeIsolation.PROCESS) {
      options.add("isolation = 'process'");
    }
    return "CREATE APPLICATION %s.%s FROM %s%s"
        .formatted(
            Quoting.identifier(application.schema()),
            Quoting.identifier(application.name()),
            String.join(", ", jars),
            options.isEmpty() ? "" : " WITH (" + String.join(", ", options) + ")");
  }

  /// Options that are not the default.
  private static List<String> options(ApplicationOptions is) {
    ApplicationOptions usual = ApplicationOptions.DEFAULT;
    List<String> said = new ArrayList<>();
    duration(said, "time_limit", is.timeLimitMillis(), usual.timeLimitMillis());
    number(said, "max_rows", is.maxRows(), usual.maxRows());
    number(said, "max_bytes", is.maxBytes(), usual.maxBytes());
    number(said, "max_calls", is.maxCalls(), usual.maxCalls());
    number(said, "max_waiting", is.maxWaiting(), usual.maxWaiting());
    number(said, "max_stack", is.maxStackBytes(), usual.maxStackBytes());
    number(said, "memory", is.memoryBytes(), usual.memoryBytes());
    duration(said, "function_time_limit", is.functionTimeMillis(), usual.functionTimeMillis());
    return said;
  }

  private static void duration(List<String> said, String name, long millis, long usual) {
    if (millis != usual) {
      said.add(name + " = '" + QueueDurations.text(millis) + "'");
    }
  }

  private static void number(List<String> said, String name, long value, long usual) {
    if (value != usual) {
      said.add(name + " = " + value);
    }
  }
}
