package dev.kakehashi.server;

import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.server.socket.OwnerSocket;
import dev.kakehashi.server.socket.RuntimeLocation;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// Tells whoever connects the engine's definitions as a script of SQL. Only the endpoint's own OS user may ask.
///
/// Answers with a line `ok <bytes>` and so many bytes of UTF-8, or with a line `error <message>`.
final class SchemaSocket {
  private static final String FILE = "schema.sock";
  private static final String OK = "ok ";

  private SchemaSocket() {}

  /// Opens the socket in a runtime directory that this process owns.
  static OwnerSocket open(Path runtimeDirectory, Engine engine) throws IOException {
    return OwnerSocket.open(
        runtimeDirectory,
        FILE,
        (client, served) -> {
          try (client) {
            ByteBuffer answer = ByteBuffer.wrap(answer(engine).getBytes(StandardCharsets.UTF_8));
            while (answer.hasRemaining()) {
              client.write(answer);
            }
          }
        });
  }

  private static String answer(Engine engine) {
    StringBuilder script = new StringBuilder();
    try {
      engine.require(Capability.DEFINITIONS);
      engine.definitions().forEach(definition -> script.append(definition).append(";\n"));
    } catch (EngineException refused) {
      return "error " + Main.reason(refused).replace('\n', ' ') + "\n";
    }
    return OK + script.toString().getBytes(StandardCharsets.UTF_8).length + "\n" + script;
  }

  /// Asks a running endpoint for its definitions.
  ///
  /// @throws SettingsException for what it refuses, and for an answer that is not whole
  static String ask(RuntimeLocation location) throws IOException {
    byte[] answer;
    try (SocketChannel channel = OwnerSocket.connect(location, FILE);
        InputStream in = Channels.newInputStream(channel)) {
      answer = in.readAllBytes();
    }
    String text = new String(answer, StandardCharsets.UTF_8);
    int end = text.indexOf('\n');
    String head = end < 0 ? "" : text.substring(0, end);
    if (head.startsWith("error ")) {
      throw new SettingsException(
          "could not dump the definitions: " + head.substring("error ".length()));
    }
    String script = text.substring(end + 1);
    if (!head.equals(OK + script.getBytes(StandardCharsets.UTF_8).length)) {
      throw new SettingsException("could not dump the definitions: the endpoint has gone");
    }
    return script;
  }
}
