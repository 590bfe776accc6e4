package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.Session;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Texts that `kakehashi` and its commands print, beside their work.
class MainTest {
  @TempDir private Path home;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "start",
        "stop",
        "status",
        "check",
        "backup",
        "restore",
        "reload",
        "user",
        "dump-schema"
      })
  void shouldExplainEachCommand(String command) {
    Command.run(command, "--help").expect(0, "Usage: kakehashi " + command, "--version");
  }

  @Test
  void shouldFindARunningEndpointByItsDataDirectoryAlone() throws IOException {
    try (EndpointProcess endpoint = EndpointProcess.open()) {
      String data = endpoint.dataDirectory().toString();
      Command.run("status", "-D", data)
          .expect(0, "endpoint is ready", "runtime directory: " + endpoint.runtimeDirectory());
      Command json = Command.run("status", "--json", "-D", data);
      assertTrue(json.output().startsWith("{"), json.output());
      Command.run("backup", home.resolve("backup").toString(), "-D", data).expect(0, "backup of");
      try (Session session = endpoint.attach()) {
        session.execute("create table t (id int8 primary key, note text default 'ä')");
      }
      Command.run("dump-schema", "-D", data)
          .expect(0, "CREATE TABLE public.t (\n", "  note text DEFAULT 'ä',\n", ");\n");
      Command.run("stop", "-D", data).expect(0);
      Command.run("status", "-D", data).expect(3, "no endpoint runs on \"" + data);
      Command.run("dump-schema", "-D", data).expect(1, "no endpoint runs on \"" + data);
      Command.run("stop", "-D", data).expect(1, "no endpoint runs on \"" + data);
    }
  }

  @Test
  void shouldSayWhichFileIsNotThere() {
    Path config = home.resolve("kakehashi.conf");
    Command.run("status", "--config", config.toString())
        .expect(1, "kakehashi: \"" + config + "\" does not exist");
  }

  @Test
  void shouldSayWhyInOneLine() throws Exception {
    Path said = home.resolve("said");
    int code =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-cp",
                    System.getProperty("java.class.path"),
                    Main.class.getName(),
                    "status",
                    "--set",
                    "memry=5"))
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start()
            .waitFor();
    assertEquals(
        "kakehashi: unknown setting \"memry\"; did you mean \"memory\"?\n",
        Files.readString(said, StandardCharsets.UTF_8));
    assertEquals(1, code);
  }
}
