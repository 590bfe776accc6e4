package dev.kakehashi.server;

import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.scheduler.TaskScheduler;
import dev.kakehashi.server.report.EngineReport;
import dev.kakehashi.server.report.SessionReport;
import dev.kakehashi.transport.endpoint.EndpointSession;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Report of a running endpoint on itself, by [StatusSocket]: sections, each headed by a line with its name in brackets. Immutable.
///
/// @param engine its name, what it lacks and how it is, one matter a line
/// @param metrics counters of the scheduler, one line of JSON
/// @param jobs its workers, jobs and processes, one a line
/// @param sessions see [SessionReport]
record EndpointStatus(
    String engine, String metrics, String jobs, List<SessionReport.Line> sessions) {
  /// An endpoint that is starting has nothing to say.
  static final EndpointStatus NONE = new EndpointStatus("", "", "", List.of());

  private enum Section {
    ENGINE,
    METRICS,
    JOBS,
    SESSIONS;

    String heading() {
      return "[" + name() + "]";
    }
  }

  static void write(
      Engine engine, TaskScheduler scheduler, List<EndpointSession> sessions, Appendable out)
      throws IOException {
    out.append(Section.ENGINE.heading()).append('\n').append(EngineReport.text(engine));
    out.append('\n');
    out.append(Section.METRICS.heading()).append('\n').append(scheduler.metrics().toJson());
    out.append('\n').append(Section.JOBS.heading()).append('\n');
    scheduler.dump(out);
    out.append(Section.SESSIONS.heading()).append('\n');
    SessionReport.write(sessions, out);
  }

  /// @throws IOException if it ends early: the endpoint has ended
  static EndpointStatus parse(String said) throws IOException {
    Map<String, StringBuilder> sections = new LinkedHashMap<>();
    StringBuilder section = new StringBuilder();
    for (String line : said.lines().toList()) {
      if (Arrays.stream(Section.values()).anyMatch(each -> each.heading().equals(line))) {
        section = new StringBuilder();
        sections.put(line, section);
      } else {
        section.append(section.isEmpty() ? "" : "\n").append(line);
      }
    }
    if (!sections.containsKey(Section.SESSIONS.heading())) {
      throw new IOException("the endpoint did not tell its whole status");
    }
    return new EndpointStatus(
        text(sections, Section.ENGINE),
        text(sections, Section.METRICS),
        text(sections, Section.JOBS),
        text(sections, Section.SESSIONS).lines().map(SessionReport.Line::parse).toList());
  }

  private static String text(Map<String, StringBuilder> sections, Section section) {
    StringBuilder text = sections.get(section.heading());
    return text == null ? "" : text.toString();
  }
}
