package dev.kakehashi.application;

/// Methods of routes.
public enum HttpMethod {
  GET,
  POST,
  PUT,
  PATCH,
  DELETE
}
