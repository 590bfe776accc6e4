package dev.kakehashi.server;

import dev.kakehashi.server.socket.OwnerSocket;
import dev.kakehashi.server.socket.RuntimeLocation;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Reads the settings again for whoever asks with lines `key=value`, what is to come after those of the file, and an empty line. Only the
/// endpoint's own OS user may.
///
/// Answers with what has become of them, a line each, and at the end with `done` or `error <message>`.
final class ReloadSocket {
  private static final String FILE = "reload.sock";

  private ReloadSocket() {}

  /// Opens the socket in a runtime directory that this process owns.
  static OwnerSocket open(Path runtimeDirectory, Reload reload) throws IOException {
    return OwnerSocket.open(
        runtimeDirectory, FILE, (client, served) -> answer(client, served, reload));
  }

  private static void answer(SocketChannel client, Runnable served, Reload reload)
      throws IOException {
    try (BufferedReader in =
            new BufferedReader(Channels.newReader(client, StandardCharsets.UTF_8));
        Writer out = Channels.newWriter(client, StandardCharsets.UTF_8)) {
      Map<String, String> overrides = new LinkedHashMap<>();
      String line = in.readLine();
      while (line != null && !line.isEmpty()) {
        int equals = line.indexOf('=');
        overrides.put(line.substring(0, Math.max(0, equals)), line.substring(equals + 1));
        line = in.readLine();
      }
      if (line == null) {
        return;
      }
      served.run();
      StringBuilder said = new StringBuilder();
      try {
        reload.run(overrides).forEach(each -> said.append(each).append('\n'));
        said.append("done\n");
      } catch (IOException | RuntimeException e) {
        said.append("error ").append(Main.reason(e).replace('\n', ' ')).append('\n');
      }
      out.write(said.toString());
      out.flush();
    }
  }

  /// Asks a running endpoint.
  ///
  /// @return what it says
  /// @throws SettingsException if it refuses; then nothing is changed
  static List<String> ask(RuntimeLocation location, Map<String, String> overrides)
      throws IOException {
    try (SocketChannel channel = OwnerSocket.connect(location, FILE);
        BufferedReader in =
            new BufferedReader(Channels.newReader(channel, StandardCharsets.UTF_8));
        Writer out = Channels.newWriter(channel, StandardCharsets.UTF_8)) {
      for (Map.Entry<String, String> each : overrides.entrySet()) {
        out.write(each.getKey() + "=" + each.getValue() + "\n");
      }
      out.write("\n");
      out.flush();
      List<String> said = new ArrayList<>();
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.equals("done")) {
          return said;
        }
        if (line.startsWith("error ")) {
          throw new SettingsException("nothing is changed: " + line.substring("error ".length()));
        }
        said.add(line);
      }
      throw new SettingsException("the endpoint has gone");
    }
  }
}
