package dev.kakehashi.server;

import dev.kakehashi.transport.endpoint.EndpointSession;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/// The sessions of an endpoint for people: who they are, what they use.
final class SessionReport {
  // A client names itself as it likes: nothing of it may move the cursor of whoever reads this.
  private static final Pattern UNSHOWABLE = Pattern.compile("\\p{Cntrl}");

  private SessionReport() {}

  /// One line for each session: id, kind and process of the client, user, application, open requests, buffers; between tabs.
  static void write(List<EndpointSession> sessions, Appendable out) throws IOException {
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

  /// How many sessions each user has with each application, out of what [StatusSocket] says.
  static String summary(String said) {
    Map<String, Integer> counts = new TreeMap<>();
    for (String[] session : sessions(said)) {
      counts.merge(who(session), 1, Integer::sum);
    }
    StringBuilder text = new StringBuilder();
    counts.forEach((who, count) -> text.append("\n  ").append(count).append(" of ").append(who));
    return text.toString();
  }

  /// Every session, one a line, out of what [StatusSocket] says.
  static String text(String said) {
    StringBuilder text = new StringBuilder();
    for (String[] session : sessions(said)) {
      text.append(text.isEmpty() ? "" : "\n")
          .append("session ")
          .append(session[0])
          .append(" of ")
          .append(who(session))
          .append(", client ")
          .append(session[1])
          .append(", process ")
          .append(session[2].equals("0") ? "unknown" : session[2])
          .append(", running requests: ")
          .append(session[5])
          .append(", result buffers: ")
          .append(session[6])
          .append(" blocks");
    }
    return text.toString();
  }

  private static String who(String[] session) {
    return "user \""
        + session[3]
        + "\""
        + (session[4].isEmpty() ? "" : ", application \"" + session[4] + "\"");
  }

  private static List<String[]> sessions(String said) {
    int begin = said.indexOf("\n\n");
    List<String[]> sessions = new ArrayList<>();
    if (begin >= 0) {
      said.substring(begin)
          .lines()
          .map(line -> line.split("\t", -1))
          .filter(fields -> fields.length == 7)
          .forEach(sessions::add);
    }
    return sessions;
  }
}
