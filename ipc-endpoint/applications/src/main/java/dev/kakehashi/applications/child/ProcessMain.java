package dev.kakehashi.applications.child;

import dev.kakehashi.applications.host.NativeApplications;
import dev.kakehashi.applications.link.ContentsCodec;
import dev.kakehashi.applications.link.LinkKind;
import dev.kakehashi.applications.link.LinkLane;
import dev.kakehashi.applications.link.LinkMemory;
import dev.kakehashi.applications.link.MessageReader;
import dev.kakehashi.applications.link.MessageWriter;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.api.application.ApplicationSystem.CallState;
import dev.kakehashi.engine.api.application.ApplicationSystem.JarContent;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.TaskScheduler;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A process of an application. It ends when the endpoint says so, and with the endpoint: its standard input ends then.
public final class ProcessMain {
  private static final int CONTROL = 0;
  private static final int LOST = 3;

  private final LinkMemory memory;
  private final ChildSystem opener;
  private final RemoteHost host;
  private final LinkLane control;
  private final MessageReader request = new MessageReader();
  private final MessageWriter reply = new MessageWriter();
  private final Map<Integer, LaneServer> servers = new HashMap<>();
  private @Nullable ApplicationSystem system;
  private @Nullable LoadedApplication application;
  private LoadedApplication.@Nullable Use use;
  private @Nullable UseStates states;

  /// Opens the system of the process.
  @FunctionalInterface
  public interface ChildSystem {
    /// @param reports what is logged and fails goes to the endpoint by it
    ApplicationSystem open(ChildReports reports);
  }

  private ProcessMain(LinkMemory memory, ChildSystem opener) {
    this.memory = memory;
    this.opener = opener;
    this.host = new RemoteHost(memory);
    this.control = memory.lane(CONTROL, LinkLane.Side.PROCESS);
  }

  /// @param arguments the path of the shared memory
  public static void main(String[] arguments) throws IOException {
    run(
        arguments[0],
        reports -> {
          TaskScheduler scheduler =
              TaskScheduler.start(
                  SchedulerConfig.builder()
                      .workers(Math.clamp(Runtime.getRuntime().availableProcessors(), 1, 4))
                      .build());
          return new NativeApplications(scheduler, null, reports.journal());
        });
  }

  /// Runs until the endpoint says that the process ends.
  ///
  /// @param link path of the shared memory
  public static void run(String link, ChildSystem opener) throws IOException {
    Thread.ofPlatform().name("endpoint").daemon().start(ProcessMain::watchEndpoint);
    new ProcessMain(LinkMemory.open(Path.of(link)), opener).serve();
  }

  private static void watchEndpoint() {
    try {
      while (System.in.read() >= 0) {
        // The endpoint writes nothing.
      }
    } catch (IOException e) {
      System.err.println("the endpoint cannot be watched: " + e.getMessage());
    }
    Runtime.getRuntime().halt(LOST);
  }

  private void serve() {
    boolean stopped = false;
    while (!stopped) {
      control.receive(request, Integer.MAX_VALUE, -1);
      byte kind = request.get();
      reply.begin(LinkKind.DONE);
      try {
        handle(kind);
      } catch (EngineException e) {
        reply.begin(LinkKind.FAILED).putFailure(e);
      } catch (RuntimeException | LinkageError e) {
        e.printStackTrace();
        reply
            .begin(LinkKind.FAILED)
            .putFailure(new EngineException(ErrorCode.INTERNAL_ERROR, String.valueOf(e)));
      }
      control.send(reply);
      stopped = kind == LinkKind.STOP;
    }
    ApplicationSystem ending = system;
    if (ending != null) {
      ending.close();
    }
    Runtime.getRuntime().halt(0);
  }

  private void handle(byte kind) {
    switch (kind) {
      case LinkKind.START -> start(false);
      case LinkKind.INSPECT -> start(true);
      case LinkKind.LANE -> lane(request.getInt());
      case LinkKind.CANCEL -> {
        LaneServer server = servers.get(request.getInt());
        if (server != null) {
          server.cancel(request.getLong());
        }
      }
      case LinkKind.COUNTS -> counts();
      case LinkKind.STOP -> {}
      default -> throw MessageReader.malformed("is of kind " + kind);
    }
  }

  private void start(boolean inspect) {
    ApplicationDefinition definition = ContentsCodec.definition(request);
    List<JarContent> jars =
        request.getList(reader -> new JarContent(reader.getText(), reader.getBytes()));
    ApplicationSystem opened = opener.open(new ChildReports(host));
    system = opened;
    if (inspect) {
      opened.start(host, List.of());
      reply.begin(LinkKind.CONTENTS);
      ContentsCodec.put(reply, opened.inspect(definition.name(), jars, CodeIsolation.NONE));
      return;
    }
    host.setJars(definition, jars);
    opened.start(host, List.of(definition));
    LoadedApplication loaded = opened.load(definition);
    LoadedApplication.Use used = loaded.use();
    if (used == null) {
      throw new EngineException(ErrorCode.INTERNAL_ERROR, "a version that begins has ended");
    }
    application = loaded;
    use = used;
    states = new UseStates(loaded, used);
    reply.begin(LinkKind.CONTENTS);
    ContentsCodec.put(reply, loaded.contents());
  }

  private void lane(int number) {
    LoadedApplication loaded = application;
    LoadedApplication.Use used = use;
    UseStates kept = states;
    if (loaded == null || used == null || kept == null) {
      throw MessageReader.malformed("opens a lane before the application has begun");
    }
    LaneServer server =
        new LaneServer(memory.lane(number, LinkLane.Side.PROCESS), loaded, used, kept, host);
    servers.put(number, server);
    Thread.ofPlatform().name("lane " + number).daemon().start(server);
  }

  private void counts() {
    ApplicationSystem running = system;
    List<CallState> states = running == null ? List.of() : running.calls();
    reply.putInt(states.size());
    for (CallState state : states) {
      reply
          .putText(state.member())
          .putInt(state.running())
          .putLong(state.calls())
          .putLong(state.failures())
          .putLong(state.nanos());
    }
  }
}
