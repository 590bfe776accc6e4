import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.PreparedStatement;
import dev.kakehashi.client.Rows;
import dev.kakehashi.client.Session;
import dev.kakehashi.client.Transaction;
import java.nio.file.Path;

/// Joins a transaction that somebody else has begun, prints what it sees there, and adds a row. Run from its source:
/// `java --class-path kakehashi-tools.jar JoinTransaction.java RUNTIME_DIRECTORY HANDLE`.
public final class JoinTransaction {
  private JoinTransaction() {}

  public static void main(String[] arguments) {
    try (Session session = Session.attach(AttachOptions.of(Path.of(arguments[0])));
        PreparedStatement sum = session.prepare("select sum(v)::int8 from item");
        PreparedStatement insert = session.prepare("insert into item values (2, 20)")) {
      Transaction transaction = session.attachTransaction(Long.parseLong(arguments[1]));
      try (Rows rows = transaction.query(sum)) {
        rows.next();
        System.out.println("sees " + rows.getLong(0));
      }
      System.out.println("adds " + transaction.update(insert));
    }
  }
}
