package dev.kakehashi.rest.route;

import java.util.List;

/// An application that has routes of its own, registered before the door starts. Its handlers get the user as all others do, and check what
/// he may do.
public interface RestApplication {
  /// Its part of the paths: 1 to 63 small letters, digits, `-` and `_`, beginning with a letter.
  String name();

  /// Routes with paths below `/v1/apps/NAME`, as `/orders/{n:int}`.
  List<Route> routes();

  /// Its part of the OpenAPI document, as [dev.kakehashi.rest.monitor.OpenApiDocument] merges it, with whole paths; empty: it is not in the
  /// document.
  default byte[] openApi() {
    return new byte[0];
  }
}
