package dev.kakehashi.server.standby;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.server.Command;
import dev.kakehashi.server.EndpointProcess;
import dev.kakehashi.testsupport.Await;
import dev.kakehashi.testsupport.FreePorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Two endpoints that know of each other: the first serves, the second is to be its standby. Used by one thread.
final class StandbyPair implements AutoCloseable {
  static final String USER = "replica";

  private static final Pattern POSITION = Pattern.compile("\n  log: ([0-9a-f/]+)");

  final EndpointProcess primary;
  final EndpointProcess standby;

  /// With its password.
  final Path passwordFile;

  private final int[] ports;
  private final Path home;
  private final List<String> settings;

  /// Whether commits of each wait for the other one, and there is a network between them that can fail.
  private final boolean isSynchronous;

  /// Networks before each, for the one that follows it. Empty where they ask each other directly.
  private final List<Proxy> proxies = new ArrayList<>();

  private StandbyPair(
      Path home,
      boolean isSynchronous,
      List<Map<String, String>> environments,
      List<String> settings)
      throws IOException {
    this.home = home;
    this.isSynchronous = isSynchronous;
    this.passwordFile = home.resolve("password");
    Files.writeString(passwordFile, "secret\n");
    this.ports = new int[] {FreePorts.next(), FreePorts.next()};
    this.settings = settings;
    if (isSynchronous) {
      for (int port : ports) {
        proxies.add(Proxy.before(port));
      }
    }
    configure(0, List.of());
    configure(1, settingsOfOther(1));
    this.primary = EndpointProcess.prepare(environments.get(0), config(0));
    this.standby = EndpointProcess.prepare(environments.get(1), config(1));
  }

  /// @param settings of both
  static StandbyPair open(Path home, String... settings) throws IOException {
    return open(new StandbyPair(home, false, List.of(Map.of(), Map.of()), List.of(settings)));
  }

  /// Two that wait for each other's standby, each behind a network that can fail.
  ///
  /// @param environments of the first and the second process
  /// @param settings of both
  static StandbyPair openSynchronous(
      Path home, List<Map<String, String>> environments, String... settings) throws IOException {
    return open(new StandbyPair(home, true, environments, List.of(settings)));
  }

  private static StandbyPair open(StandbyPair pair) throws IOException {
    pair.primary.start();
    // An endpoint without a directory is told of no other one.
    pair.configure(0, pair.settingsOfOther(0));
    try (Session session = pair.primary.attach()) {
      session.execute("create role replica login password 'secret'");
      session.execute("create role other login password 'secret'");
      session.execute("grant kakehashi_replication to replica");
    }
    return pair;
  }

  /// Settings of one of them.
  Path config(EndpointProcess endpoint) {
    return config(endpoint == primary ? 0 : 1);
  }

  private Path config(int of) {
    return home.resolve("%d.conf".formatted(of));
  }

  private void configure(int of, List<String> ofOther) throws IOException {
    List<String> all = new ArrayList<>(settings);
    all.addAll(ofOther);
    all.add("http_port = " + ports[of]);
    Files.write(config(of), all);
  }

  private List<String> settingsOfOther(int of) {
    List<String> all = new ArrayList<>();
    all.add(
        "primary = "
            + (isSynchronous
                ? proxies.get(1 - of).address()
                : "http://127.0.0.1:" + ports[1 - of]));
    all.add("primary_user = " + USER);
    all.add("primary_password_file = " + passwordFile);
    all.add("standby_name = " + name(of));
    if (isSynchronous) {
      all.add("synchronous_standby = " + name(1 - of));
    }
    return all;
  }

  private static String name(int of) {
    return of == 0 ? "first" : "second";
  }

  /// Network over which one of them is followed.
  Proxy networkOf(EndpointProcess endpoint) {
    return proxies.get(endpoint == primary ? 0 : 1);
  }

  /// HTTP port of one of them.
  int port(EndpointProcess endpoint) {
    return ports[endpoint == primary ? 0 : 1];
  }

  /// Makes the standby of a backup, and starts it.
  void followBackup() throws IOException {
    Path backup = home.resolve("backup");
    ask(primary, "backup", backup.toString(), "-q").expect(0);
    Command.run("restore", "--standby", backup.toString(), standby.dataDirectory().toString())
        .expect(0, "restored the backup of");
    standby.start();
  }

  /// Runs a command about an endpoint, with its settings.
  Command ask(EndpointProcess endpoint, String... command) {
    List<String> words = new ArrayList<>(List.of(command));
    words.addAll(
        List.of(
            "-c",
            config(endpoint).toString(),
            "-D",
            endpoint.dataDirectory().toString(),
            "-R",
            endpoint.runtimeDirectory().toString()));
    return Command.run(words.toArray(String[]::new));
  }

  /// Where the log of an endpoint ends.
  String position(EndpointProcess endpoint) {
    String said = ask(endpoint, "status").output();
    Matcher position = POSITION.matcher(said);
    assertTrue(position.find(), said);
    return position.group(1);
  }

  /// Waits until readers of one endpoint see all that the other one has.
  void await(EndpointProcess follower, EndpointProcess followed) {
    Await.until(
        "the standby",
        () -> {
          String end = position(followed);
          return ask(follower, "status").output().contains("readers see " + end + ",");
        });
  }

  void awaitStandby() {
    await(standby, primary);
  }

  /// First column of a query, as texts.
  static List<String> column(Session session, String sql) {
    List<String> found = new ArrayList<>();
    try (PreparedStatement query = session.prepare(sql);
        Rows rows = session.query(query)) {
      while (rows.next()) {
        found.add(rows.getString(0));
      }
    }
    return found;
  }

  /// The same over a session of its own.
  static List<String> column(EndpointProcess endpoint, String sql) {
    try (Session session = endpoint.attach()) {
      return column(session, sql);
    }
  }

  @Override
  public void close() throws IOException {
    standby.close();
    primary.close();
    for (Proxy proxy : proxies) {
      proxy.close();
    }
  }
}
