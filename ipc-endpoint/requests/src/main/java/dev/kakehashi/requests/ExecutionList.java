package dev.kakehashi.requests;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The executions of one session that have not ended: a list through the requests themselves, so that none costs an object. Thread-safe by
/// its lock, which is held for some assignments only.
final class ExecutionList {
  private @Nullable StatementRequest newest; // guarded by this
  private int count; // guarded by this

  synchronized void add(StatementRequest request) {
    StatementRequest before = newest;
    request.older = before;
    if (before != null) {
      before.newer = request;
    }
    newest = request;
    count++;
  }

  /// Takes out what was added once.
  synchronized void remove(StatementRequest request) {
    StatementRequest older = request.older;
    StatementRequest newer = request.newer;
    if (older != null) {
      older.newer = newer;
    }
    if (newer != null) {
      newer.older = older;
    } else {
      newest = older;
    }
    request.older = null;
    request.newer = null;
    count--;
  }

  synchronized int count() {
    return count;
  }

  /// As it is now, the newest first.
  synchronized List<StatementRequest> list() {
    if (newest == null) {
      return List.of();
    }
    List<StatementRequest> list = new ArrayList<>(count);
    for (StatementRequest each = newest; each != null; each = each.older) {
      list.add(each);
    }
    return list;
  }
}
