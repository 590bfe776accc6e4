package dev.kakehashi.engine.catalog;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The objects of a version of the catalogue that a system table is asked about: those of one schema, of one name, or all. A question about
/// one table does not pay for the others.
///
/// @param schema null: of all
/// @param name null: of all
public record CatalogNames(
    CatalogSnapshot catalog, @Nullable String schema, @Nullable String name) {
  /// In the order of schemas and names.
  public List<Table> tables() {
    if (schema == null && name == null) {
      return catalog.tables();
    }
    List<Table> found = new ArrayList<>();
    for (String each : schema == null ? catalog.schemas() : List.of(schema)) {
      if (name == null) {
        found.addAll(catalog.tables(each));
      } else {
        Table table = catalog.table(each, name);
        if (table != null) {
          found.add(table);
        }
      }
    }
    return found;
  }

  public List<View> views() {
    return catalog.views().stream().filter(view -> fits(view.schema(), view.name())).toList();
  }

  public List<Sequence> sequences() {
    return catalog.sequences().stream()
        .filter(sequence -> fits(sequence.schema(), sequence.name()))
        .toList();
  }

  public List<Queue> queues() {
    if (schema != null && name != null) {
      Queue queue = catalog.queue(schema, name);
      return queue == null ? List.of() : List.of(queue);
    }
    return catalog.queueObjects().stream()
        .filter(queue -> fits(queue.schema(), queue.name()))
        .toList();
  }

  public List<DeployedApplication> applications() {
    return catalog.applications().all().stream()
        .filter(each -> fits(each.schema(), each.name()))
        .toList();
  }

  public Collection<String> schemas() {
    return catalog.schemas();
  }

  private boolean fits(String itsSchema, String itsName) {
    return (schema == null || schema.equals(itsSchema)) && (name == null || name.equals(itsName));
  }
}
