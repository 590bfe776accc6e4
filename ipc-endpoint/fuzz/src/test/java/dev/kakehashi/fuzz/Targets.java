package dev.kakehashi.fuzz;

import dev.kakehashi.engine.store.log.LogTarget;
import dev.kakehashi.engine.type.json.JsonTarget;
import dev.kakehashi.rest.job.http.HttpTarget;
import dev.kakehashi.server.FramesTarget;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;

/// Targets by the name that `make fuzz TARGET=` and the corpora use. Stateless.
public final class Targets {
  private static final Map<String, Callable<FuzzTarget>> BY_NAME =
      new TreeMap<>(
          Map.of(
              "sql", SqlTarget::new,
              "frames", FramesTarget::new,
              "csv", () -> new DelimitedTarget(true),
              "text", () -> new DelimitedTarget(false),
              "parquet", RowsTarget::parquet,
              "arrow", RowsTarget::arrow,
              "json", JsonTarget::new,
              "http", HttpTarget::new,
              "archive", ArchiveTarget::new,
              "log", LogTarget::new));

  private Targets() {}

  /// All of them.
  static Map<String, Callable<FuzzTarget>> all() {
    Map<String, Callable<FuzzTarget>> all = new TreeMap<>(BY_NAME);
    all.put("jar", JarTarget::new);
    return all;
  }

  /// Opens a target.
  ///
  /// @throws IllegalArgumentException there is none of this name
  static FuzzTarget open(String name) throws Exception {
    Callable<FuzzTarget> target = all().get(name);
    if (target == null) {
      throw new IllegalArgumentException(
          "there is no fuzz target \"%s\", but %s".formatted(name, all().keySet()));
    }
    return target.call();
  }
}
