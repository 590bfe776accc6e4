import jakarta.persistence.CascadeType;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Table;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;

/// Hibernate: foreign tables count as tables if `extra_physical_table_types` says so. Arguments: JDBC address, user, password.
public final class WithHibernate {
  @Entity(name = "Customer")
  @Table(name = "customer")
  public static class Customer {
    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    Long id;

    @Column(nullable = false, unique = true, columnDefinition = "text")
    String name;

    LocalDate since;

    @OneToMany(mappedBy = "customer", cascade = CascadeType.ALL, orphanRemoval = true)
    List<Purchase> purchases = new ArrayList<>();
  }

  @Entity(name = "Purchase")
  @Table(name = "purchase")
  public static class Purchase {
    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    Long id;

    @ManyToOne(optional = false)
    @JoinColumn(name = "customer_id")
    Customer customer;

    @Column(nullable = false, precision = 15, scale = 2)
    BigDecimal amount;

    @Column(columnDefinition = "text")
    String note;
  }

  public static void main(String[] arguments) {
    Configuration configuration =
        new Configuration()
            .addAnnotatedClass(Customer.class)
            .addAnnotatedClass(Purchase.class)
            .setProperty("hibernate.connection.url", arguments[0])
            .setProperty("hibernate.connection.username", arguments[1])
            .setProperty("hibernate.connection.password", arguments[2])
            .setProperty("hibernate.hbm2ddl.auto", "validate")
            .setProperty("hibernate.hbm2ddl.extra_physical_table_types", "FOREIGN TABLE");
    try (SessionFactory factory = configuration.buildSessionFactory()) {
      factory.inTransaction(session -> {
        Customer eve = new Customer();
        eve.name = "Eve";
        for (int amount = 1; amount <= 3; amount++) {
          Purchase purchase = new Purchase();
          purchase.customer = eve;
          purchase.amount = BigDecimal.valueOf(amount);
          eve.purchases.add(purchase);
        }
        session.persist(eve);
      });
      factory.inTransaction(session -> {
        Customer eve =
            session
                .createSelectionQuery("from Customer where name = 'Eve'", Customer.class)
                .getSingleResult();
        eve.purchases.removeFirst();
        eve.purchases.getFirst().note = "second";
      });
      factory.inTransaction(session ->
          session
              .createSelectionQuery("from Purchase p order by p.amount", Purchase.class)
              .getResultList()
              .stream()
              .filter(row -> row.customer.name.equals("Eve"))
              .forEach(row -> System.out.println("Eve " + row.amount + " " + row.note)));
    }
  }
}
