package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// Alert rules and dashboard ask for metrics that the endpoint has, and documents name the alerts that there are.
class MonitoringFilesTest {
  private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();
  private static final Pattern METRIC = Pattern.compile("\\bkakehashi_[a-z_]+");

  @Test
  void shouldAskForMetricsThatThereAre() throws IOException {
    try (HttpFixture fixture = HttpFixture.start("http_metrics", "everybody");
        HttpConnection connection = fixture.connect("")) {
      String page = connection.get("/metrics").expect(200).text();
      Set<String> families =
          page.lines()
              .filter(line -> line.startsWith("# TYPE "))
              .map(line -> line.split(" "))
              .map(words -> words[2] + (words[3].equals("counter") ? "_total" : ""))
              .collect(Collectors.toSet());
      for (String name : List.of("kakehashi-alerts.yml", "kakehashi-dashboard.json")) {
        Set<String> wanted = found(METRIC, file("packaging/monitoring/" + name));
        assertFalse(wanted.isEmpty(), name);
        wanted.removeAll(families);
        assertEquals(Set.of(), wanted, name);
      }
    }
  }

  @Test
  void shouldSayWhatToDoAtEachAlert() throws IOException {
    assertEquals(
        found(
            Pattern.compile("(?<=alert: )\\w+"), file("packaging/monitoring/kakehashi-alerts.yml")),
        found(
            Pattern.compile("(?<=^\\| )Kakehashi\\w+", Pattern.MULTILINE),
            file("docs/operations.md")));
  }

  private static String file(String name) throws IOException {
    return Files.readString(ROOT.resolve(name));
  }

  private static Set<String> found(Pattern pattern, String text) {
    return pattern
        .matcher(text)
        .results()
        .map(MatchResult::group)
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
