package dev.kakehashi.benchmarks.queue;

import io.nats.client.Connection;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.JetStreamSubscription;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.PullSubscribeOptions;
import io.nats.client.api.ConsumerConfiguration;
import io.nats.client.api.PublishAck;
import io.nats.client.api.RetentionPolicy;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// A work queue of JetStream on files. Version 2.9 syncs them every two minutes, so a power cut takes more from it than from the others.
final class NatsPeer implements QueuePeer {
  private final String url;

  NatsPeer(int port) {
    url = "nats://127.0.0.1:" + port;
  }

  @Override
  public String name() {
    return "JetStream 2.9, files synced every 2 minutes";
  }

  @Override
  public boolean skipLocked() {
    return false;
  }

  @Override
  public void reset() throws Exception {
    Connection connection = Nats.connect(url);
    try {
      JetStreamManagement streams = connection.jetStreamManagement();
      if (streams.getStreamNames().contains("bench")) {
        streams.deleteStream("bench");
      }
      streams.addStream(
          StreamConfiguration.builder()
              .name("bench")
              .subjects("tasks")
              .storageType(StorageType.File)
              .retentionPolicy(RetentionPolicy.WorkQueue)
              .build());
      streams.addOrUpdateConsumer(
          "bench",
          ConsumerConfiguration.builder()
              .durable("c")
              .filterSubject("tasks")
              .maxAckPending(100_000)
              .ackWait(Duration.ofSeconds(30))
              .build());
    } finally {
      connection.close();
    }
  }

  @Override
  public Producer producer() throws Exception {
    Connection connection = Nats.connect(url);
    JetStream stream = connection.jetStream();
    return new Producer() {
      @Override
      public void enqueue(int count) throws Exception {
        byte[] payload = Long.toString(System.nanoTime()).getBytes(StandardCharsets.US_ASCII);
        List<CompletableFuture<PublishAck>> acks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
          acks.add(stream.publishAsync("tasks", payload));
        }
        for (CompletableFuture<PublishAck> each : acks) {
          each.get();
        }
      }

      @Override
      public void close() {
        HeapPeer.quietly(connection);
      }
    };
  }

  @Override
  public Consumer consumer() throws IOException, InterruptedException, JetStreamApiException {
    Connection connection = Nats.connect(url);
    JetStreamSubscription pull =
        connection
            .jetStream()
            .subscribe(
                "tasks",
                PullSubscribeOptions.builder().stream("bench").durable("c").bind(true).build());
    return new Consumer() {
      @Override
      public int take(int max, Starts starts) throws Exception {
        List<Message> messages = pull.fetch(max, Duration.ofMillis(100));
        for (Message each : messages) {
          starts.started(Long.parseLong(new String(each.getData(), StandardCharsets.US_ASCII)));
          each.ackSync(Duration.ofSeconds(5));
        }
        return messages.size();
      }

      @Override
      public void close() {
        HeapPeer.quietly(connection);
      }
    };
  }
}
