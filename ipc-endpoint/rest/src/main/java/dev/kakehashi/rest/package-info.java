/// The HTTP door: listeners, routes, jobs and their files. The rooms, and what each may use:
///
/// | package | uses |
/// |---|---|
/// | `problem`, `job` | no other; `job` knows neither HTTP nor SQL |
/// | `header`, `json`, `login` | `problem` |
/// | `route` | those but `job` and `json`: what a handler sees of a request |
/// | `monitor`, then `job.http` | `route`, `job`, and those below |
/// | `sql` | all above; it alone has sessions of the engine |
/// | `bulk`, `queue`, `application` | `sql`: each of their routes is a statement |
/// | `server` | `route`, `login`, `monitor`: sockets, and the way of a request to its route |
///
/// Handlers run on virtual threads, except those of `route.DirectHandler`, which run on the thread that reads sockets and must not block.
@NullMarked
package dev.kakehashi.rest;

import org.jspecify.annotations.NullMarked;
