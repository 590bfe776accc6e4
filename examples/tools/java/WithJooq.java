import static shop.db.Tables.CUSTOMER;
import static shop.db.Tables.PURCHASE;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import shop.db.tables.records.CustomerRecord;
import shop.db.tables.records.PurchaseRecord;

/// jOOQ: generated classes with the keys that `jooq.xml` says. Arguments: JDBC address, user, password.
public final class WithJooq {
  public static void main(String[] arguments) throws Exception {
    try (Connection connection =
        DriverManager.getConnection(arguments[0], arguments[1], arguments[2])) {
      DSLContext db = DSL.using(connection, SQLDialect.POSTGRES);
      db.transaction(transaction -> {
        CustomerRecord fay = transaction.dsl().newRecord(CUSTOMER);
        fay.setName("Fay");
        fay.store();
        for (int amount = 1; amount <= 2; amount++) {
          PurchaseRecord purchase = transaction.dsl().newRecord(PURCHASE);
          purchase.setCustomerId(fay.getId());
          purchase.setAmount(BigDecimal.valueOf(amount));
          purchase.store();
        }
      });
      PurchaseRecord first =
          db.selectFrom(PURCHASE)
              .where(PURCHASE.CUSTOMER_ID.in(
                  db.select(CUSTOMER.ID).from(CUSTOMER).where(CUSTOMER.NAME.eq("Fay"))))
              .orderBy(PURCHASE.AMOUNT)
              .limit(1)
              .fetchSingle();
      first.setNote("first");
      first.store();
      db.select(CUSTOMER.NAME, PURCHASE.AMOUNT, PURCHASE.NOTE)
          .from(PURCHASE)
          .join(CUSTOMER)
          .on(CUSTOMER.ID.eq(PURCHASE.CUSTOMER_ID))
          .where(CUSTOMER.NAME.eq("Fay"))
          .orderBy(PURCHASE.AMOUNT)
          .forEach(row -> System.out.println(row.value1() + " " + row.value2() + " " + row.value3()));
    }
  }
}
