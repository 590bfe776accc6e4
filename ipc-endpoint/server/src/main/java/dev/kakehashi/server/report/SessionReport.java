package dev.kakehashi.server.report;

import dev.kakehashi.transport.endpoint.EndpointSession;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// The sessions of an endpoint for people: who they are, what they use.
public final class SessionReport {
  // A client names itself as it likes: nothing of it may move the cursor of whoever reads this.
  private static final Pattern UNSHOWABLE = Pattern.compile("\\p{Cntrl}");

  /// Line about one session.
  ///
  /// @param id unsigned
  /// @param client kind of client: java client
  /// @param process of the client; "0": unknown
  /// @param application how it names itself, or ""
  /// @param requests that run
  /// @param blocks of result buffers that it holds
  public record Line(
      String id,
      String client,
      String process,
      String user,
      String application,
      String requests,
      String blocks) {
    public static Line parse(String line) {
      String[] fields = line.split("\t", -1);
      if (fields.length != 7) {
        throw new IllegalArgumentException("no line about a session: " + line);
      }
      return new Line(fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], fields[6]);
    }

    private String who() {
      return "user \""
          + user
          + "\""
          + (application.isEmpty() ? "" : ", application \"" + application + "\"");
    }
  }

  private SessionReport() {}

  /// One line for each session: id, kind and process of the client, user, application, open requests, buffers; between tabs.
  public static void write(List<EndpointSession> sessions, Appendable out) throws IOException {
    for (EndpointSession session : sessions) {
      out.append(
          String.join(
              "\t",
              Long.toUnsignedString(session.id()),
              session.kind().name().toLowerCase(Locale.ROOT).replace('_', ' '),
              Integer.toString(session.processId()),
              UNSHOWABLE.matcher(session.userName()).replaceAll("?"),
              UNSHOWABLE.matcher(session.applicationName()).replaceAll("?"),
              Integer.toString(session.openResponses()),
              Integer.toString(session.usedBlocks())));
      out.append('\n');
    }
  }

  /// How many sessions each user has with each application.
  public static String summary(List<Line> sessions) {
    Map<String, Integer> counts = new TreeMap<>();
    for (Line session : sessions) {
      counts.merge(session.who(), 1, Integer::sum);
    }
    StringBuilder text = new StringBuilder();
    counts.forEach((who, count) -> text.append("\n  ").append(count).append(" of ").append(who));
    return text.toString();
  }

  /// Every session, one a line.
  public static String text(List<Line> sessions) {
    return sessions.stream()
        .map(session ->
            "session %s of %s, client %s, process %s, running requests: %s, result buffers: %s blocks"
                .formatted(
                    session.id,
                    session.who(),
                    session.client,
                    session.process.equals("0") ? "unknown" : session.process,
                    session.requests,
                    session.blocks))
        .collect(Collectors.joining("\n"));
  }
}
