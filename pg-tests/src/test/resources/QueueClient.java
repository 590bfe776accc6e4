import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.QueueTask;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.TaskDraft;
import dev.kakehashi.client.TaskQueue;
import dev.kakehashi.client.Transaction;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// Makes or takes tasks of the queue `work` until it is killed, whatever becomes of the endpoint:
/// `java QueueClient RUNTIME_DIRECTORY produce FIRST` or `consume`.
///
/// It prints `sent ID` when a task is stored, `got ID ATTEMPT` when it has one, `done ID` when its effect is stored, and `failed` with what
/// it did not expect.
public final class QueueClient {
  private static final String LEASE_LOST = "55K01";

  private QueueClient() {}

  public static void main(String[] arguments) throws InterruptedException {
    AttachOptions options = AttachOptions.of(Path.of(arguments[0]));
    long[] next = {arguments.length > 2 ? Long.parseLong(arguments[2]) : 0};
    while (true) {
      try (Session session = Session.attach(options)) {
        if (arguments[1].equals("produce")) {
          produce(session, next);
        } else {
          consume(session);
        }
      } catch (EndpointException e) {
        if (!e.sqlstate().startsWith("08")
            && !e.sqlstate().equals("57P01")
            && !e.sqlstate().equals(LEASE_LOST)) {
          System.out.println("failed " + e.sqlstate() + " " + e.getMessage());
        }
        TimeUnit.MILLISECONDS.sleep(20); // the endpoint is on its way
      }
    }
  }

  private static void produce(Session session, long[] next) throws InterruptedException {
    TaskQueue queue = session.queue("work");
    try (PreparedStatement insert = session.prepare("insert into item values ($1)")) {
      while (true) {
        long id = next[0]++;
        Transaction transaction = session.begin();
        transaction.update(insert, insert.parameters().addRow(id));
        queue.enqueue(transaction, TaskDraft.ofJson(String.valueOf(id)));
        transaction.commit();
        System.out.println("sent " + id);
        TimeUnit.MILLISECONDS.sleep(5); // a rate that the consumers can keep up with
      }
    }
  }

  private static void consume(Session session) {
    TaskQueue queue = session.queue("work");
    try (PreparedStatement insert = session.prepare("insert into effect values ($1, 'java')")) {
      while (true) {
        for (QueueTask task : queue.receive(3, Duration.ofSeconds(1))) {
          long id = Long.parseLong(task.json());
          System.out.println("got " + id + " " + task.attempt());
          Transaction transaction = session.begin();
          try {
            transaction.update(insert, insert.parameters().addRow(id));
          } catch (EndpointException e) {
            if (!e.sqlstate().equals("23505")) {
              throw e;
            }
            // Another one has done it: so the lease must be over.
            transaction.rollback();
            task.complete();
            System.out.println("failed: task " + id + " is lent although it is done");
          }
          task.complete(transaction);
          transaction.commit();
          System.out.println("done " + id);
        }
      }
    }
  }
}
