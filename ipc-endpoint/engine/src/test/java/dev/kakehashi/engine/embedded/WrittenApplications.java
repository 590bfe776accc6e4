package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// Applications whose code is a part of the test: the bytes of a jar are its name.
final class WrittenApplications implements ApplicationSystem {
  private final Map<String, WrittenApplication> byName = new ConcurrentHashMap<>();
  private final Map<Long, Version> loaded = new ConcurrentHashMap<>();
  private @Nullable ApplicationHost host;

  /// By name with schema, with the reason.
  final Map<String, String> disabled = new ConcurrentHashMap<>();

  /// Uses that have not been closed.
  final AtomicInteger uses = new AtomicInteger();

  /// Text after FROM in CREATE APPLICATION.
  String jar(String name, WrittenApplication application) {
    byName.put(name, application);
    return "bytea '\\x"
        + HexFormat.of().formatHex(name.getBytes(StandardCharsets.UTF_8))
        + "' as '"
        + name
        + ".jar'";
  }

  private WrittenApplication written(byte[] jar) {
    WrittenApplication found = byName.get(new String(jar, StandardCharsets.UTF_8));
    if (found == null) {
      throw new EngineException(ErrorCode.INVALID_PARAMETER_VALUE, "no jar");
    }
    return found;
  }

  @Override
  public void start(ApplicationHost newHost, List<ApplicationDefinition> committed) {
    host = newHost;
  }

  @Override
  public ApplicationContents inspect(
      String application, List<JarContent> jars, CodeIsolation isolation) {
    return written(jars.getFirst().bytes()).contents();
  }

  @Override
  public LoadedApplication load(ApplicationDefinition definition) {
    return loaded.computeIfAbsent(
        definition.version().versionId(),
        _ ->
            new Version(
                written(
                    java.util.Objects.requireNonNull(host)
                        .jar(definition.version().jars().getFirst()))));
  }

  @Override
  public void define(List<ApplicationDefinition> committed) {
    loaded.keySet().retainAll(committed.stream().map(each -> each.version().versionId()).toList());
  }

  @Override
  public Map<String, String> disabled() {
    return Map.copyOf(disabled);
  }

  @Override
  public List<ApplicationFailure> failures() {
    return List.of();
  }

  @Override
  public List<LogLine> log() {
    return List.of();
  }

  @Override
  public List<CallState> calls() {
    return List.of();
  }

  @Override
  public int loadersAlive() {
    return loaded.size();
  }

  @Override
  public void close() {}

  private final class Version implements LoadedApplication {
    private final WrittenApplication code;

    Version(WrittenApplication code) {
      this.code = code;
    }

    @Override
    public ApplicationContents contents() {
      return code.contents();
    }

    @Override
    public Use use() {
      uses.incrementAndGet();
      return new Use() {
        @Override
        public ScalarCode scalar(int index) {
          return (ScalarCode) code.function(index);
        }

        @Override
        public TableCode table(int index) {
          return (TableCode) code.function(index);
        }

        @Override
        public AggregateCode aggregate(int index) {
          return (AggregateCode) code.function(index);
        }

        @Override
        public void close() {
          uses.decrementAndGet();
        }
      };
    }

    @Override
    public Running procedure(int index, Invocation invocation, Listener listener) {
      return code.call(index, invocation, listener);
    }

    @Override
    public Running route(int index, Invocation invocation, Listener listener) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void retire(long drainMillis) {}
  }
}
