package dev.kakehashi.engine.application;

import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationContents.CallTransaction;
import dev.kakehashi.engine.api.application.ApplicationContents.Field;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionKind;
import dev.kakehashi.engine.api.application.ApplicationContents.FunctionSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.HandlerSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcedureSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcessSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.RouteSignature;
import dev.kakehashi.engine.api.application.ApplicationContents.Volatility;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/// Applications whose jars are lists: each line is `function NAME`, `text NAME` (a function of text), `procedure NAME`, `handler QUEUE`,
/// `route PATH` or `process NAME`. Their code does not run: the engine's catalogue is what is tested with them.
public final class ListedApplications implements ApplicationSystem {
  /// Set to hold [#inspect] until it is counted down.
  public volatile @Nullable CountDownLatch gate;

  /// Counted down by the next [#inspect] that begins.
  public volatile CountDownLatch inspecting = new CountDownLatch(1);

  private volatile List<ApplicationDefinition> defined = List.of();
  private volatile @Nullable ApplicationHost host;
  private volatile boolean closed;

  /// Applications that the catalogue has told last.
  public List<ApplicationDefinition> defined() {
    return defined;
  }

  public ApplicationHost host() {
    return Objects.requireNonNull(host);
  }

  public boolean isClosed() {
    return closed;
  }

  @Override
  public void start(ApplicationHost engine, List<ApplicationDefinition> committed) {
    host = engine;
    defined = committed;
  }

  @Override
  public ApplicationContents inspect(
      String application, List<JarContent> jars, CodeIsolation isolation) {
    inspecting.countDown();
    CountDownLatch held = gate;
    if (held != null) {
      try {
        held.await();
      } catch (InterruptedException interrupted) {
        throw new IllegalStateException(interrupted);
      }
    }
    List<FunctionSignature> functions = new ArrayList<>();
    List<ProcedureSignature> procedures = new ArrayList<>();
    List<RouteSignature> routes = new ArrayList<>();
    List<HandlerSignature> handlers = new ArrayList<>();
    List<ProcessSignature> processes = new ArrayList<>();
    for (JarContent jar : jars) {
      for (String line : new String(jar.bytes(), StandardCharsets.UTF_8).lines().toList()) {
        String[] words = line.split(" ", 2);
        switch (words[0]) {
          case "function" -> functions.add(function(words[1], TypeOid.INT8));
          case "text" -> functions.add(function(words[1], TypeOid.TEXT));
          case "procedure" -> procedures.add(procedure(words[1]));
          case "handler" ->
              handlers.add(new HandlerSignature(words[1], "", 2, 0, "READ COMMITTED", 0));
          case "route" ->
              routes.add(
                  new RouteSignature("GET", words[1], procedure("GET"), Map.of("Gone", 410)));
          case "process" -> processes.add(new ProcessSignature(words[1], true));
          default ->
              throw new EngineException(
                  ErrorCode.INVALID_PARAMETER_VALUE,
                  "%s: \"%s\" is no jar".formatted(application, jar.name()));
        }
      }
    }
    return new ApplicationContents(functions, procedures, routes, handlers, processes);
  }

  private static FunctionSignature function(String name, int oid) {
    return new FunctionSignature(
        name,
        FunctionKind.SCALAR,
        List.of(new Field("a", oid, true)),
        List.of(new Field("", oid, true)),
        Volatility.IMMUTABLE,
        true,
        100,
        0);
  }

  private static ProcedureSignature procedure(String name) {
    return new ProcedureSignature(
        name,
        List.of(new Field("id", TypeOid.INT8, false)),
        List.of(),
        CallTransaction.REQUIRED,
        "READ COMMITTED",
        5,
        0,
        false);
  }

  @Override
  public LoadedApplication load(ApplicationDefinition definition) {
    throw new UnsupportedOperationException("lists have no code");
  }

  @Override
  public void define(List<ApplicationDefinition> committed) {
    defined = committed;
  }

  @Override
  public Map<String, String> disabled() {
    return Map.of();
  }

  @Override
  public List<ApplicationFailure> failures() {
    return List.of(new ApplicationFailure(1000, "shop", 2, "place", 7, "P0001", "x", "at y"));
  }

  @Override
  public List<LogLine> log() {
    return List.of(new LogLine(2000, "shop", 2, 7, "hello"));
  }

  @Override
  public List<CallState> calls() {
    return List.of(new CallState("shop", 1, "place", 1, 10, 2, 3_000_000));
  }

  @Override
  public int loadersAlive() {
    return 0;
  }

  @Override
  public void close() {
    closed = true;
  }
}
