package dev.kakehashi.benchmarks.rest;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// A server that answers every request with one file, by sendfile(2), and does nothing else: as fast as a file can be sent. One connection
/// after the other.
final class SendFile implements AutoCloseable {
  private static final int REQUEST_BYTES = 1 << 13;

  private final FileChannel file;
  private final ServerSocketChannel server;

  SendFile(Path path) throws IOException {
    file = FileChannel.open(path, StandardOpenOption.READ);
    server = ServerSocketChannel.open();
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    Thread.ofPlatform().name("sendfile").daemon().start(this::serve);
  }

  int port() throws IOException {
    return ((InetSocketAddress) server.getLocalAddress()).getPort();
  }

  private void serve() {
    boolean open = true;
    while (open) {
      try (SocketChannel client = server.accept()) {
        answer(client);
      } catch (ClosedChannelException e) {
        open = server.isOpen();
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private void answer(SocketChannel client) throws IOException {
    byte[] head =
        "HTTP/1.1 206 Partial Content\r\nContent-Length: %d\r\n\r\n"
            .formatted(file.size())
            .getBytes(StandardCharsets.ISO_8859_1);
    ByteBuffer request = ByteBuffer.allocate(REQUEST_BYTES);
    // The client waits for each answer, so what is read is one request.
    while (client.read(request) > 0) {
      request.clear();
      ByteBuffer answer = ByteBuffer.wrap(head);
      while (answer.hasRemaining()) {
        client.write(answer);
      }
      long sent = 0;
      while (sent < file.size()) {
        sent += file.transferTo(sent, file.size() - sent, client);
      }
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    // The thread has nothing to write any more: its client has closed the connection.
    file.close();
  }
}
