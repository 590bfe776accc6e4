package dev.kakehashi.benchmarks.queue;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/// beanstalkd with its write-ahead log, synced after each write.
final class BeanstalkPeer implements QueuePeer {
  private final int port;

  BeanstalkPeer(int port) {
    this.port = port;
  }

  @Override
  public String name() {
    return "beanstalkd, log with -f 0";
  }

  @Override
  public boolean skipLocked() {
    return false;
  }

  @Override
  public void reset() throws IOException {
    try (Line line = new Line(port)) {
      while (true) {
        String answer = line.ask("reserve-with-timeout 0\r\n");
        if (!answer.startsWith("RESERVED")) {
          return;
        }
        line.body(answer);
        line.ask("delete " + answer.split(" ", -1)[1] + "\r\n");
      }
    }
  }

  @Override
  public Producer producer() throws IOException {
    Line line = new Line(port);
    return new Producer() {
      @Override
      public void enqueue(int count) throws IOException {
        StringBuilder puts = new StringBuilder();
        String payload = Long.toString(System.nanoTime());
        String put = "put 1024 0 30 " + payload.length() + "\r\n" + payload + "\r\n";
        for (int i = 0; i < count; i++) {
          puts.append(put);
        }
        line.send(puts.toString());
        for (int i = 0; i < count; i++) {
          line.expect("INSERTED");
        }
      }

      @Override
      public void close() {
        HeapPeer.quietly(line);
      }
    };
  }

  @Override
  public Consumer consumer() throws IOException {
    Line line = new Line(port);
    return new Consumer() {
      @Override
      public int take(int max, Starts starts) throws IOException {
        String answer = line.ask("reserve-with-timeout 1\r\n");
        if (!answer.startsWith("RESERVED")) {
          return 0;
        }
        starts.started(Long.parseLong(line.body(answer)));
        line.send("delete " + answer.split(" ", -1)[1] + "\r\n");
        line.expect("DELETED");
        return 1;
      }

      @Override
      public void close() {
        HeapPeer.quietly(line);
      }
    };
  }

  /// A connection: requests and answers of one line.
  private static final class Line implements AutoCloseable {
    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    Line(int port) throws IOException {
      socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setTcpNoDelay(true);
      in = new BufferedInputStream(socket.getInputStream());
      out = socket.getOutputStream();
    }

    void send(String text) throws IOException {
      out.write(text.getBytes(StandardCharsets.US_ASCII));
      out.flush();
    }

    String ask(String request) throws IOException {
      send(request);
      return read();
    }

    void expect(String begin) throws IOException {
      String answer = read();
      if (!answer.startsWith(begin)) {
        throw new IOException("beanstalkd said: " + answer);
      }
    }

    /// The body that an answer announces.
    String body(String answer) throws IOException {
      int length = Integer.parseInt(answer.split(" ", -1)[2]);
      String body = new String(in.readNBytes(length), StandardCharsets.US_ASCII);
      in.skipNBytes(2);
      return body;
    }

    private String read() throws IOException {
      StringBuilder line = new StringBuilder();
      int each;
      while ((each = in.read()) != '\n') {
        if (each < 0) {
          throw new IOException("beanstalkd has closed the connection");
        }
        line.append((char) each);
      }
      return line.toString().trim();
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
