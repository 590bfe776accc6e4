import dev.kakehashi.client.*;

/// Takes 10 from account 7 and shows the first nine accounts, in one transaction. Its argument is the runtime directory of the endpoint.
void main(String[] arguments) {
  try (Session session = Session.attach(AttachOptions.of(java.nio.file.Path.of(arguments[0])));
      Transaction transaction = session.begin()) {
    PreparedStatement update =
        session.prepare("UPDATE account SET balance = balance + $1 WHERE id = $2");
    transaction.update(update, update.parameters().addRow(new java.math.BigDecimal("-10"), 7L));
    PreparedStatement select =
        session.prepare("SELECT owner, balance FROM account WHERE id < 10 ORDER BY id");
    try (Rows rows = transaction.query(select)) {
      while (rows.next()) {
        IO.println(rows.getString(0) + " has " + rows.getBigDecimal(1));
      }
    }
    transaction.commit();
  }
}
