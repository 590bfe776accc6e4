package dev.kakehashi.tools.application;

import dev.kakehashi.client.InboundBuffers;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Session;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.tools.bulk.Connecting;
import dev.kakehashi.tools.queue.PrintedRows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `app deploy`: a new application, or a new version of one.
@Command(
    name = "deploy",
    description = {
      "Makes an application of jars, or a new version of one that exists, and prints which.",
      "A jar is a file here, or in a location of the endpoint (name:path)."
    },
    mixinStandardHelpOptions = true)
public final class AppDeployCommand implements Callable<Integer> {
  private static final Pattern LOCATION = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*:.*");
  private static final Pattern OPTION = Pattern.compile("[A-Za-z_]+");

  /// Bytes of a row batch and a value besides the jar itself.
  private static final int OVERHEAD_BYTES = 4096;

  @Mixin private Connecting connecting = new Connecting();

  @Parameters(
      paramLabel = "JAR",
      arity = "1..*",
      description = "the application's jar, then others")
  private List<String> jars = List.of();

  @Option(
      names = {"-n", "--name"},
      paramLabel = "APPLICATION",
      description = "its name (default: after the first jar)")
  private String name = "";

  @Option(
      names = {"-o", "--option"},
      paramLabel = "NAME=VALUE",
      description = "an option of WITH: time_limit, max_calls, isolation, ...")
  private Map<String, String> options = new LinkedHashMap<>();

  @Override
  public Integer call() throws IOException {
    ApplicationName application =
        name.isEmpty()
            ? ApplicationName.ofFile(fileName(jars.getFirst()))
            : ApplicationName.parse(name);
    List<byte[]> files = new ArrayList<>();
    for (String jar : jars) {
      if (!LOCATION.matcher(jar).matches()) {
        files.add(Files.readAllBytes(Path.of(jar)));
      }
    }
    try (Session session = connecting.attach("kakehashi app deploy")) {
      boolean exists = version(session, application) > 0;
      run(session, sql(exists, application.text()), files);
      System.out.println(application.text() + " version " + version(session, application));
    }
    return 0;
  }

  private static String fileName(String jar) {
    return jar.substring(Math.max(jar.lastIndexOf('/'), jar.lastIndexOf(':')) + 1);
  }

  /// Number of the version; 0: there is no such application.
  static long version(Session session, ApplicationName application) {
    PrintedRows rows =
        PrintedRows.of(
            session,
            "SELECT version FROM kakehashi_catalog.applications"
                + " WHERE application_schema = $1 AND application_name = $2",
            application.schema(),
            application.name());
    return rows.isEmpty() ? 0 : Long.parseLong(rows.value());
  }

  String sql(boolean exists, String application) {
    StringBuilder sql =
        new StringBuilder(exists ? "ALTER APPLICATION " : "CREATE APPLICATION ")
            .append(application)
            .append(" FROM ");
    int parameters = 0;
    for (int i = 0; i < jars.size(); i++) {
      String jar = jars.get(i);
      sql.append(i == 0 ? "" : ", ");
      if (LOCATION.matcher(jar).matches()) {
        sql.append(quoted(jar));
      } else {
        parameters++;
        sql.append('$').append(parameters).append(" AS ").append(quoted(fileName(jar)));
      }
    }
    String separator = " WITH (";
    for (Map.Entry<String, String> option : options.entrySet()) {
      if (!OPTION.matcher(option.getKey()).matches()) {
        throw new IllegalArgumentException("\"" + option.getKey() + "\" is no option");
      }
      sql.append(separator).append(option.getKey()).append(" = ").append(quoted(option.getValue()));
      separator = ", ";
    }
    return sql.append(options.isEmpty() ? "" : ")").toString();
  }

  private static String quoted(String text) {
    return "'" + text.replace("'", "''") + "'";
  }

  private static void run(Session session, String sql, List<byte[]> files) {
    if (files.isEmpty()) {
      session.execute(sql);
      return;
    }
    int[] types = new int[files.size()];
    Arrays.fill(types, TypeOid.BYTEA);
    long jarBytes = files.stream().mapToLong(file -> file.length + Long.BYTES).sum();
    if (jarBytes > session.limits().maxBatchBytes() - OVERHEAD_BYTES) {
      throw new IllegalArgumentException(
          "jars of %d bytes exceed the %d bytes that a request may have; put them into a location"
              .formatted(jarBytes, session.limits().maxBatchBytes()));
    }
    try (PreparedStatement statement = session.prepare(sql, types)) {
      InboundBuffers buffers = session.acquireBuffers(1, (int) jarBytes + OVERHEAD_BYTES);
      session.update(
          statement, buffers.parameters(0, statement, (int) jarBytes).addRow(files.toArray()));
      session.releaseBuffers();
    }
  }
}
