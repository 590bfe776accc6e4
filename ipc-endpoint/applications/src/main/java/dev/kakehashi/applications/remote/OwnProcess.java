package dev.kakehashi.applications.remote;

import dev.kakehashi.applications.link.ContentsCodec;
import dev.kakehashi.applications.link.LinkKind;
import dev.kakehashi.applications.link.LinkLane;
import dev.kakehashi.applications.link.LinkMemory;
import dev.kakehashi.applications.link.MessageReader;
import dev.kakehashi.applications.link.MessageWriter;
import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.engine.api.application.ApplicationSystem.JarContent;
import dev.kakehashi.engine.api.application.DirectAccess;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One process of the operating system that runs the code of one version of an application, and the lanes to it. Thread-safe.
///
/// It ends by [#stop], [#kill], or by itself; then every lane is shut. The process ends, too, when the endpoint does, because its standard
/// input ends. The memory is unmapped when the last thread that uses a lane has left it.
final class OwnProcess {
  /// The endpoint's control lane, the process' control lane, lanes of calls, lanes of the process.
  private static final int CONTROL = 0;

  private static final int REQUESTS = 1;

  /// Exit status of a JVM that lacks memory.
  private static final int OUT_OF_MEMORY = 3;

  private static final int FIRST_CALL = 2;
  static final int FIRST_OF_PROCESS = LinkMemory.LANES / 2;
  private static final long START_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long CONTROL_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long STOP_SECONDS = 5;
  static final long MOST_MESSAGE = 1L << 28;
  private static final Logger LOG = LoggerFactory.getLogger(OwnProcess.class);

  private final String name;
  private final Process process;
  private final LinkMemory memory;
  private final ApplicationHost host;
  private final AllowedUsers users;
  private final ProcessReports reports;
  private final ProcessGroup group;
  private final long memoryBytes; // of its heap, at most
  private final LinkLane control;
  private final MessageWriter controlRequest = new MessageWriter();
  private final MessageReader controlReply = new MessageReader();
  private final ConcurrentLinkedDeque<LinkLane> free = new ConcurrentLinkedDeque<>();
  private final ConcurrentMap<Integer, LinkLane> lanes = new ConcurrentHashMap<>();
  private final ConcurrentMap<Integer, HostSession> sessions = new ConcurrentHashMap<>();
  private final ConcurrentMap<Integer, Thread> serving = new ConcurrentHashMap<>();
  private final AtomicInteger nextCall = new AtomicInteger(FIRST_CALL);

  /// Users of the memory: the process itself counts as one.
  private final AtomicInteger uses = new AtomicInteger(1);

  private volatile String reason = "";
  private volatile boolean killed;
  private volatile boolean dead;

  private OwnProcess(
      String name,
      Process process,
      LinkMemory memory,
      ApplicationHost host,
      AllowedUsers users,
      ProcessReports reports,
      ProcessGroup group,
      long memoryBytes) {
    this.name = name;
    this.process = process;
    this.memory = memory;
    this.host = host;
    this.users = users;
    this.reports = reports;
    this.group = group;
    this.memoryBytes = memoryBytes;
    this.control = lane(CONTROL);
  }

  /// Begins a process and waits until it can be used.
  ///
  /// @param inspect only its contents are wanted: nothing of the application begins
  /// @param ended runs once when it has ended, whatever the reason
  /// @throws EngineException what the application's definition says; CANNOT_CONNECT if the process does not begin
  static Started start(
      ProcessSettings settings,
      ApplicationDefinition definition,
      List<JarContent> jars,
      boolean inspect,
      ApplicationHost host,
      ProcessReports reports,
      Runnable ended) {
    String name = definition.schema() + "." + definition.name();
    OwnProcess own = null;
    Path file = settings.directory().resolve("application-" + UUID.randomUUID());
    try {
      Files.createDirectories(settings.directory());
      LinkMemory memory = LinkMemory.create(file);
      try {
        memory.reserve(CONTROL);
        memory.reserve(REQUESTS);
        if (settings.hasOtherUser()) {
          give(file, settings.user());
        }
        ProcessGroup group = ProcessGroup.open(settings.cgroup(), definition);
        Process process = ProcessCommand.start(settings, definition.options(), file);
        group.add(process.pid());
        own =
            new OwnProcess(
                name,
                process,
                memory,
                host,
                new AllowedUsers(definition.owner()),
                reports,
                group,
                definition.options().memoryBytes());
      } finally {
        if (own == null) {
          memory.close();
        }
      }
      // The process may die at once, and its own use end with it, while this thread still waits at
      // a lane.
      own.uses.incrementAndGet();
      try {
        own.watch(ended);
        return new Started(own, own.begin(definition, jars, inspect));
      } finally {
        own.leave();
      }
    } catch (IOException e) {
      throw new EngineException(
          ErrorCode.CANNOT_CONNECT,
          "the process of application \"" + name + "\" could not begin: " + e.getMessage(),
          e);
    } catch (RuntimeException e) {
      if (own != null) {
        own.kill("it did not begin");
      }
      throw e;
    } finally {
      deleted(file);
    }
  }

  /// @param contents what the process has found in its jars
  record Started(OwnProcess process, ApplicationContents contents) {}

  /// Lets an OS user open a file that he has as a descriptor: he cannot reach its directory.
  private static void give(Path file, String user) throws IOException {
    try {
      Files.setOwner(
          file, file.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(user));
    } catch (UserPrincipalNotFoundException e) {
      throw new IOException("the setting application_user names no OS user: " + user, e);
    } catch (FileSystemException e) {
      throw new IOException(
          "the endpoint may not have processes of OS user " + user + ": it is not root's", e);
    }
  }

  /// Both sides have it mapped: it needs no name any more.
  private static void deleted(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      LOG.warn("could not delete {}", file, e);
    }
  }

  private LinkLane lane(int number) {
    LinkLane lane = memory.lane(number, LinkLane.Side.ENDPOINT);
    lanes.put(number, lane);
    if (dead) {
      lane.shut();
    }
    return lane;
  }

  private void watch(Runnable ended) {
    ProcessOutput output = ProcessOutput.read(name, process);
    // Process.onExit runs in the common pool, whose threads may be those that wait for the end.
    Thread.ofPlatform()
        .name("end of process of " + name)
        .daemon()
        .start(() -> awaitEnd(output, ended));
    serve(REQUESTS, lane(REQUESTS));
  }

  private void awaitEnd(ProcessOutput output, Runnable ended) {
    while (true) {
      try {
        died(process.waitFor(), output, ended);
        return;
      } catch (InterruptedException e) {
        LOG.debug("the end of {} is still waited for", name, e);
      }
    }
  }

  private void died(int status, ProcessOutput output, Runnable ended) {
    if (reason.isEmpty()) {
      reason = reason(status, output);
    }
    dead = true;
    LOG.info("process {} of application {} has ended: {}", process.pid(), name, reason);
    lanes.values().forEach(LinkLane::shut);
    sessions.values().forEach(HostSession::cancel);
    serving.values().forEach(Thread::interrupt);
    group.close();
    leave();
    ended.run();
  }

  private String reason(int status, ProcessOutput output) {
    if (status == OUT_OF_MEMORY) {
      String lacked = output.lackedMemory();
      if (!lacked.isEmpty()) {
        return "it ran out of memory (%s): the option memory gives its heap %d MB"
            .formatted(lacked, memoryBytes >> 20);
      }
    }
    if (group.hasRunOutOfMemory()) {
      return "it ran out of memory: its cgroup has %d MB"
          .formatted(ProcessGroup.memoryBytes(memoryBytes) >> 20);
    }
    return status > 128
        ? "it was ended by signal " + (status - 128)
        : "it ended with status " + status;
  }

  private ApplicationContents begin(
      ApplicationDefinition definition, List<JarContent> jars, boolean inspect) {
    synchronized (control) {
      controlRequest.begin(inspect ? LinkKind.INSPECT : LinkKind.START);
      ContentsCodec.put(controlRequest, definition);
      controlRequest.putInt(jars.size());
      for (JarContent jar : jars) {
        controlRequest.putText(jar.name()).putBytes(jar.bytes());
      }
      ask(START_NANOS, LinkKind.CONTENTS);
      return ContentsCodec.contents(controlReply);
    }
  }

  /// Sends what has been written to the control lane, under its lock.
  private void ask(long nanos, byte expected) {
    try {
      control.send(controlRequest);
      control.receive(controlReply, MOST_MESSAGE, nanos);
    } catch (LinkLane.ShutException e) {
      throw gone();
    } catch (LinkLane.LateException e) {
      kill("it did not answer within " + TimeUnit.NANOSECONDS.toSeconds(nanos) + " s");
      throw gone();
    }
    byte kind = controlReply.get();
    if (kind == LinkKind.FAILED) {
      throw controlReply.getFailure();
    }
    if (kind != expected) {
      throw MessageReader.malformed("is of kind " + kind);
    }
  }

  /// Error for a caller whose process has gone.
  EngineException gone() {
    EngineException failure =
        new EngineException(
            ErrorCode.CONNECTION_FAILURE,
            "the process of application \""
                + name
                + "\" has ended"
                + (reason.isEmpty() ? "" : ": " + reason));
    return failure.withHint("It begins again by itself. Its log says more.");
  }

  boolean isDead() {
    return dead;
  }

  /// Whether nothing can be asked of it any more.
  boolean isEnding() {
    return dead || killed;
  }

  long pid() {
    return process.pid();
  }

  private boolean enter() {
    while (true) {
      int count = uses.get();
      if (count == 0) {
        return false;
      }
      if (uses.compareAndSet(count, count + 1)) {
        return true;
      }
    }
  }

  private void leave() {
    if (uses.decrementAndGet() == 0) {
      memory.close();
    }
  }

  /// Takes a lane for a call; blocks while the process makes a thread for a new one.
  ///
  /// @throws EngineException CONNECTION_FAILURE, OUT_OF_SLOTS, DISK_FULL
  LinkLane acquire() {
    if (isEnding() || !enter()) {
      throw gone();
    }
    try {
      LinkLane lane = free.pollFirst();
      return lane == null ? opened() : lane;
    } catch (RuntimeException e) {
      leave();
      throw e;
    }
  }

  private LinkLane opened() {
    synchronized (control) {
      int number = nextCall.get();
      if (number == FIRST_OF_PROCESS) {
        throw new EngineException(
            ErrorCode.OUT_OF_SLOTS, "application \"" + name + "\" has too many calls at a time");
      }
      reserve(number);
      LinkLane lane = lane(number);
      controlRequest.begin(LinkKind.LANE).putInt(number);
      ask(CONTROL_NANOS, LinkKind.DONE);
      nextCall.set(number + 1);
      return lane;
    }
  }

  private void reserve(int number) {
    try {
      memory.reserve(number);
    } catch (IOException e) {
      throw new EngineException(
          ErrorCode.DISK_FULL,
          "no shared memory for a call of \"" + name + "\": " + e.getMessage(),
          e);
    }
  }

  /// Gives a lane back, whose call is over.
  void release(LinkLane lane) {
    if (!isEnding()) {
      free.addFirst(lane);
    }
    leave();
  }

  /// Does for the code in the process what it asks of the engine by a lane of a call.
  HostSession session(LinkLane lane, String user, @Nullable DirectAccess access) {
    users.enter(user);
    HostSession session = new HostSession(lane, host, users, access);
    sessions.put(lane.number(), session);
    return session;
  }

  void endSession(LinkLane lane, String user, HostSession session) {
    sessions.remove(lane.number());
    users.leave(user);
    session.close();
  }

  /// Cancels a call in the process; nothing happens if it has ended.
  void cancel(LinkLane lane, long call) {
    synchronized (control) {
      if (!dead && enter()) {
        try {
          controlRequest.begin(LinkKind.CANCEL).putInt(lane.number()).putLong(call);
          ask(CONTROL_NANOS, LinkKind.DONE);
        } finally {
          leave();
        }
      }
    }
  }

  /// Asks the process for its counts; [MessageReader] is read under the lock of the lane.
  <T> T counts(java.util.function.Function<MessageReader, T> read) {
    synchronized (control) {
      if (dead || !enter()) {
        throw gone();
      }
      try {
        controlRequest.begin(LinkKind.COUNTS);
        ask(CONTROL_NANOS, LinkKind.DONE);
        return read.apply(controlReply);
      } finally {
        leave();
      }
    }
  }

  /// Serves a lane by which the process asks, on a thread of its own, until it is shut.
  private void serve(int number, LinkLane lane) {
    if (!enter()) {
      return;
    }
    // The process writes first.
    lane.hand(0);
    HostSession session = new HostSession(lane, host, users, null);
    if (number != REQUESTS) {
      sessions.put(number, session);
    }
    Thread thread =
        Thread.ofPlatform()
            .name("application " + name + " lane " + number)
            .daemon()
            .unstarted(() -> serving(number, lane, session));
    serving.put(number, thread);
    thread.start();
  }

  private void serving(int number, LinkLane lane, HostSession session) {
    MessageReader request = new MessageReader();
    MessageWriter reply = new MessageWriter();
    try {
      while (!dead) {
        lane.receive(request, MOST_MESSAGE, -1);
        byte kind = request.get();
        if (number == REQUESTS) {
          requested(kind, request, reply.begin(LinkKind.DONE));
          lane.send(reply);
        } else {
          session.serve(kind, request);
        }
      }
    } catch (LinkLane.ShutException e) {
      LOG.debug("lane {} of {} has been shut", number, name);
    } catch (InterruptedException e) {
      LOG.debug("lane {} of {} has been given up", number, name);
    } catch (RuntimeException e) {
      LOG.warn("lane {} of the process of application {} failed", number, name, e);
      kill("it has sent what it may not send: " + e.getMessage());
    } finally {
      serving.remove(number);
      sessions.remove(number);
      closed(session);
      leave();
    }
  }

  private void closed(HostSession session) {
    try {
      session.close();
    } catch (EngineException e) {
      LOG.warn("could not roll back what a process of {} had begun", name, e);
    }
  }

  private void requested(byte kind, MessageReader request, MessageWriter reply) {
    try {
      switch (kind) {
        case LinkKind.OPEN -> {
          int number = request.getInt();
          if (number < FIRST_OF_PROCESS
              || number >= LinkMemory.LANES
              || lanes.containsKey(number)) {
            throw MessageReader.malformed("opens lane " + number);
          }
          reserve(number);
          serve(number, lane(number));
        }
        case LinkKind.CANCEL_ACCESS -> {
          HostSession session = sessions.get(request.getInt());
          if (session != null) {
            session.cancel();
          }
        }
        case LinkKind.LOGGED -> reports.logged(request.getLong(), request.getText());
        case LinkKind.FAILURE ->
            reports.failed(
                request.getText(),
                request.getLong(),
                request.getText(),
                request.getText(),
                request.getText());
        default -> throw MessageReader.malformed("is of kind " + kind);
      }
    } catch (EngineException e) {
      reply.begin(LinkKind.FAILED).putFailure(e);
    }
  }

  /// Ends the process at once.
  void kill(String why) {
    if (reason.isEmpty()) {
      reason = why;
    }
    killed = true;
    process.destroyForcibly();
  }

  /// Lets the process end what it has, at most some seconds; blocks.
  void stop() {
    if (dead) {
      return;
    }
    reason = "its version is not used any more";
    try {
      synchronized (control) {
        if (enter()) {
          try {
            controlRequest.begin(LinkKind.STOP);
            ask(CONTROL_NANOS, LinkKind.DONE);
          } finally {
            leave();
          }
        }
      }
      if (process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
        return;
      }
    } catch (EngineException e) {
      LOG.debug("process of {} ended while it was asked to", name, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.destroyForcibly();
  }
}
