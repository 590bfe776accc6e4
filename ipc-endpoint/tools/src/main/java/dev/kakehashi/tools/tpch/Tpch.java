package dev.kakehashi.tools.tpch;

import io.trino.tpch.Customer;
import io.trino.tpch.CustomerColumn;
import io.trino.tpch.LineItem;
import io.trino.tpch.LineItemColumn;
import io.trino.tpch.Nation;
import io.trino.tpch.NationColumn;
import io.trino.tpch.Order;
import io.trino.tpch.OrderColumn;
import io.trino.tpch.Part;
import io.trino.tpch.PartColumn;
import io.trino.tpch.PartSupplier;
import io.trino.tpch.PartSupplierColumn;
import io.trino.tpch.Region;
import io.trino.tpch.RegionColumn;
import io.trino.tpch.Supplier;
import io.trino.tpch.SupplierColumn;
import io.trino.tpch.TpchTable;
import java.util.List;
import java.util.Locale;

/// The eight tables, with PostgreSQL's types as the specification (TPC-H 3.0.1, 1.4.1) wants them: identifiers of
/// orders are int8, because they pass 2^31 beyond scale factor 300, all other identifiers int4.
public final class Tpch {
  private Tpch() {}

  static final TableSpec<Region> REGION =
      TableSpec.of(TpchTable.REGION, 5, false)
          .int4("r_regionkey", RegionColumn.REGION_KEY)
          .character("r_name", RegionColumn.NAME, 25)
          .varchar("r_comment", RegionColumn.COMMENT, 152)
          .primaryKey("r_regionkey");

  static final TableSpec<Nation> NATION =
      TableSpec.of(TpchTable.NATION, 25, false)
          .int4("n_nationkey", NationColumn.NATION_KEY)
          .character("n_name", NationColumn.NAME, 25)
          .int4("n_regionkey", NationColumn.REGION_KEY)
          .varchar("n_comment", NationColumn.COMMENT, 152)
          .primaryKey("n_nationkey");

  static final TableSpec<Supplier> SUPPLIER =
      TableSpec.of(TpchTable.SUPPLIER, 10_000, true)
          .int4("s_suppkey", SupplierColumn.SUPPLIER_KEY)
          .character("s_name", SupplierColumn.NAME, 25)
          .varchar("s_address", SupplierColumn.ADDRESS, 40)
          .int4("s_nationkey", SupplierColumn.NATION_KEY)
          .character("s_phone", SupplierColumn.PHONE, 15)
          .money("s_acctbal", SupplierColumn.ACCOUNT_BALANCE)
          .varchar("s_comment", SupplierColumn.COMMENT, 101)
          .primaryKey("s_suppkey");

  static final TableSpec<Customer> CUSTOMER =
      TableSpec.of(TpchTable.CUSTOMER, 150_000, true)
          .int4("c_custkey", CustomerColumn.CUSTOMER_KEY)
          .varchar("c_name", CustomerColumn.NAME, 25)
          .varchar("c_address", CustomerColumn.ADDRESS, 40)
          .int4("c_nationkey", CustomerColumn.NATION_KEY)
          .character("c_phone", CustomerColumn.PHONE, 15)
          .money("c_acctbal", CustomerColumn.ACCOUNT_BALANCE)
          .character("c_mktsegment", CustomerColumn.MARKET_SEGMENT, 10)
          .varchar("c_comment", CustomerColumn.COMMENT, 117)
          .primaryKey("c_custkey");

  static final TableSpec<Part> PART =
      TableSpec.of(TpchTable.PART, 200_000, true)
          .int4("p_partkey", PartColumn.PART_KEY)
          .varchar("p_name", PartColumn.NAME, 55)
          .character("p_mfgr", PartColumn.MANUFACTURER, 25)
          .character("p_brand", PartColumn.BRAND, 10)
          .varchar("p_type", PartColumn.TYPE, 25)
          .int4("p_size", PartColumn.SIZE)
          .character("p_container", PartColumn.CONTAINER, 10)
          .money("p_retailprice", PartColumn.RETAIL_PRICE)
          .varchar("p_comment", PartColumn.COMMENT, 23)
          .primaryKey("p_partkey");

  static final TableSpec<PartSupplier> PARTSUPP =
      TableSpec.of(TpchTable.PART_SUPPLIER, 800_000, true)
          .int4("ps_partkey", PartSupplierColumn.PART_KEY)
          .int4("ps_suppkey", PartSupplierColumn.SUPPLIER_KEY)
          .int4("ps_availqty", PartSupplierColumn.AVAILABLE_QUANTITY)
          .money("ps_supplycost", PartSupplierColumn.SUPPLY_COST)
          .varchar("ps_comment", PartSupplierColumn.COMMENT, 199)
          .primaryKey("ps_partkey", "ps_suppkey");

  static final TableSpec<Order> ORDERS =
      TableSpec.of(TpchTable.ORDERS, 1_500_000, true)
          .int8("o_orderkey", OrderColumn.ORDER_KEY)
          .int4("o_custkey", OrderColumn.CUSTOMER_KEY)
          .character("o_orderstatus", OrderColumn.ORDER_STATUS, 1)
          .money("o_totalprice", OrderColumn.TOTAL_PRICE)
          .date("o_orderdate", OrderColumn.ORDER_DATE)
          .character("o_orderpriority", OrderColumn.ORDER_PRIORITY, 15)
          .character("o_clerk", OrderColumn.CLERK, 15)
          .int4("o_shippriority", OrderColumn.SHIP_PRIORITY)
          .varchar("o_comment", OrderColumn.COMMENT, 79)
          .primaryKey("o_orderkey");

  // Four lines an order on average; the exact number comes out of the generator.
  static final TableSpec<LineItem> LINEITEM =
      TableSpec.of(TpchTable.LINE_ITEM, 6_000_000, true)
          .int8("l_orderkey", LineItemColumn.ORDER_KEY)
          .int4("l_partkey", LineItemColumn.PART_KEY)
          .int4("l_suppkey", LineItemColumn.SUPPLIER_KEY)
          .int4("l_linenumber", LineItemColumn.LINE_NUMBER)
          .money("l_quantity", LineItemColumn.QUANTITY)
          .money("l_extendedprice", LineItemColumn.EXTENDED_PRICE)
          .money("l_discount", LineItemColumn.DISCOUNT)
          .money("l_tax", LineItemColumn.TAX)
          .character("l_returnflag", LineItemColumn.RETURN_FLAG, 1)
          .character("l_linestatus", LineItemColumn.STATUS, 1)
          .date("l_shipdate", LineItemColumn.SHIP_DATE)
          .date("l_commitdate", LineItemColumn.COMMIT_DATE)
          .date("l_receiptdate", LineItemColumn.RECEIPT_DATE)
          .character("l_shipinstruct", LineItemColumn.SHIP_INSTRUCTIONS, 25)
          .character("l_shipmode", LineItemColumn.SHIP_MODE, 10)
          .varchar("l_comment", LineItemColumn.COMMENT, 44)
          .primaryKey("l_orderkey", "l_linenumber");

  /// Referenced tables before those that refer to them.
  public static final List<TableSpec<?>> TABLES =
      List.of(REGION, NATION, SUPPLIER, CUSTOMER, PART, PARTSUPP, ORDERS, LINEITEM);

  /// The table of this name.
  ///
  /// @throws IllegalArgumentException when there is none
  public static TableSpec<?> table(String name) {
    return TABLES.stream()
        .filter(table -> table.name().equals(name.toLowerCase(Locale.ROOT)))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "table \"%s\" does not exist; the tables are %s"
                    .formatted(
                        name, String.join(", ", TABLES.stream().map(TableSpec::name).toList()))));
  }
}
