package dev.kakehashi.applications.remote;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.application.ApplicationDefinition.VersionDefinition;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.application.ApplicationSystem.JarContent;
import dev.kakehashi.engine.api.application.DirectAccess;
import dev.kakehashi.engine.api.application.LoadedApplication;
import dev.kakehashi.engine.api.application.LoadedApplication.AggregateCode;
import dev.kakehashi.engine.api.application.LoadedApplication.Invocation;
import dev.kakehashi.engine.api.application.LoadedApplication.ScalarCode;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A version in a process of its own: its functions and calls, and what happens when it dies, loops, or eats its memory.
@Timeout(60)
class OwnProcessTest {
  private static final ProcessReports SILENT =
      new ProcessReports() {
        @Override
        public void logged(long call, String line) {}

        @Override
        public void failed(
            String member, long call, String sqlstate, String message, String stack) {}
      };

  private final MapHost host = new MapHost();
  private Path directory;
  private ApplicationProcesses processes;

  @BeforeEach
  void setUp() throws IOException {
    directory = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-own-process");
    ProcessSettings settings = ProcessSettings.of(directory, "", "");
    processes =
        new ApplicationProcesses(
            new ProcessSettings(
                directory,
                settings.java(),
                settings.classPath(),
                SmallProcess.class.getName(),
                "",
                ""));
  }

  @AfterEach
  void tearDown() throws IOException {
    processes.close();
    Files.delete(directory);
  }

  private LoadedApplication open(ApplicationOptions options) {
    return processes.open(definition(options), List.of(), host, SILENT);
  }

  private static ApplicationDefinition definition(ApplicationOptions options) {
    return new ApplicationDefinition(
        1,
        "public",
        "small",
        "owner",
        new VersionDefinition(2, 1, CodeIsolation.PROCESS, List.of(), SmallSystem.CONTENTS),
        options);
  }

  private static ApplicationOptions options(long timeLimit, long functionTime) {
    return new ApplicationOptions(timeLimit, 1_000, 1 << 20, 2, 1, 1 << 20, 64 << 20, functionTime);
  }

  private static LoadedApplication.Use use(LoadedApplication application) {
    LoadedApplication.Use use = application.use();
    assertNotNull(use);
    return use;
  }

  private static long[] next(ScalarCode code, int count) {
    long[] arguments = new long[count];
    Arrays.setAll(arguments, i -> i * 3L);
    long[] results = new long[count];
    code.callLongs(new long[][] {arguments}, results, count);
    return results;
  }

  @Test
  void shouldTellContentsWithoutRunningCodeHere() {
    assertEquals(
        SmallSystem.CONTENTS,
        processes.inspect("small", List.of(new JarContent("a.jar", new byte[100_000]))));
    EngineException refused =
        assertThrows(EngineException.class, () -> processes.inspect("small", List.of()));
    assertEquals(ErrorCode.INVALID_PARAMETER_VALUE, refused.code());
  }

  @Test
  void shouldRefuseAnOsUserThatIsNotThere() {
    ProcessSettings settings = ProcessSettings.of(directory, "no-such-user", "");
    EngineException refused =
        assertThrows(
            EngineException.class,
            () -> new ApplicationProcesses(settings).inspect("small", List.of()));
    assertEquals(ErrorCode.CANNOT_CONNECT, refused.code());
    assertTrue(
        String.valueOf(refused.getMessage()).contains("application_user"), refused.getMessage());
  }

  @Test
  void shouldCallFunctions() {
    LoadedApplication application = open(ApplicationOptions.DEFAULT);
    try (LoadedApplication.Use use = use(application)) {
      // More rows than a lane has room for.
      long[] results = next(use.scalar(SmallSystem.NEXT), 20_000);
      for (int i = 0; i < results.length; i++) {
        assertEquals(i * 3L + 1, results[i]);
      }
      @Nullable Object[] texts = new Object[2];
      use.scalar(SmallSystem.JOINED)
          .call(new @Nullable Object[][] {{"x", "y".repeat(200_000)}}, texts, 2);
      assertEquals("<x>", texts[0]);
      assertEquals("<" + "y".repeat(200_000) + ">", texts[1]);
      Iterator<@Nullable Object[]> rows =
          use.table(SmallSystem.NUMBERS).open(new @Nullable Object[] {5_000L});
      for (long i = 0; i < 5_000; i++) {
        assertEquals(i, rows.next()[0]);
      }
      assertFalse(rows.hasNext());
      AggregateCode aggregate = use.aggregate(SmallSystem.LONGEST);
      Object one = aggregate.begin();
      for (int i = 0; i < 3; i++) {
        @Nullable Object[] values = new Object[400];
        Arrays.fill(values, "z".repeat(i + 1));
        one = aggregate.add(one, new @Nullable Object[][] {values}, values.length);
      }
      Object other = aggregate.add(aggregate.begin(), new @Nullable Object[][] {{"long one"}}, 1);
      assertEquals("long one", aggregate.result(aggregate.merge(one, other)));
      assertEquals("", aggregate.result(aggregate.begin()));
    }
    assertEquals("next", processes.calls().getFirst().member());
  }

  @Test
  void shouldUseTheEngineInACall() throws Exception {
    LoadedApplication application = open(ApplicationOptions.DEFAULT);
    host.rows.put(7L, new @Nullable Object[] {7L, "seven"});
    Outcome outcome = call(application, SmallSystem.MOVE, 7, host.new MapAccess());
    outcome.await();
    assertEquals(List.of(7L, 107L), outcome.rows);
    assertArrayEquals(new Object[] {107L, "seven"}, host.rows.get(107L));
    Outcome failed = call(application, SmallSystem.MOVE, 8, host.new MapAccess());
    EngineException reason = failed.failure();
    assertEquals("AB123", reason.sqlstate());
    assertEquals("of 8", reason.detail());
  }

  @Test
  void shouldActForCallersAlone() throws Exception {
    LoadedApplication application = open(ApplicationOptions.DEFAULT);
    call(application, SmallSystem.OTHERS, 0, null).await();
    assertEquals(List.of("begin caller SERIALIZABLE", "commit"), host.events);
    assertEquals(
        ErrorCode.INSUFFICIENT_PRIVILEGE,
        call(application, SmallSystem.OTHERS, 1, null).failure().code());
  }

  @Test
  void shouldRefuseMoreRowsAndCallsThanAllowed() throws Exception {
    LoadedApplication application = open(options(30_000, 1_000));
    Outcome many = call(application, SmallSystem.COUNT, 100_000, null);
    assertEquals(ErrorCode.LIMIT_EXCEEDED, many.failure().code());
    assertEquals(1_000, many.rows.size());
    Outcome fits = call(application, SmallSystem.COUNT, 1_000, null);
    fits.await();
    assertEquals(1_000, fits.rows.size());
    Outcome first = call(application, SmallSystem.SPIN, 1, null);
    Outcome second = call(application, SmallSystem.SPIN, 1, null);
    Outcome waits = call(application, SmallSystem.SPIN, 1, null);
    EngineException refused =
        assertThrows(EngineException.class, () -> call(application, SmallSystem.SPIN, 1, null));
    assertEquals(ErrorCode.TOO_MANY_SESSIONS, refused.code());
    waits.running.cancel();
    first.running.cancel();
    second.running.cancel();
    assertEquals(ErrorCode.QUERY_CANCELED, waits.failure().code());
    assertEquals(ErrorCode.QUERY_CANCELED, first.failure().code());
    assertEquals(ErrorCode.QUERY_CANCELED, second.failure().code());
  }

  @Test
  void shouldGoOnAfterExitLoopAndOutOfMemory() {
    LoadedApplication application =
        open(options(10_000, 1_500)); // a busy machine starts a process slowly
    try (LoadedApplication.Use use = use(application)) {
      List<Long> pids = new ArrayList<>(processes.pids());
      for (int function : List.of(SmallSystem.EXIT, SmallSystem.ENDLESS, SmallSystem.EAT)) {
        EngineException failure =
            assertThrows(EngineException.class, () -> next(use.scalar(function), 1));
        assertEquals(
            function == SmallSystem.ENDLESS
                ? ErrorCode.QUERY_CANCELED
                : ErrorCode.CONNECTION_FAILURE,
            failure.code());
        if (function == SmallSystem.EAT) {
          String message = String.valueOf(failure.getMessage());
          assertTrue(
              message.contains("ran out of memory (Java heap space)")
                  && message.contains("option memory"),
              message);
        }
        assertEquals(1, next(use.scalar(SmallSystem.NEXT), 1)[0]);
        assertFalse(pids.containsAll(processes.pids()));
        pids.addAll(processes.pids());
      }
    }
  }

  @Test
  void shouldEndACallThatDoesNotEnd() throws Exception {
    LoadedApplication application = open(options(100, 1_000));
    Outcome outcome = call(application, SmallSystem.SPIN, 1, null);
    assertEquals(ErrorCode.QUERY_CANCELED, outcome.failure().code());
  }

  @Test
  void shouldLoseNothingImmutableByKills() throws Exception {
    long seed = Long.getLong("kakehashi.seed", System.nanoTime());
    int kills = Integer.getInteger("kakehashi.processKills", 2);
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    LoadedApplication application = open(options(60_000, 60_000));
    try (LoadedApplication.Use use = use(application)) {
      AtomicBoolean over = new AtomicBoolean();
      AtomicLong calls = new AtomicLong();
      CompletableFuture<Void> caller =
          CompletableFuture.runAsync(() -> {
            ScalarCode code = use.scalar(SmallSystem.NEXT);
            while (!over.get()) {
              assertEquals(1 + 999 * 3L, next(code, 1_000)[999]);
              calls.incrementAndGet();
            }
          });
      long pid = pidAfter(-1);
      for (int i = 0; i < kills; i++) {
        Thread.sleep(random.nextInt(300));
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
        pid = pidAfter(pid);
        // A call is repeated once. The next kill must not meet the repetition, so a whole call has
        // to end first.
        long before = calls.get();
        Await.until(
            "a whole call after a kill", () -> calls.get() >= before + 2 || caller.isDone());
      }
      over.set(true);
      caller.get();
    }
  }

  private long pidAfter(long before) {
    Await.until("another process", () -> processes.pids().stream().anyMatch(pid -> pid != before));
    return processes.pids().stream().filter(pid -> pid != before).findFirst().orElseThrow();
  }

  @Test
  void shouldEndItsProcessWhenRetired() throws Exception {
    LoadedApplication application = open(ApplicationOptions.DEFAULT);
    ProcessHandle process = ProcessHandle.of(processes.pids().getFirst()).orElseThrow();
    LoadedApplication.Use use = use(application);
    application.retire(30_000);
    assertNull(application.use());
    assertThrows(EngineException.class, () -> call(application, SmallSystem.COUNT, 1, null));
    assertEquals(1, next(use.scalar(SmallSystem.NEXT), 1)[0]);
    use.close();
    process.onExit().get(20, TimeUnit.SECONDS);
  }

  /// How a call went.
  private static final class Outcome implements LoadedApplication.Listener {
    private final List<Object> rows = new ArrayList<>();
    private final CompletableFuture<@Nullable EngineException> end = new CompletableFuture<>();
    private LoadedApplication.Running running = () -> {};

    @Override
    public void row(@Nullable Object[] values) {
      rows.add(java.util.Objects.requireNonNull(values[0]));
    }

    @Override
    public void done() {
      assertTrue(end.complete(null));
    }

    @Override
    public void failed(EngineException reason) {
      assertTrue(end.complete(reason));
    }

    private void await() throws ExecutionException, InterruptedException, TimeoutException {
      assertNull(end.get(20, TimeUnit.SECONDS));
    }

    private EngineException failure()
        throws ExecutionException, InterruptedException, TimeoutException {
      EngineException failure = end.get(20, TimeUnit.SECONDS);
      assertNotNull(failure);
      return failure;
    }
  }

  private static Outcome call(
      LoadedApplication application, int index, long argument, @Nullable DirectAccess access) {
    Outcome outcome = new Outcome();
    outcome.running =
        application.procedure(
            index, new Invocation(new @Nullable Object[] {argument}, "caller", access, 0), outcome);
    return outcome;
  }
}
