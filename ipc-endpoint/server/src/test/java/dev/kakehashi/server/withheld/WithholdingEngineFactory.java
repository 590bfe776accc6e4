package dev.kakehashi.server.withheld;

import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.catalog.ShownSetting;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.server.EmbeddedEngineFactory;
import dev.kakehashi.server.EngineFactory;
import dev.kakehashi.server.Settings;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Makes the engine `withholding`, which lacks what the file says that the environment variable names.
public final class WithholdingEngineFactory implements EngineFactory {
  /// Path of the file.
  public static final String FILE_VARIABLE = "KAKEHASHI_WITHHELD";

  private final EmbeddedEngineFactory embedded = new EmbeddedEngineFactory();
  private final @Nullable Path file;

  /// For the service loader.
  public WithholdingEngineFactory() {
    String path = System.getenv(FILE_VARIABLE);
    this.file = path == null ? null : Path.of(path);
  }

  /// @param file in the place of the one that the environment names
  public WithholdingEngineFactory(Path file) {
    this.file = file;
  }

  @Override
  public String name() {
    return WithholdingEngine.NAME;
  }

  @Override
  public Engine open(Settings settings, TaskScheduler scheduler) {
    return new WithholdingEngine(
        embedded.open(settings, scheduler),
        Objects.requireNonNull(file, FILE_VARIABLE + " is not set"));
  }

  @Override
  public Set<String> changeable() {
    return embedded.changeable();
  }

  @Override
  public void change(Engine engine, Settings settings) {
    embedded.change(((WithholdingEngine) engine).behind(), settings);
  }

  @Override
  public void show(Engine engine, List<ShownSetting> settings, ShownSetting.Keeper host) {
    embedded.show(((WithholdingEngine) engine).behind(), settings, host);
  }
}
