package dev.kakehashi.server.standby;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.protocol.Directories;
import dev.kakehashi.server.Command;
import dev.kakehashi.server.DiskFaultTest;
import dev.kakehashi.server.EndpointProcess;
import dev.kakehashi.testsupport.ServerProcess;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Endpoints whose commits wait for each other: kills, takeovers, a network that fails and full disks, in random order, under transfers and
/// tasks. Commits that were told are there, none is there by half, and readers of the standby see states of one history.
///
/// `-Dkakehashi.standbyFaults=200 -Dkakehashi.seed=` repeats a run, as far as the scheduling of threads allows.
@SuppressWarnings("NullAway.Init") // set before the test
@Timeout(value = 3, unit = TimeUnit.HOURS) // of the largest size; each wait has its own limit
class StandbyFaultsTest {
  private static final int FAULTS = Integer.getInteger("kakehashi.standbyFaults", 6);

  private enum Fault {
    STANDBY_KILLED,
    PRIMARY_KILLED,
    BOTH_KILLED,
    TAKEN_OVER,
    SWITCHED_OVER,
    NETWORK_CUT,
    NETWORK_SILENT,
    NETWORK_SLOW,
    DISK_OF_STANDBY_FULL,
    DISK_OF_PRIMARY_FULL
  }

  private final long seed = Long.getLong("kakehashi.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final Map<Fault, Integer> done = new EnumMap<>(Fault.class);
  private StandbyPair pair;
  private TransferLoad load;
  private EndpointProcess serving;
  private EndpointProcess following;

  /// Rejoins and promotions that were killed.
  private int killedCommands;

  private int copies;
  @TempDir private Path home;

  @Test
  void shouldKeepWhatWasToldAndShowOneHistory() throws Exception {
    System.out.println("kakehashi.seed=" + seed + " kakehashi.standbyFaults=" + FAULTS);
    Path library = DiskFaultTest.library(home);
    List<Map<String, String>> environments = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Files.writeString(control(i), "0");
      environments.add(
          Map.of(
              "LD_PRELOAD", library.toString(),
              "KAKEHASHI_FAULT_CONTROL", control(i).toString(),
              "KAKEHASHI_FAULT_PATH", "/data/store/"));
    }
    pair = StandbyPair.openSynchronous(home, environments, "synchronous_patience = 500ms");
    try {
      serving = pair.primary;
      following = pair.standby;
      TransferLoad.define(serving);
      pair.followBackup();
      pair.ask(serving, "reload").expect(0);
      load = TransferLoad.start(serving, following, random);
      try (TransferLoad open = load) {
        run(open);
      }
      for (EndpointProcess each : List.of(serving, following)) {
        each.stop();
        Command.run("check", each.dataDirectory().toString()).expect(0, "no problems");
      }
    } finally {
      pair.close();
    }
  }

  private void run(TransferLoad open) throws Exception {
    List<Fault> drawn = new ArrayList<>();
    open.awaitProgress(50);
    for (int i = 0; i < FAULTS; i++) {
      if (drawn.isEmpty()) {
        drawn.addAll(List.of(Fault.values()));
        Collections.shuffle(drawn, random);
      }
      Fault fault = drawn.removeLast();
      begin(fault);
      open.awaitProgress(20 + random.nextInt(60));
      done.merge(fault, 1, Integer::sum);
    }
    System.out.println(
        "%s; %d commands killed, %d copies made anew; %s"
            .formatted(done, killedCommands, copies, open.end()));
  }

  private void begin(Fault fault) throws Exception {
    Proxy network = pair.networkOf(serving);
    switch (fault) {
      case STANDBY_KILLED -> restart(following);
      case PRIMARY_KILLED -> restart(serving);
      case BOTH_KILLED -> {
        EndpointProcess first = random.nextBoolean() ? serving : following;
        first.kill();
        (first == serving ? following : serving).kill();
        serving.start();
        following.start();
      }
      case TAKEN_OVER -> {
        serving.kill();
        takeOver();
      }
      case SWITCHED_OVER -> {
        serving.stop();
        takeOver();
      }
      case NETWORK_CUT -> {
        network.cutAfter(random.nextInt(50_000));
        lasts();
        network.heal();
      }
      case NETWORK_SILENT -> {
        network.silentAfter(random.nextInt(50_000));
        lasts();
        network.heal();
      }
      case NETWORK_SLOW -> {
        network.delay(Duration.ofMillis(1 + random.nextInt(100)));
        load.awaitProgress(10);
        network.heal();
      }
      case DISK_OF_STANDBY_FULL -> fillDisk(following);
      case DISK_OF_PRIMARY_FULL -> fillDisk(serving);
    }
  }

  private void restart(EndpointProcess endpoint) {
    endpoint.kill();
    endpoint.start();
  }

  /// A fault has some length, within which others come on or wait.
  private void lasts() {
    LockSupport.parkNanos(Duration.ofMillis(random.nextInt(1500)).toNanos());
  }

  private Path control(int of) {
    return home.resolve("control" + of);
  }

  /// The disk has room again before the endpoint is started.
  private void fillDisk(EndpointProcess endpoint) throws IOException {
    Path control = control(endpoint == pair.primary ? 0 : 1);
    write(control, 'n');
    lasts();
    if (random.nextBoolean()) {
      write(control, '0');
      restart(endpoint);
    } else {
      endpoint.kill();
      write(control, '0');
      endpoint.start();
    }
  }

  /// In place: the endpoint has the file mapped.
  private static void write(Path control, char kind) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(control.toFile(), "rw")) {
      file.write(kind);
    }
  }

  /// The one that followed serves; the other one, which does not run, follows it.
  private void takeOver() throws Exception {
    EndpointProcess old = serving;
    serving = following;
    following = old;
    if (random.nextInt(3) == 0) {
      killAmid(serving, "promote");
      serving.kill();
      Command again = pair.ask(serving, "promote");
      assertTrue(
          again.exitCode() == 0 || again.output().contains("is no standby's"), again.output());
      serving.start();
    } else {
      pair.ask(serving, "promote").expect(0, "promoted; the log goes on at ");
    }
    load.use(serving, following);
    if (random.nextInt(3) == 0) {
      killAmid(following, "rejoin", "--discard");
    }
    Command rejoin = pair.ask(following, "rejoin", "--discard");
    if (rejoin.exitCode() != 0) {
      // Commits that nobody was told of are in its base image, or in files of its queues.
      rejoin.expect(1, "kakehashi standby init");
      Directories.delete(following.dataDirectory());
      pair.ask(following, "standby", "init").expect(0);
      copies++;
    }
    following.start();
  }

  /// Kills a command about an endpoint somewhere on its way, or finds it done.
  private void killAmid(EndpointProcess endpoint, String... words) throws IOException {
    List<String> command = new ArrayList<>(EndpointProcess.javaCommand());
    command.addAll(List.of(words));
    command.addAll(
        List.of(
            "-c",
            pair.config(endpoint).toString(),
            "-D",
            endpoint.dataDirectory().toString(),
            "-R",
            endpoint.runtimeDirectory().toString()));
    try (ServerProcess process =
        new ServerProcess(words[0], command, Map.of(), home.resolve(words[0] + ".out"))) {
      process.start();
      LockSupport.parkNanos(Duration.ofMillis(300 + random.nextInt(1500)).toNanos());
      process.kill();
    }
    killedCommands++;
  }
}
