package dev.kakehashi.tck.transfers;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.EngineUnderTest;
import dev.kakehashi.tck.drive.Waits;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/// Moves money while something is killed, and says whether any of it is wrong. Exit codes: 0 all is right, 1 something is wrong (a line
/// `WRONG` each), 2 it could not run.
///
/// | the rows are kept | what is killed |
/// |---|---|
/// | by other processes | what the command `--kill` kills and `--restart` starts again; both get the number of the kill, from 1, as `$1` |
/// | in the process of the engine | a child of this process that has engine and writers, as `kill -9` does |
///
/// ```
/// TransferTrial --engine=CLASS [--ledger=FILE] [--accounts=1000] [--writers=4] [--readers=1] [--kills=10] [--millis=5000]
///     [--call-limit-millis=35000] [--recovery-millis=60000] [--least-rate=0] [--kill=COMMAND --restart=COMMAND]
/// ```
///
/// The engine is to be without the tables `transfer_account` and `transfer_journal`.
public final class TransferTrial {
  private TransferTrial() {}

  public static void main(String[] arguments) throws Exception {
    int code;
    try {
      code = run(System.out, arguments);
    } catch (IOException | EngineException cannot) {
      System.err.println("the trial cannot go on: " + cannot);
      code = 2;
    }
    System.exit(code);
  }

  /// The program without its exit.
  ///
  /// @return the exit code
  public static int run(PrintStream out, String... arguments) throws Exception {
    TrialOptions options;
    try {
      options = TrialOptions.of(List.of(arguments));
    } catch (IllegalArgumentException wrong) {
      out.println(wrong.getMessage());
      out.println(TrialOptions.usage());
      return 2;
    }
    TransferFigures figures = new TransferFigures();
    switch (options.role()) {
      case "load" -> load(options, figures, out);
      case "check" -> check(options, figures, out);
      default -> {
        Ledger.create(options.ledger());
        if (options.kills().command().isEmpty()) {
          new KilledChildren(options, figures, out).run();
          check(options, figures, out);
        } else {
          killOthers(options, figures, out);
        }
      }
    }
    figures.violations().forEach(each -> out.println(KilledChildren.WRONG + each));
    return figures.violations().isEmpty() ? 0 : 1;
  }

  /// Work of a child until its kill. In a first life it makes the tables; in a later one it looks what the kill has left.
  private static void load(TrialOptions options, TransferFigures figures, PrintStream out)
      throws Exception {
    int life = Ledger.read(options.ledger()).lives() + 1;
    // The kill was just before the start of this process.
    long began =
        System.nanoTime()
            - (System.currentTimeMillis() - ManagementFactory.getRuntimeMXBean().getStartTime())
                * 1_000_000;
    EngineUnderTest made = options.make();
    try (Ledger ledger = Ledger.open(options.ledger())) {
      made.open();
      Bank bank = new Bank(made.engine(), options, figures);
      if (life == 1) {
        try (DrivenEngine client = bank.connect()) {
          bank.create(client);
        }
      } else {
        TransferCheck check = new TransferCheck(bank, options, figures);
        Ledger.Entries entries = Ledger.read(options.ledger());
        long millis = check.everyAccountIsWritable(began);
        long committed = check.everyTransferIsDecided(entries.open(), began);
        out.printf(
            "after kill %d: every account writable after %d ms, %d transfers without an answer, %d of them committed%n",
            life - 1, millis, entries.open().size(), committed);
      }
      figures.endPhase();
      ledger.life();
      try (TransferLoad load = new TransferLoad(bank, options, ledger, figures, life)) {
        load.start();
        Waits.until(
            "the first transfer", () -> figures.commits() > 0 || !figures.violations().isEmpty());
        out.println(KilledChildren.READY);
        // Until the kill; who reads the lines says so by the end of the input if there is none.
        while (figures.violations().isEmpty() && System.in.read() >= 0) {
          out.println("load: " + figures.endPhase());
        }
      }
    } finally {
      made.close();
    }
  }

  private static void check(TrialOptions options, TransferFigures figures, PrintStream out)
      throws Exception {
    EngineUnderTest made = options.make();
    try {
      made.open();
      Bank bank = new Bank(made.engine(), options, figures);
      out.println(new TransferCheck(bank, options, figures).everythingIsRight());
    } finally {
      made.close();
    }
  }

  private static void killOthers(TrialOptions options, TransferFigures figures, PrintStream out)
      throws Exception {
    EngineUnderTest made = options.make();
    try (Ledger ledger = Ledger.open(options.ledger())) {
      made.open();
      Bank bank = new Bank(made.engine(), options, figures);
      try (DrivenEngine client = bank.connect()) {
        bank.create(client);
      }
      TransferCheck check = new TransferCheck(bank, options, figures);
      List<Double> before = new ArrayList<>();
      List<Double> without = new ArrayList<>();
      try (TransferLoad load = new TransferLoad(bank, options, ledger, figures, 1)) {
        load.start();
        for (int kill = 1; kill <= options.kills().count(); kill++) {
          figures.endPhase(); // what it takes to start, or to come back, is no rate
          before.add(phase(options, figures, out, "before kill " + kill));
          long killed = System.nanoTime();
          command(options.kills().command(), kill);
          long took = (System.nanoTime() - killed) / 1_000_000;
          long millis = check.everyAccountIsWritable(killed);
          Set<Long> doubtful = Ledger.read(options.ledger()).doubtful();
          long committed = check.everyTransferIsDecided(doubtful, killed);
          out.printf(
              "kill %d: every account writable after %d ms, %d ms behind the command, %d transfers in doubt, %d of them committed, %s%n",
              kill, millis, millis - took, doubtful.size(), committed, figures.endPhase());
          without.add(phase(options, figures, out, "without it"));
          if (!options.kills().restart().isEmpty()) {
            command(options.kills().restart(), kill);
          }
        }
        figures.endPhase();
        phase(options, figures, out, "at the end");
      }
      rate(options, figures, out, before, without);
      out.println(check.everythingIsRight());
    } finally {
      made.close();
    }
  }

  /// Time of load.
  ///
  /// @return its commits each second
  private static double phase(
      TrialOptions options, TransferFigures figures, PrintStream out, String what)
      throws InterruptedException {
    Thread.sleep(options.kills().everyMillis()); // the phase itself, whose rate is measured
    TransferFigures.Phase phase = figures.endPhase();
    out.println(what + ": " + phase);
    return phase.perSecond();
  }

  /// How the rate without what was killed is to that before, each pair by itself.
  private static void rate(
      TrialOptions options,
      TransferFigures figures,
      PrintStream out,
      List<Double> before,
      List<Double> without) {
    List<Double> percents = new ArrayList<>();
    for (int i = 0; i < before.size(); i++) {
      if (before.get(i) > 0) {
        percents.add(100 * without.get(i) / before.get(i));
      }
    }
    if (percents.isEmpty()) {
      return;
    }
    Collections.sort(percents);
    double median = percents.get(percents.size() / 2);
    out.printf(
        "rate without what was killed: %.0f %% of that before, median of %d kills, %.0f to %.0f %%%n",
        median, percents.size(), percents.getFirst(), percents.getLast());
    if (median < options.limits().leastRate()) {
      figures.violated(
          "the rate is %.0f %%, not %d %%, of that before"
              .formatted(median, options.limits().leastRate()));
    }
  }

  private static void command(String command, int kill) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder("sh", "-c", command, "sh", Integer.toString(kill))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.INHERIT)
            .start();
    if (!process.waitFor(5, TimeUnit.MINUTES)) {
      process.destroyForcibly();
      throw new IOException("no end within 5 minutes: " + command);
    }
    if (process.exitValue() != 0) {
      throw new IOException("exit code " + process.exitValue() + " of: " + command);
    }
  }
}
