package dev.kakehashi.tools.replay;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.FrameSession;
import dev.kakehashi.protocol.archive.ArchiveReader;
import dev.kakehashi.protocol.archive.ArchiveRecord;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `replay`: the requests of an archive against an endpoint.
@Command(
    name = "replay",
    description = {
      "Sends the requests of an archive (setting \"archive\" of an endpoint) to an endpoint, in their order, and compares the answers.",
      "Exit code 0: all answers are those of then; 3: some differ.",
      "The environment variable KAKEHASHI_PASSWORD is the password of --user."
    },
    mixinStandardHelpOptions = true)
public final class ReplayCommand implements Callable<Integer> {
  private static final int SOME_DIFFER = 3;

  @Option(
      names = {"-R", "--runtime-directory"},
      paramLabel = "DIRECTORY",
      required = true,
      description = "runtime directory of the endpoint")
  private Path runtimeDirectory = Path.of("");

  @Option(
      names = "--requirepeer",
      paramLabel = "USER",
      description =
          "OS user, by name or number, that the endpoint has to run as (default: our own)")
  private String requiredPeer = "";

  @Option(
      names = "--user",
      paramLabel = "NAME",
      description = "user of the engine for all sessions; otherwise each session's of then")
  private @Nullable String user;

  @Option(names = "--paced", description = "keep the pace of then; otherwise as fast as possible")
  private boolean paced;

  @Parameters(
      paramLabel = "ARCHIVE",
      description = "directory of the archive, <data directory>/archive")
  private Path archive = Path.of("");

  @Override
  public Integer call() throws Exception {
    Replay.Summary summary;
    int cutOff;
    try (ArchiveReader reader = new ArchiveReader(archive)) {
      summary = new Replay(this::attach, paced ? new Pace() : micros -> {}).run(reader);
      cutOff = reader.cutOffFiles();
    }
    summary.shown().forEach(System.out::println);
    System.out.printf(
        "%d sessions, %d requests, %d skipped, %d answers differ%n",
        summary.sessions(), summary.requests(), summary.skipped(), summary.differences());
    if (cutOff > 0) {
      System.out.printf("%d files of the archive end within a record%n", cutOff);
    }
    return summary.differences() == 0 ? 0 : SOME_DIFFER;
  }

  private FrameSession attach(ArchiveRecord.SessionBegan began) {
    @Nullable String password = System.getenv("KAKEHASHI_PASSWORD");
    return FrameSession.attach(
        AttachOptions.of(runtimeDirectory)
            .withRequirePeer(requiredPeer)
            .withApplicationName("replay of " + began.applicationName())
            .withUser(
                user == null ? began.userName() : user,
                user == null || password == null ? "" : password));
  }

  /// Waits until as much time has gone by since the first request as then.
  private static final class Pace implements LongConsumer {
    private final long startNanos = System.nanoTime();
    private long firstMicros = -1;

    @Override
    public void accept(long micros) {
      if (firstMicros < 0) {
        firstMicros = micros;
      }
      long due = startNanos + TimeUnit.MICROSECONDS.toNanos(micros - firstMicros);
      for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
    }
  }
}
